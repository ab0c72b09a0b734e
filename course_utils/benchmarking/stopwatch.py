"""Run a callable many times between two readings of a clock, and end in time.

The loop is timeit's: nothing but the calls, with the garbage collector off. It goes over a list, which a watchdog
thread empties when the time is over, so that the loop ends after the call that is running, at no cost for each call.
"""

from __future__ import annotations

import gc
import inspect
import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

# one reading lasts at least this long, so that reading the clock and waiting (0.1 to 0.3 ms on MPS, pytorch #184778)
# weigh little against the calls in it
READING_S = 0.005
# an empty function takes 30 ns, so this many calls fill a reading unless the clock stands still
MAX_CALLS_PER_READING = 200_000


class Stopwatch:
    """Measures a callable on a device until the time is over; a context manager.

    Args:
        fn: the callable.
        arguments: what it is called with.
        wait: waits for the device.
        clock: reads the time, seconds.
        limit_s: wall time from entering the block, seconds; the call that runs then is the last.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        wait: Callable[[], None],
        clock: Callable[[], float],
        limit_s: float,
    ) -> None:
        self._fn, self._arguments, self._wait, self._clock = fn, arguments, wait, clock
        self._limit_s = limit_s
        self._rounds: list[int] = []
        self._over = threading.Event()
        self._watchdog = threading.Timer(min(limit_s, threading.TIMEOUT_MAX), self.end)
        self._watchdog.daemon = True

    def __enter__(self) -> Self:
        self._started_s = time.monotonic()
        self._watchdog.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchdog.cancel()

    def end(self) -> None:
        """End the measurement after the call that is running; any thread may call this."""
        self._over.set()
        self._rounds.clear()

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._over.is_set() or self.left_s <= 0

    @property
    def left_s(self) -> float:
        """The wall time that is left, seconds."""
        return self._limit_s - (time.monotonic() - self._started_s)

    def first_call(self) -> float:
        """Measure one call, seconds.

        Raises:
            TypeError: when the call runs nothing and returns a generator or coroutine.
        """
        self._wait()
        start_s = self._clock()
        result = self._fn(*self._arguments)
        self._wait()
        taken_s = self._clock() - start_s
        _refuse_unstarted(self._fn, result)
        return _checked(taken_s)

    def run(self, calls: int) -> tuple[float, int]:
        """Measure calls back to back; the device is waited for before each reading of the clock.

        Args:
            calls: how many.

        Returns:
            The seconds taken and the calls made, which are fewer when the time is over before all are made. One call
            is always made.
        """
        if len(self._rounds) != calls and not self.over:
            self._rounds = list(range(calls))
        rounds, fn, arguments, clock = self._rounds, self._fn, self._arguments, self._clock
        last = -1
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._wait()
            start_s = clock()
            for last in rounds:  # noqa: B007
                fn(*arguments)
            if last < 0:  # the watchdog came first
                fn(*arguments)
                last = 0
            self._wait()
            taken_s = clock() - start_s
        finally:
            if collecting:
                gc.enable()
        return _checked(taken_s), last + 1

    def calls_per_reading(self, one_call_s: float) -> tuple[int, int, float]:
        """Find how many calls fill one reading.

        Args:
            one_call_s: what the latest call took, seconds.

        Returns:
            That number, how many calls it took to find it, and what one of the latest of them took, seconds.
        """
        calls, spent, reading_s = 1, 0, one_call_s
        while reading_s < READING_S and calls < MAX_CALLS_PER_READING and not self.over:
            # aim a little above, and at most tenfold at a time: the first estimates of tiny calls are mostly waiting
            enough = round(1.2 * calls * READING_S / max(reading_s, 1e-9))
            calls = min(max(calls + 1, enough), 10 * calls, MAX_CALLS_PER_READING)
            reading_s, made = self.run(calls)
            one_call_s = reading_s / made
            spent += made
        return calls, spent, one_call_s


def _checked(taken_s: float) -> float:
    if not (math.isfinite(taken_s) and taken_s >= 0):
        raise ValueError(f"by the clock, calls took {taken_s} s; pass a clock that reads seconds and never goes back")
    return taken_s


def _refuse_unstarted(fn: Callable[..., Any], result: Any) -> None:
    """Raise when a call only prepared its work."""
    name = getattr(fn, "__name__", type(fn).__name__)
    if inspect.iscoroutine(result):
        result.close()  # or Python warns that nobody awaited it
        raise TypeError(f"calling {name} makes a coroutine and runs nothing; measure lambda: asyncio.run({name}())")
    if inspect.isgenerator(result):
        raise TypeError(f"calling {name} makes a generator and runs nothing; measure lambda: list({name}())")
    if inspect.isasyncgen(result):
        raise TypeError(f"calling {name} makes an async generator and runs nothing; measure what consumes it")
