"""Read PYTORCH_ENABLE_MPS_FALLBACK as a Mac's torch would have: once, when torch was imported.

torch reads the variable in a static initialiser when its library loads (aten/src/ATen/mps/MPSFallback.mm),
so `os.environ[...] = "1"` in a later notebook cell has no effect. When torch was imported cannot be found
out afterwards. What can be known:

- the environment that the process started with, which certainly was there when torch loaded;
- if this package was imported before torch, `os.environ` at that moment.

Anything set later counts as too late.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

NAME = "PYTORCH_ENABLE_MPS_FALLBACK"


def read_initial_environment(path: Path = Path("/proc/self/environ")) -> dict[str, str] | None:
    """Read the environment that this process was started with; None where the system does not tell (no /proc)."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def fallback_enabled(
    *, initial: Mapping[str, str] | None, at_import: Mapping[str, str], torch_was_loaded: bool
) -> bool:
    """Decide whether torch would have seen the fallback variable; pure.

    Args:
        initial: the environment at the start of the process, or None where it is unknown.
        at_import: `os.environ` when `course_utils.emulation` was imported.
        torch_was_loaded: whether torch had been imported before that.

    Raises:
        ValueError: for a value that is no integer; a Mac's torch fails to import with it (`std::stoi`).
    """
    # Without /proc the environment at import is the best that is known.
    source = at_import if initial is None or not torch_was_loaded else initial
    value = source.get(NAME)
    if value is None:
        return False
    try:
        return int(value) != 0
    except ValueError:
        raise ValueError(
            f"{NAME}={value!r} is not an integer, and on a Mac `import torch` would fail with it; use 1 or 0"
        ) from None


_INITIAL = read_initial_environment()
_AT_IMPORT = {NAME: os.environ[NAME]} if NAME in os.environ else {}
_TORCH_WAS_LOADED = "torch" in sys.modules


def fallback_was_enabled() -> bool:
    """Say whether this process's torch would have seen the variable set, as far as can be known."""
    return fallback_enabled(initial=_INITIAL, at_import=_AT_IMPORT, torch_was_loaded=_TORCH_WAS_LOADED)
