"""Which environment variables torch saw: it reads them once, while it loads, and never again.

What is known, best first:

1. torch has not loaded in this process: what is set now is what a torch started from here will see.
2. `course_utils.doctor` was imported before torch: the values were recorded when torch began to load.
3. torch came first, Linux: /proc/self/environ holds the values that the process started with. A variable that still
   has its first value was seen; one that changed after this module was imported was not; one that was set between
   the start and this module's import is unknown.
4. torch came first, a Mac with MPS: for the fallback variable torch itself is asked (`fallback_is_on`). macOS has no
   file like /proc/self/environ.
5. Else the order of a notebook's cells (`surroundings.set_after_torch`), which can show only that it was too late.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"


@dataclass(frozen=True)
class StartRecord:
    """What is known of the moment torch loaded.

    Args:
        torch_loaded: whether torch is loaded in this process.
        at_load: the environment when torch began to load, None if nobody looked.
        at_watch: the environment when the watch began, which was after torch had loaded if `at_load` is None.
        at_start: the environment that the process started with, None if the system does not tell.
    """

    torch_loaded: bool
    at_load: Mapping[str, str] | None
    at_watch: Mapping[str, str]
    at_start: Mapping[str, str] | None

    def seen(self, name: str, value: str) -> bool | None:
        """Say whether torch saw this value of a variable; None if that is not known."""
        if not self.torch_loaded:
            return True
        if self.at_load is not None:
            return self.at_load.get(name) == value
        if self.at_watch.get(name) != value:
            return False
        if self.at_start is not None and self.at_start.get(name) == value:
            return True
        return None


class _Watch(MetaPathFinder):
    """Record the environment at the first import of torch, and find nothing."""

    def __init__(self) -> None:
        self.at_watch = dict(os.environ)
        self.at_load: dict[str, str] | None = None

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "torch":
            self.at_load = dict(os.environ)
            sys.meta_path.remove(self)


_watch = _Watch()
if "torch" not in sys.modules:
    sys.meta_path.insert(0, _watch)


def initial_environment() -> dict[str, str] | None:
    """Read the environment that this process started with; None where the system does not tell."""
    try:
        content = Path("/proc/self/environ").read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in content.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def start_record() -> StartRecord:
    """Say what is known of the moment torch loaded in this process."""
    return StartRecord("torch" in sys.modules, _watch.at_load, _watch.at_watch, initial_environment())


_library: Any = None


def runs_without_kernel(device: str) -> bool | None:
    """Run an operator that has only a CPU kernel on a device; only torch's CPU fallback can make that work.

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


def fallback_is_on() -> bool | None:
    """Ask the torch in this process whether its CPU fallback is on; None without torch or without MPS."""
    torch = sys.modules.get("torch")
    if torch is None or platform.system() != "Darwin":
        return None
    try:
        offered = bool(torch.backends.mps.is_available())
    except Exception:
        return None
    return runs_without_kernel("mps") if offered else None
