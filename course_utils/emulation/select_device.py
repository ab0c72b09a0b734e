"""The device that a lesson about MPS's behaviour runs on: the real one where it works, else the emulated one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import torch

from course_utils.devices.probe import Probe, probe_mps
from course_utils.devices.torch_start import fallback_at_load
from course_utils.emulation.context import EmulatedMps, emulated_mps
from course_utils.emulation.counted_device import CountedMps, counted_mps
from course_utils.emulation.ledger import Ledger

Choice = Literal["real", "emulated", "cpu"]


@dataclass(frozen=True)
class CpuInstead:
    """The CPU, where torch was built with MPS and cannot use it: nothing can be emulated there, or counted.

    Args:
        note: one line that says so.
    """

    note: str
    device = torch.device("cpu")
    counts = False

    def ledger(self) -> Ledger:
        """Return an empty ledger whose warning says that nothing was counted."""
        return Ledger((), (), (), MappingProxyType({}), warnings=(self.note,), device="CPU, nothing counted")

    def clear_ledger(self) -> None:
        """Do nothing: there is nothing to clear."""


def choose_device(*, built: bool, probe: Probe) -> Choice:
    """Return what a lesson runs on; pure.

    Args:
        built: whether this torch was built with MPS.
        probe: what MPS answered.
    """
    if not built:
        return "emulated"
    return "real" if probe.usable else "cpu"


@contextmanager
def mps_or_emulated(*, fallback: bool = False) -> Iterator[EmulatedMps | CountedMps | CpuInstead]:
    """Provide a device that behaves like MPS and counts, on any machine.

    Args:
        fallback: whether operators without an MPS kernel run on the CPU, as with PYTORCH_ENABLE_MPS_FALLBACK=1. On a
            real device the course does it, in the way in which torch does, where the variable was not set when torch
            was imported; where it was set, they run on the CPU in any case.

    Yields:
        Something with `.device`, `.ledger()`, `.clear_ledger()`, and `.counts`, whether the ledger counts.
    """
    probe = probe_mps()
    choice = choose_device(built=torch.backends.mps.is_built(), probe=probe)
    if choice == "real":
        with counted_mps(fallback=fallback and not fallback_at_load()) as counted:
            yield counted
    elif choice == "emulated":
        with emulated_mps(fallback=fallback) as emulated:
            yield emulated
    else:
        yield CpuInstead(
            f"the CPU ran this, and nothing was counted: MPS is {probe.state}, and this torch was built with it, "
            "which rules emulation out"
        )
