"""Ask the torch of this process whether its CPU fallback is on, by an operator that only the fallback can run."""

from __future__ import annotations

import platform
import sys
from typing import Any

_library: Any = None


def runs_without_kernel(device: str) -> bool | None:
    """Return whether an operator with nothing but a CPU kernel runs on a device; only torch's CPU fallback allows it.

    Returns:
        True or False; None where torch cannot be asked.
    """
    global _library  # noqa: PLW0603  an operator can be defined once in a process
    import warnings

    import torch

    try:
        if _library is None:
            library: Any = torch.library
            _library = library.Library("course_fallback_check", "DEF")
            _library.define("copy(Tensor x) -> Tensor")
            _library.impl("copy", lambda x: x.clone(), "CPU")
        x = torch.zeros(1, device=device)
        # always warn: torch names only the first operator that falls back, and this one is not the reader's
        always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.ops.course_fallback_check.copy(x)
        finally:
            torch.set_warn_always(always)
    except NotImplementedError:
        return False
    except Exception:
        return None
    return True


def torch_falls_back() -> bool | None:
    """Return whether the torch of this process has its CPU fallback on; None without torch or without MPS."""
    torch = sys.modules.get("torch")
    if torch is None or platform.system() != "Darwin":
        return None
    try:
        offered = bool(torch.backends.mps.is_available())
    except Exception:
        return None
    return runs_without_kernel("mps") if offered else None
