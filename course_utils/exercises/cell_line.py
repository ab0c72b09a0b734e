"""Where in a notebook's cell an exception came from."""

from __future__ import annotations

import linecache
from types import CodeType, TracebackType

from course_utils.reporting.code_place import A_CELL, cell_of

LONGEST_LINE = 120


def cell_line(error: BaseException, skip: CodeType | None = None) -> str:
    """Return the innermost line of a notebook's cell that an exception came through.

    Such as "cell [7], line 3: x = y + 1", or without the cell where no notebook shows a number beside it.

    Args:
        error: the exception, with its traceback.
        skip: code that is not looked at, such as the lambda of a check.

    Returns:
        The cell's number, the line's number in it and its text; empty where no cell has to do with it.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None and cell_of(error.filename or ""):
        return _shown(error.filename or "", error.lineno, error.text or "")
    found = ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code is not skip and cell_of(code.co_filename):
            file, number = code.co_filename, step.tb_lineno
            found = _shown(file, number, linecache.getline(file, number))
        step = step.tb_next
    return found


def error_text(error: BaseException) -> str:
    """Return an exception's text; of a cell that Python cannot read, without the file's name, which IPython made up."""
    if isinstance(error, SyntaxError) and cell_of(error.filename or ""):
        return str(error.msg)
    return str(error)


def error_at(error: BaseException) -> str:
    """Return an exception's class and text, and the line of a cell that it came from, if there is one."""
    where = cell_line(error)
    return f"{type(error).__name__}: {error_text(error)}" + (f" ({where})" if where else "")


def _shown(file: str, number: int, text: str) -> str:
    line = text.strip()
    cut = line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..."
    cell = cell_of(file)
    where = f"{cell}, line {number}" if cell != A_CELL else f"line {number}"
    return f"{where}: {cut}" if cut else where
