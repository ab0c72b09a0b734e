"""Find every torch on Python's path, and how each came onto it: the first one hides the others. A thin edge."""

from __future__ import annotations

import dataclasses
import os
import re
import site
import sys
from collections.abc import Sequence
from pathlib import Path

from course_utils.doctor.snapshot import PathOrigin, TorchCopy


def _version(package: Path) -> str:
    """Return a torch's version from its files, without importing it; "unknown" where they do not tell."""
    try:
        text = (package / "version.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"^__version__\s*=\s*['\"]([\w.+-]+)['\"]", text, re.MULTILINE)
    return found[1] if found else "unknown"


def path_origin(folder: Path, *, prefix: Path, base_prefix: Path, python_path: Sequence[Path]) -> PathOrigin:
    """Return how a folder came onto Python's path.

    Args:
        folder: the folder, absolute.
        prefix: the environment, `sys.prefix`.
        base_prefix: the Python that the environment was made from, `sys.base_prefix`.
        python_path: the folders that PYTHONPATH names, absolute.
    """
    if folder.is_relative_to(prefix):
        return "environment"
    if folder in python_path:
        return "PYTHONPATH"
    if folder == Path(site.getusersitepackages()):
        return "user site"
    if folder == Path.cwd():
        return "current folder"
    return "base Python" if folder.is_relative_to(base_prefix) else "other"


def find_torch_copies(path: Sequence[str] | None = None) -> tuple[TorchCopy, ...]:
    """Return every torch on Python's path, in the order in which Python looks.

    Args:
        path: the folders to look into, by default `sys.path`.
    """
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    python_path = [Path(os.path.abspath(entry)) for entry in named if entry]
    found: dict[str, TorchCopy] = {}
    for entry in dict.fromkeys(os.path.abspath(entry or os.curdir) for entry in (sys.path if path is None else path)):
        package = Path(entry, "torch")
        if not (package / "__init__.py").is_file():
            continue
        via = path_origin(
            Path(entry), prefix=Path(sys.prefix), base_prefix=Path(sys.base_prefix), python_path=python_path
        )
        # by its real place: a link to the environment's torch is not another torch
        found.setdefault(os.path.realpath(package), TorchCopy(entry, _version(package), via))
    return _without_links(found)


def _without_links(found: dict[str, TorchCopy]) -> tuple[TorchCopy, ...]:
    """Return the copies, with one that is only a link into the environment counted as the environment's."""
    inside = os.path.realpath(sys.prefix) + os.sep
    return tuple(
        dataclasses.replace(copy, via="environment") if place.startswith(inside) else copy
        for place, copy in found.items()
    )
