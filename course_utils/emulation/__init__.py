"""An emulated MPS device for machines without one: same routes, errors and counts as on a Mac, never a time.

    from course_utils.emulation import emulated_mps
    with emulated_mps() as mps:
        model.to("mps")(x.to("mps")).sum().item()
        print(mps.ledger())

Importing this package does not import torch, so `is_active()` costs nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from course_utils.devices import torch_start  # noqa: F401  (records the environment in which torch loads)

# public name -> the module that holds it
_HOME = {
    "CountedMps": "counted_device",
    "counted_mps": "counted_device",
    "EmulatedMps": "context",
    "emulated_mps": "context",
    "KernelTable": "kernels",
    "OperatorCall": "events",
    "mps_kernels": "kernels",
    "Copy": "ledger",
    "Fallback": "ledger",
    "HostWait": "ledger",
    "Ledger": "ledger",
    "Location": "location",
    "mps_or_emulated": "select_device",
}

__all__ = [
    "Copy",
    "CountedMps",
    "EmulatedMps",
    "Fallback",
    "HostWait",
    "KernelTable",
    "Ledger",
    "Location",
    "OperatorCall",
    "counted_mps",
    "emulated_mps",
    "is_active",
    "mps_kernels",
    "mps_or_emulated",
]

if TYPE_CHECKING:
    from course_utils.emulation.context import EmulatedMps, emulated_mps
    from course_utils.emulation.counted_device import CountedMps, counted_mps
    from course_utils.emulation.events import OperatorCall
    from course_utils.emulation.kernels import KernelTable, mps_kernels
    from course_utils.emulation.ledger import Copy, Fallback, HostWait, Ledger
    from course_utils.emulation.location import Location
    from course_utils.emulation.select_device import mps_or_emulated


def is_active() -> bool:
    """Return whether an `emulated_mps()` block is running, so that no time measured now passes for one of MPS."""
    context = sys.modules.get("course_utils.emulation.context")
    return context is not None and bool(context.is_running())


def __getattr__(name: str) -> Any:
    """Load the module that holds `name` on first use (PEP 562)."""
    if name in _HOME:
        return getattr(importlib.import_module(f"course_utils.emulation.{_HOME[name]}"), name)
    raise AttributeError(
        f"module 'course_utils.emulation' has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
    )


def __dir__() -> list[str]:
    return __all__
