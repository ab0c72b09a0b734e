"""Record what happens on the device, as it happens: events with their cause and the caller's line."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from course_utils.emulation.ledger import Copy, Direction, Fallback, HostWait, Ledger, WaitKind
from course_utils.emulation.location import UNKNOWN, Location, caller

# how the caller's spelling of a read is named in the ledger
_SPELLING = {
    "item": "item()",
    "__bool__": "bool()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "index",
    "__complex__": "complex()",
    "__contains__": "in",
    "__getitem__": "indexing",
    "__setitem__": "indexing",
    "tolist": "tolist()",
    "cpu": "cpu()",
    "to": "to()",
}
# torch.save and torch.load copy storages, which no function mode hears of
_ENTRIES = {"save": "torch.save", "load": "torch.load"}
PRINTS = {"__repr__": "print", "__str__": "print", "__format__": "format"}


class CurrentCall(threading.local):
    """The torch function that the caller's line called, while it runs; kept by a function mode."""

    name: str = ""
    waited: bool = False
    real_meta: int = 0  # above 0 while the caller means the meta device itself
    through: str = ""  # the composite operator that runs, where the followed release lacks it
    asked_float64: int = 0  # above 0 while a call of the caller names float64 or complex128


@dataclass
class EventRecorder:
    """Records events; `snapshot` makes a ledger of them.

    Printing a tensor is one wait and nothing else: what torch computes to choose a format is not counted.

    Args:
        device: what is counted, "emulated MPS" or "MPS".
    """

    device: str = "emulated MPS"
    copies: list[Copy] = field(default_factory=list)
    waits: list[HostWait] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    operators: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    call: CurrentCall = field(default_factory=CurrentCall)
    backward_from: Location = UNKNOWN  # who called backward, for events on autograd's own threads
    # goes up at each wait and never down, whatever happens to the list: the grader compares the two
    waits_noted: Iterator[int] = field(default_factory=itertools.count)

    def _add_wait(self, wait: HostWait) -> None:
        next(self.waits_noted)
        self.waits.append(wait)

    def note_operator(self, name: str) -> None:
        """Count an operator that reached the device."""
        if self.call.name not in PRINTS:
            self.operators[name] += 1

    def note_copy(self, direction: Direction, n_bytes: int, *, blocking: bool, cause: str = "") -> None:
        """Record a copy between host and device, and the wait that a blocking one is; an empty tensor is not copied."""
        if n_bytes == 0 or self.call.name in PRINTS:
            return
        location = self.location()
        cause = cause or self._cause("copy", location)
        self.copies.append(Copy(direction, n_bytes, blocking, cause, location))
        if blocking:
            kind: WaitKind = "copy to mps" if direction == "to mps" else "read"
            self._add_wait(HostWait(cause, "aten::copy_", location, kind))

    def note_wait(self, operator: str, cause: str = "", kind: WaitKind = "read") -> None:
        """Record that the host waits; named after what the caller wrote where that is known."""
        if self.call.name in PRINTS:
            self.note_print()
            return
        location = self.location()
        self._add_wait(HostWait(self._cause(cause or operator, location, given=cause), operator, location, kind))

    def note_print(self) -> None:
        """Record that a tensor is printed or formatted: one wait, however often torch reads."""
        if not self.call.waited:
            self.call.waited = True
            self._add_wait(HostWait(PRINTS[self.call.name], "", self.location()))

    def note_fallback(
        self,
        operator: str,
        verdict: Literal["cpu_always", "missing"],
        to_cpu: Sequence[int],
        to_mps: Sequence[int],
    ) -> None:
        """Record an operator that ran on the CPU instead: its copies, and one wait for all of them.

        Args:
            operator: qualified name with overload.
            verdict: why it ran there.
            to_cpu: bytes of each tensor that was fetched.
            to_mps: bytes of each result that was brought back.
        """
        location, cause = self.location(), f"fallback of {operator}"
        self.copies.extend(Copy("to cpu", n_bytes, True, cause, location) for n_bytes in to_cpu)
        self.copies.extend(Copy("to mps", n_bytes, True, cause, location) for n_bytes in to_mps)
        self._add_wait(HostWait(cause, operator, location, "fallback"))
        self.fallbacks.append(Fallback(operator, verdict, sum(to_cpu) + sum(to_mps), location))

    def location(self) -> Location:
        """Return the caller's line; on a thread of autograd's, the line that called backward."""
        found = caller()
        return self.backward_from if found == UNKNOWN else found

    def _cause(self, fallback: str, location: Location, given: str = "") -> str:
        name = self.call.name
        cause = given or _SPELLING.get(name) or (f"{name}()" if name else _ENTRIES.get(location.entry, fallback))
        entry = location.entry
        hidden = not entry or entry.rpartition(".")[2] == name or cause.startswith("torch.")
        return cause if hidden else f"{cause} in {entry}"

    def snapshot(self) -> Ledger:
        """Copy everything recorded so far."""
        return Ledger(
            copies=tuple(self.copies),
            waits=tuple(self.waits),
            fallbacks=tuple(self.fallbacks),
            operators=MappingProxyType(dict(self.operators)),
            warnings=tuple(dict.fromkeys(self.warnings)),
            device=self.device,
        )

    def clear(self) -> None:
        """Forget every event so far; warnings stay."""
        for record in (self.copies, self.waits, self.fallbacks, self.operators):
            record.clear()
