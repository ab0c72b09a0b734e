"""One seed for the CPU and for whatever other device is in use."""

from __future__ import annotations

import torch


def set_seed(seed: int) -> None:
    """Seed the generators of all devices in use.

    `torch.manual_seed` does the same, and where CUDA is built in and unused it notes a stack trace for later, which
    takes longer than a small comparison (torch 2.14).
    """
    torch.default_generator.manual_seed(seed)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(seed)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)
