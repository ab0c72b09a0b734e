"""Whether an emulated MPS device is in use in this process; imports nothing, so asking is free."""

from __future__ import annotations

_active = False


def is_active() -> bool:
    """Say whether an `emulated_mps()` block is running, so that nothing measured now passes for an MPS time."""
    return _active


def set_active(active: bool) -> None:
    """Note that the emulated device has been switched on or off; only `context` calls this."""
    global _active  # noqa: PLW0603  (one process has one dispatcher, hence one emulated device)
    _active = active
