"""The state of one emulated device while it is switched on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Literal

import torch

from course_utils.emulation import messages
from course_utils.emulation.events import CallHook
from course_utils.emulation.generator import EmulatedGenerator
from course_utils.emulation.kernels import KernelTable
from course_utils.emulation.recorder import EventRecorder
from course_utils.emulation.tensor import Meter

Policy = Literal["raise", "fallback", "record"]


@dataclass
class Runtime:
    """One emulated device.

    Args:
        table: which operators have an MPS kernel.
        policy: what happens at an operator that has none.
        hook: receives each call in place of its kernel, or None.
        macos: the emulated macOS, such as "14.5"; None for every macOS at once.
        recorder: takes the events that the ledger counts.
    """

    table: KernelTable
    policy: Policy
    hook: CallHook | None = None
    macos: str | None = None
    recorder: EventRecorder = field(default_factory=EventRecorder)
    meter: Meter = field(default_factory=Meter)
    generator: EmulatedGenerator = field(default_factory=EmulatedGenerator)
    has_warned: bool = False

    def warn_fallback(self, operator: str) -> None:
        """Warn as torch does: once in the life of the device, later operators stay silent (TORCH_WARN_ONCE)."""
        if self.has_warned and not torch.is_warn_always_enabled():
            return
        self.has_warned = True
        location = self.recorder.location()
        warnings.warn_explicit(messages.fallback(operator), UserWarning, location.file, location.line)
