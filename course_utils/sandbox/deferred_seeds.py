"""Lets `torch.manual_seed` note the seeds of absent devices without a look at the stack.

Each call queues a seed for CUDA and one for XPU with the text of the stack, for the message of a start that fails later
(torch 2.9 to 2.15). In a fresh fork that reads the source files of all frames anew.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace


def format_stack() -> list[str]:
    """Return a stack of no lines."""
    return []


def queue_seeds_without_stack() -> None:
    """Queue seeds without the text of the stack from now on, where torch is loaded."""
    for name in ("torch.cuda", "torch.xpu"):
        module = sys.modules.get(name)
        if hasattr(module, "traceback"):
            vars(module)["traceback"] = SimpleNamespace(format_stack=format_stack)
