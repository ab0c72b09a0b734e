"""The device that a lesson about MPS's behaviour runs on: the real one where it works, else the emulated one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

import torch

from course_utils.devices.probe import Probe, probe_mps
from course_utils.emulation.context import EmulatedMps, emulated_mps
from course_utils.emulation.ledger import Ledger


@dataclass(frozen=True)
class UncountedDevice:
    """A device of a torch that was built with MPS, with the interface of `EmulatedMps` and nothing counted.

    Args:
        device: "mps" where it works, else "cpu".
        note: one line that says so.
    """

    device: torch.device
    note: str

    def ledger(self) -> Ledger:
        """Return an empty ledger whose warning says that nothing was counted."""
        return Ledger(
            copies=(),
            waits=(),
            fallbacks=(),
            operators=MappingProxyType({}),
            warnings=(self.note,),
        )

    def clear_ledger(self) -> None:
        """Do nothing: there is nothing to clear."""


def choose_device(*, built: bool, probe: Probe) -> UncountedDevice | None:
    """Return the device that a lesson runs on where emulation is ruled out; pure.

    Args:
        built: whether this torch was built with MPS.
        probe: what MPS answered.

    Returns:
        The real device, or None where the emulated one is to be used.
    """
    if not built:
        return None
    if probe.usable:
        return UncountedDevice(
            torch.device("mps"), "a real MPS device ran this; copies and waits are counted on emulated ones only"
        )
    return UncountedDevice(
        torch.device("cpu"),
        f"the CPU ran this, since MPS is {probe.state} and this torch was built with it, which rules emulation out",
    )


@contextmanager
def mps_or_emulated(*, fallback: bool = False) -> Iterator[EmulatedMps | UncountedDevice]:
    """Provide a device that behaves like MPS, on any machine.

    Args:
        fallback: for the emulated device, whether PYTORCH_ENABLE_MPS_FALLBACK=1 is to be in effect; a real device
            goes by the variable that was set before torch was imported.

    Yields:
        Something with `.device`, `.ledger()` and `.clear_ledger()`.
    """
    real = choose_device(built=torch.backends.mps.is_built(), probe=probe_mps())
    if real is not None:
        yield real
        return
    with emulated_mps(fallback=fallback) as emulated:
        yield emulated
