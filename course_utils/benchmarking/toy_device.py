"""A toy device that works behind the host's back, with a clock of its own: to see and grade timers without a GPU.

Nothing is measured here. The seconds are arithmetic, the same on every machine, and say nothing about MPS.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """One stretch of time in a toy device's life.

    Args:
        lane: "host" or "device".
        what: "load", "launch", "wait" or "work".
        start_s: when it began, in toy seconds.
        end_s: when it ended, in toy seconds.
    """

    lane: str
    what: str
    start_s: float
    end_s: float


@dataclass
class ToyDevice:
    """A queue that the host fills and the device empties in order, as a GPU's.

    Args:
        launch_s: what it costs the host to put one piece of work into the queue, toy seconds.
        compile_s: what the first launch of each shape costs on top, toy seconds.
    """

    launch_s: float = 0.001
    compile_s: float = 0.0
    now_s: float = 0.0
    busy_until_s: float = 0.0
    spans: list[Span] = field(default_factory=list)
    _known_shapes: set[tuple[int, ...]] = field(default_factory=set)

    def launch(self, work_s: float, shape: tuple[int, ...] = ()) -> None:
        """Queue work that keeps the device busy for `work_s` toy seconds; returns before it is done."""
        cost_s = self.launch_s + (0.0 if shape in self._known_shapes else self.compile_s)
        self._known_shapes.add(shape)
        self.spans.append(Span("host", "launch", self.now_s, self.now_s + cost_s))
        self.now_s += cost_s
        start_s = max(self.now_s, self.busy_until_s)
        self.busy_until_s = start_s + work_s
        self.spans.append(Span("device", "work", start_s, self.busy_until_s))

    def load(self, host_s: float) -> None:
        """Keep the host busy for `host_s` toy seconds with something that is not work for the device."""
        self.spans.append(Span("host", "load", self.now_s, self.now_s + host_s))
        self.now_s += host_s

    def synchronize(self) -> None:
        """Wait until the queue is empty."""
        if self.busy_until_s > self.now_s:
            self.spans.append(Span("host", "wait", self.now_s, self.busy_until_s))
            self.now_s = self.busy_until_s

    def clock(self) -> float:
        """Read the toy clock, seconds; waits for nothing."""
        return self.now_s
