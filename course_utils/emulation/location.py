"""Find the caller's line: the first frame that belongs neither to torch nor to this package."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import torch

from course_utils.reporting.code_place import code_place

# torch's own files, and everything of the course: neither is what the reader wrote
# (with a separator at the end: torchvision lies beside torch)
_INSIDE = (str(Path(torch.__file__).parent) + os.sep, str(Path(__file__).parents[1]) + os.sep)
_MACHINERY = tuple(_INSIDE[0] + name for name in ("_ops.py", "overrides.py", "_compile.py", "_dynamo", "utils/_python"))


@dataclass(frozen=True, order=True)
class Location:
    """A line of the caller's code.

    Args:
        file: path as Python reports it; in a notebook the name of the cell.
        line: line number, counted from 1.
        function: the function that holds the line, "<module>" at the top level.
        entry: the function of torch that this line called and that led here, such as "GradScaler.step";
            "" where none is known.
    """

    file: str
    line: int
    function: str
    entry: str = ""

    def __str__(self) -> str:
        return code_place(self.file, self.line)


UNKNOWN = Location("<unknown>", 0, "<unknown>")


@cache
def is_inside(file: str) -> bool:
    """Return whether a file belongs to torch or to this package."""
    return file.startswith(_INSIDE)


@cache
def _is_entry(file: str) -> bool:
    """Return whether a file is torch's, and not the machinery that carries calls to modes."""
    return file.startswith(_INSIDE[0]) and not file.startswith(_MACHINERY)


def caller() -> Location:
    """Return the first line outside torch and course_utils, walking up from here."""
    frame: FrameType | None = sys._getframe(1)
    entry = ""
    while frame is not None:
        code = frame.f_code
        if not is_inside(code.co_filename):
            return Location(code.co_filename, frame.f_lineno, code.co_name, entry)
        if _is_entry(code.co_filename):
            entry = code.co_qualname
        frame = frame.f_back
    return UNKNOWN
