"""The state of one emulated device while it is switched on, and how events enter its ledger."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, field
from typing import Literal

import torch

from course_utils.emulation import messages
from course_utils.emulation.events import CallHook
from course_utils.emulation.generator import EmulatedGenerator
from course_utils.emulation.kernels import KernelTable
from course_utils.emulation.ledger import Copy, Direction, EventRecorder, Fallback, HostWait
from course_utils.emulation.location import caller
from course_utils.emulation.tensor import Meter

Policy = Literal["raise", "fallback", "record"]

# how the caller's spelling of a read is named in the ledger
_SPELLING = {
    "item": "item()",
    "__bool__": "bool()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "index",
    "__complex__": "complex()",
    "__contains__": "in",
    "__repr__": "print",
    "__str__": "print",
    "__format__": "format",
    "tolist": "tolist()",
    "cpu": "cpu()",
    "to": "to()",
}
# one call of these reads the device many times, which is one thing that the caller did
_ONE_WAIT = frozenset({"print", "format"})


class CurrentCall(threading.local):
    """The torch function that the caller's line called, while it runs; kept by the function mode."""

    name: str = ""
    waited: bool = False
    real_meta: int = 0  # above 0 while the caller means the meta device itself


@dataclass
class Runtime:
    """One emulated device.

    Args:
        table: which operators have an MPS kernel.
        policy: what happens at an operator that has none.
        hook: receives each call in place of its kernel, or None.
    """

    table: KernelTable
    policy: Policy
    hook: CallHook | None = None
    recorder: EventRecorder = field(default_factory=EventRecorder)
    meter: Meter = field(default_factory=Meter)
    generator: EmulatedGenerator = field(default_factory=EmulatedGenerator)
    call: CurrentCall = field(default_factory=CurrentCall)
    has_warned: bool = False

    def note_operator(self, name: str) -> None:
        """Count an operator that reached the device."""
        self.recorder.operators[name] += 1

    def note_copy(self, direction: Direction, n_bytes: int, *, blocking: bool, cause: str = "") -> None:
        """Record a copy between host and device."""
        self.recorder.copies.append(
            Copy(
                direction, n_bytes, blocking, cause or _SPELLING.get(self.call.name, self.call.name) or "copy", caller()
            )
        )

    def note_wait(self, operator: str, cause: str = "") -> None:
        """Record that the host waits; named after what the caller wrote where that is known."""
        spelled = _SPELLING.get(self.call.name, "")
        if spelled in _ONE_WAIT:
            if self.call.waited:
                return
            self.call.waited = True
            cause = spelled
        location = caller()
        cause = cause or spelled or (f"{self.call.name}()" if self.call.name else operator)
        entry = location.entry
        if entry and entry.rpartition(".")[2] != self.call.name and not cause.startswith("torch."):
            cause = f"{cause} in {entry}"
        self.recorder.waits.append(HostWait(cause, operator, location))

    def note_fallback(self, operator: str, verdict: Literal["cpu_always", "missing"], n_bytes: int) -> None:
        """Record an operator that ran on the CPU instead."""
        self.recorder.fallbacks.append(Fallback(operator, verdict, n_bytes, caller()))

    def warn_fallback(self, operator: str) -> None:
        """Warn as torch does: once in the life of the device, later operators stay silent (TORCH_WARN_ONCE)."""
        if self.has_warned and not torch.is_warn_always_enabled():
            return
        self.has_warned = True
        location = caller()
        warnings.warn_explicit(messages.fallback(operator), UserWarning, location.file, location.line)
