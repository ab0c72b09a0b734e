"""Which environment variables torch saw: it reads them once, while it loads, and never again.

What is known, best first:

1. torch has not loaded in this process: what is set now is what a torch started from here will see.
2. This module was imported before torch: the environment was recorded when torch began to load.
3. torch came first, Linux: /proc/self/environ holds the values that the process started with. A variable that still
   has its first value was seen; one that changed after this module was imported was not; one that was set between
   the start and this module's import is unknown.
4. torch came first, a Mac: macOS has no file like /proc/self/environ, so what was set when this module was imported is
   the best that is known. `course_utils.doctor` then asks torch itself for its fallback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from course_utils.devices.environment_variables import fallback_is_on


@dataclass(frozen=True)
class StartRecord:
    """What is known of the environment in which torch loaded.

    Args:
        at_load: the environment when torch began to load, or now if it has not; None if that was not recorded.
        at_watch: the environment when the watch began, which was after torch had loaded if `at_load` is None.
        at_start: the environment that the process started with, None if the system does not tell.
    """

    at_load: Mapping[str, str] | None
    at_watch: Mapping[str, str]
    at_start: Mapping[str, str] | None

    @property
    def likeliest(self) -> Mapping[str, str]:
        """The environment that torch saw, as far as is known."""
        known = (self.at_load, self.at_start, self.at_watch)
        return next(environment for environment in known if environment is not None)

    def seen(self, name: str, value: str) -> bool | None:
        """Return whether torch saw this value of a variable; None if that is not known."""
        if self.at_load is not None:
            return self.at_load.get(name) == value
        if self.at_watch.get(name) != value:
            return False
        if self.at_start is not None and self.at_start.get(name) == value:
            return True
        return None


class _Watch(MetaPathFinder):
    """Record the environment when torch is looked for, the last time when it loads, and find nothing."""

    def __init__(self) -> None:
        self.at_watch = dict(os.environ)
        self.at_load: dict[str, str] | None = None

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        # again at each look for torch: a program may look for its place long before it imports it
        if fullname == "torch" and "torch" not in sys.modules:
            self.at_load = dict(os.environ)


_watch = _Watch()
if "torch" not in sys.modules:
    sys.meta_path.insert(0, _watch)


@cache
def initial_environment(path: Path = Path("/proc/self/environ")) -> Mapping[str, str] | None:
    """Return the environment that this process started with; None where the system does not tell."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in content.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def start_record() -> StartRecord:
    """Return what is known of the environment in which torch loaded in this process."""
    at_load = _watch.at_load if "torch" in sys.modules else dict(os.environ)
    return StartRecord(at_load, _watch.at_watch, initial_environment())


def fallback_at_load() -> bool:
    """Return whether this process's torch saw the CPU fallback switched on, as far as is known.

    Raises:
        ValueError: for a value with which `import torch` fails on a Mac.
    """
    return fallback_is_on(start_record().likeliest)
