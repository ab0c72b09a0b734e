"""Where in a notebook's cell an exception came from."""

from __future__ import annotations

import linecache
from types import CodeType, TracebackType

LONGEST_LINE = 120


def cell_line(error: BaseException, skip: CodeType | None = None) -> str:
    """Return the innermost line of a notebook's cell that an exception came through, such as "line 3: x = y + 1".

    Args:
        error: the exception, with its traceback.
        skip: code that is not looked at, such as the lambda of a check.

    Returns:
        The line's number in its cell and its text; empty where no cell has to do with it.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None and _is_cell(error.filename or ""):
        return _shown(error.lineno, error.text or "")
    found = ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code is not skip and _is_cell(code.co_filename):
            found = _shown(step.tb_lineno, linecache.getline(code.co_filename, step.tb_lineno))
        step = step.tb_next
    return found


def _is_cell(filename: str) -> bool:
    """Return whether IPython, or a Jupyter kernel, made this name for a cell."""
    return filename.startswith("<ipython-input") or "/ipykernel_" in filename.replace("\\", "/")


def _shown(number: int, text: str) -> str:
    line = text.strip()
    cut = line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..."
    return f"line {number}: {cut}" if cut else f"line {number}"
