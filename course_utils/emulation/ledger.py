"""What the emulated device counts: copies, host waits, fallbacks and operators; never a time."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeVar

from course_utils.emulation.location import Location
from course_utils.reporting.results import TextResult

Direction = Literal["to mps", "to cpu"]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Copy:
    """One copy between host memory and the device.

    Args:
        direction: "to mps" or "to cpu".
        n_bytes: bytes of the destination tensor.
        blocking: whether the host waits for it; on MPS every copy does unless `non_blocking=True`.
        cause: what asked for it, such as "to" or "fallback of aten::linalg_eig".
        location: the caller's line.
    """

    direction: Direction
    n_bytes: int
    blocking: bool
    cause: str
    location: Location


@dataclass(frozen=True)
class HostWait:
    """One point at which the host waits for all queued work, because it needs a value or asks to wait.

    Args:
        cause: what the caller did, such as "item()", "print" or "boolean mask".
        operator: the operator that needs the value, "" for an explicit synchronisation.
        location: the caller's line.
    """

    cause: str
    operator: str
    location: Location


@dataclass(frozen=True)
class Fallback:
    """One operator that has no MPS kernel and ran on the CPU.

    Args:
        operator: qualified name with overload, such as "aten::linalg_eig".
        verdict: "cpu_always" (no variable needed) or "missing".
        n_bytes: bytes copied for it, both directions together.
        location: the caller's line.
    """

    operator: str
    verdict: Literal["cpu_always", "missing"]
    n_bytes: int
    location: Location


@dataclass(frozen=True, repr=False)
class Ledger(TextResult):
    """A snapshot of what happened on the emulated device; later work does not change it.

    Args:
        copies: every copy between host and device, in order.
        waits: every host wait that a read or a synchronisation caused, in order. A blocking copy to the device
            waits as well; those are in `copies`, because moving a batch is not what a training loop can avoid.
        fallbacks: every operator that ran on the CPU instead, in order.
        operators: how often each operator reached the device's key, by overload name ("aten::add.Tensor").
        warnings: what limits the counts or the results.
    """

    copies: tuple[Copy, ...]
    waits: tuple[HostWait, ...]
    fallbacks: tuple[Fallback, ...]
    operators: Mapping[str, int]
    warnings: tuple[str, ...] = ()

    def bytes_copied(self, direction: Direction) -> int:
        """Sum the bytes of all copies in one direction."""
        return sum(copy.n_bytes for copy in self.copies if copy.direction == direction)

    def _rows(self) -> list[tuple[str, str, int, str]]:
        """Group the events: kind, what, how many, where."""
        rows: list[tuple[str, str, int, str]] = []
        for direction in ("to mps", "to cpu"):
            chosen = [copy for copy in self.copies if copy.direction == direction]
            for (cause, where), copies in _grouped((copy.cause, str(copy.location), copy) for copy in chosen):
                n_bytes = sum(copy.n_bytes for copy in copies)
                rows.append((f"copy {direction}", f"{cause}, {n_bytes} bytes", len(copies), where))
        for (cause, where), waits in _grouped((wait.cause, str(wait.location), wait) for wait in self.waits):
            rows.append(("host wait", cause, len(waits), where))
        for (name, where), found in _grouped((item.operator, str(item.location), item) for item in self.fallbacks):
            rows.append(("fallback", name, len(found), where))
        return rows

    def __str__(self) -> str:
        lines = [
            f"emulated MPS: {len(self.waits)} host waits, {len(self.fallbacks)} fallbacks, "
            f"{self.bytes_copied('to mps')} bytes to mps, {self.bytes_copied('to cpu')} bytes to cpu, "
            f"{sum(self.operators.values())} operators (no times: this is not MPS)"
        ]
        lines += [f"  {kind:<12} {count:>5} x  {what}  at {where}" for kind, what, count, where in self._rows()]
        lines += [f"  note: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *_ = str(self).splitlines()
        body = "".join(
            f"<tr><td>{kind}</td><td>{count}</td><td>{html.escape(what)}</td><td>{html.escape(where)}</td></tr>"
            for kind, what, count, where in self._rows()
        )
        notes = "".join(f"<p>{html.escape(warning)}</p>" for warning in self.warnings)
        head = "<tr><th>event</th><th>times</th><th>what</th><th>where</th></tr>"
        return f"<p>{html.escape(first)}</p><table>{head}{body}</table>{notes}"


def _grouped(items: Iterable[tuple[str, str, _T]]) -> list[tuple[tuple[str, str], list[_T]]]:
    """Group events by cause and line, in the order in which they first happened."""
    groups: dict[tuple[str, str], list[_T]] = {}
    for cause, where, event in items:
        groups.setdefault((cause, where), []).append(event)
    return list(groups.items())


@dataclass
class EventRecorder:
    """Records events as they happen; `snapshot` makes a ledger of them."""

    copies: list[Copy] = field(default_factory=list)
    waits: list[HostWait] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    operators: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def snapshot(self) -> Ledger:
        """Copy everything recorded so far."""
        return Ledger(
            copies=tuple(self.copies),
            waits=tuple(self.waits),
            fallbacks=tuple(self.fallbacks),
            operators=MappingProxyType(dict(self.operators)),
            warnings=tuple(dict.fromkeys(self.warnings)),
        )

    def clear(self) -> None:
        """Forget every event so far; warnings stay."""
        for record in (self.copies, self.waits, self.fallbacks, self.operators):
            record.clear()
