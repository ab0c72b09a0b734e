"""What is counted on an MPS device, real or emulated: copies, host waits, fallbacks and operators; never a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from course_utils.emulation.host_waits import queues_kernel
from course_utils.emulation.location import Location
from course_utils.reporting.results import TextResult
from course_utils.reporting.tables import html_table
from course_utils.reporting.wrapped import wrapped

Direction = Literal["to mps", "to cpu"]
WaitKind = Literal["read", "copy to mps", "synchronize", "fallback"]
WAIT_KINDS: tuple[WaitKind, ...] = get_args(WaitKind)
_PLURAL = {"read": "reads", "copy to mps": "copies to mps", "synchronize": "synchronize", "fallback": "fallbacks"}
_T = TypeVar("_T")


@dataclass(frozen=True)
class Copy:
    """One copy between host memory and the device.

    Args:
        direction: "to mps" or "to cpu".
        n_bytes: bytes of the destination tensor.
        blocking: whether the host waits for it; on MPS every copy does, in both directions, unless
            `non_blocking=True` (ATen/native/mps/operations/Copy.mm: COMMIT_AND_WAIT, torch 2.9 to 2.15).
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
    """One point at which the host waits for all work that was queued before.

    Args:
        cause: what the caller did, such as "item()", "print", "boolean mask" or "to()".
        operator: the operator that waits, "" for an explicit synchronisation and for printing.
        location: the caller's line.
        kind: "read" (the host needs a value or a size), "copy to mps" (a blocking copy to the device),
            "synchronize" (asked for) or "fallback" (an operator that ran on the CPU, with its copies).
    """

    cause: str
    operator: str
    location: Location
    kind: WaitKind = "read"


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
    """A snapshot of what happened on an MPS device; later work does not change it.

    Args:
        copies: every copy between host and device, in order.
        waits: every host wait, in order: reads, blocking copies to the device, synchronisations, fallbacks.
            Waits inside a kernel are known from a hand list (`course_utils.emulation.host_waits`).
        fallbacks: every operator that ran on the CPU instead, in order.
        operators: how often each operator reached the device, by overload name ("aten::add.Tensor").
        warnings: what limits the counts or the results.
        device: what was counted: "emulated MPS" or "MPS".
    """

    copies: tuple[Copy, ...]
    waits: tuple[HostWait, ...]
    fallbacks: tuple[Fallback, ...]
    operators: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    device: str = "emulated MPS"

    @property
    def launches(self) -> int:
        """Number of operators that queued a kernel; views and empty tensors queue none."""
        return sum(count for name, count in self.operators.items() if queues_kernel(name))

    def waits_of(self, kind: WaitKind) -> tuple[HostWait, ...]:
        """Return the waits of one kind, in order.

        Raises:
            ValueError: for an unknown kind.
        """
        if kind not in WAIT_KINDS:
            raise ValueError(f"{kind!r} is not a kind of wait; the kinds are {', '.join(map(repr, WAIT_KINDS))}")
        return tuple(wait for wait in self.waits if wait.kind == kind)

    def bytes_copied(self, direction: Direction) -> int:
        """Sum the bytes of all copies in one direction."""
        return sum(copy.n_bytes for copy in self.copies if copy.direction == direction)

    def _rows(self) -> list[tuple[str, str, int, str]]:
        """Group the events: kind, what, how many, where. The wait of a blocking copy stands with the copy."""
        rows: list[tuple[str, str, int, str]] = []
        for direction in ("to mps", "to cpu"):
            chosen = [copy for copy in self.copies if copy.direction == direction]
            for (cause, where), copies in _grouped((copy.cause, str(copy.location), copy) for copy in chosen):
                n_bytes = sum(copy.n_bytes for copy in copies)
                waits = "" if all(copy.blocking for copy in copies) else ", not waited for"
                rows.append((f"copy {direction}", f"{cause}, {n_bytes} bytes{waits}", len(copies), where))
        others = [wait for wait in self.waits if wait.operator != "aten::copy_" and wait.kind != "fallback"]
        for (cause, where), waits_here in _grouped((wait.cause, str(wait.location), wait) for wait in others):
            rows.append(("host wait", cause, len(waits_here), where))
        for (name, where), found in _grouped((item.operator, str(item.location), item) for item in self.fallbacks):
            rows.append(("fallback", name, len(found), where))
        return rows

    def _summary(self) -> str:
        kinds = ((kind, len(self.waits_of(kind))) for kind in WAIT_KINDS)
        parts = ", ".join(f"{count} {kind if count == 1 else _PLURAL[kind]}" for kind, count in kinds if count)
        no_times = " (no times: this is not MPS)" if self.device.startswith("emulated") else ""
        return (
            f"{self.device}: {_counted(len(self.waits), 'host wait')}{f' ({parts})' if parts else ''}, "
            f"{_counted(len(self.fallbacks), 'fallback')}, "
            f"{self.bytes_copied('to mps')} bytes to mps, {self.bytes_copied('to cpu')} bytes to cpu, "
            f"{_counted(self.launches, 'kernel')} queued{no_times}"
        )

    def __str__(self) -> str:
        lines = [wrapped(self._summary())]
        lines += [f"  {kind:<12} {count:>5} x  {what}  at {where}" for kind, what, count, where in self._rows()]
        lines += [wrapped(warning, "  note: ") for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[kind, str(count), what, where] for kind, what, count, where in self._rows()]
        return html_table(self._summary(), [["event", "times", "what", "where"], *rows], self.warnings)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _grouped(items: Iterable[tuple[str, str, _T]]) -> list[tuple[tuple[str, str], list[_T]]]:
    """Group events by cause and line, in the order in which they first happened."""
    groups: dict[tuple[str, str], list[_T]] = {}
    for cause, where, event in items:
        groups.setdefault((cause, where), []).append(event)
    return list(groups.items())
