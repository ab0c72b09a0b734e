"""Parse an untrusted submitted notebook leniently.

What students hand in is read: a byte-order mark, UTF-16, Latin-1, nbformat 3 to 5, cells with and without ids.
What cannot be read gets one sentence that tells the student what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from course_utils.exercises.newer_python import about_newer_python
from course_utils.exercises.notebook import Cell, read_cell
from course_utils.grading.reading.cell_effects import LONGEST_PARSED, parse_cell
from course_utils.reporting.errors import CourseError
from course_utils.reporting.units import format_sizes

# column 0 of a line; inside a notebook's strings a line break is written \n, so these are the file's own
_FILE_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?=[ \r\n]|$)", re.MULTILINE)
_OTHER_FILES = (
    (b"PK\x03\x04", "a zip"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\x1f\x8b", "a gzip file"),
)
_OTHER_TEXTS = (("<", "a web page"), ("{\\rtf", "a text document"), ("#", "a script"), ("import ", "a script"))
# a list of 20 MB of "[]," takes a gigabyte once it is read; a notebook of that size has far fewer parts
MOST_PARTS, MOST_QUOTES, MOST_CELLS = 1_000_000, 4_000_000, 10_000
# of a notebook from a newer Python; the course's own have at most half as many cells of code
MOST_TRIED = 60
_SAVE_AGAIN = "hand in the .ipynb file as JupyterLab saves it"


class NotANotebookError(CourseError, ValueError):
    """The bytes are not a notebook that can be read; the message is one sentence for the student."""


def read_submitted_cells(data: bytes, *, limit_bytes: int) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Read the cells of a submitted file.

    Args:
        data: the file.
        limit_bytes: the size above which nothing of it is read.

    Returns:
        The cells in order, and notes, one sentence each.

    Raises:
        NotANotebookError: when it is not a notebook. Nothing else is raised, whatever the bytes are.
    """
    if len(data) > limit_bytes:
        raise NotANotebookError(too_large(len(data), limit_bytes))
    text, notes = _decode(data)
    content = _parse(text)
    cells = _list_cells(content)
    if len(cells) > MOST_CELLS:
        raise NotANotebookError(
            f"the notebook has {len(cells):,} cells, more than are read; hand in the exercise's own"
        )
    read = tuple(read_cell(number, cell) for number, cell in enumerate(cells, start=1))
    newer = about_newer_python(content, _unread_cells(read))
    return read, (*notes, newer) if newer else notes


def _unread_cells(cells: Sequence[Cell]) -> Iterator[Cell]:
    """List the cells of code, of a length that a person types, that do not parse."""
    for cell in islice((cell for cell in cells if cell.kind == "code"), MOST_TRIED):
        if len(cell.source) <= LONGEST_PARSED and parse_cell(cell.source) is None:
            yield cell


def too_large(size_bytes: int, limit_bytes: int) -> str:
    """Write the sentence for a file that is larger than allowed."""
    size, limit = format_sizes(size_bytes, limit_bytes)
    return f"the file has {size}, and more than {limit} are not read; clear the outputs of all cells and hand in again"


def _decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    if not data.strip():
        raise NotANotebookError("the file is empty; save the notebook and hand in again")
    if not data.strip(b"\0"):
        raise NotANotebookError("the file holds nothing but zeros, so it was not saved completely; hand in again")
    for start, what in _OTHER_FILES:
        if data.startswith(start):
            raise NotANotebookError(f"the file is {what}, not a notebook; {_SAVE_AGAIN}")
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if not encoding.startswith("utf-8"):
            raise NotANotebookError(f"the file is broken at byte {error.start}; {_SAVE_AGAIN}") from error
        note = f"the file is not UTF-8 (byte {error.start}); it was read as Latin-1, so accents may be wrong"
        return data.removeprefix(b"\xef\xbb\xbf").decode("latin-1"), (note,)
    return text, () if encoding.startswith("utf-8") else (f"the file is {encoding.upper()}, not UTF-8; it was read",)


def _parse(text: str) -> Any:
    if text.count("[") + text.count("{") > MOST_PARTS or text.count('"') > MOST_QUOTES:
        raise NotANotebookError(
            "the file has more parts than a notebook; clear the outputs of all cells and hand in again"
        )
    try:
        # strict=False: an editor that wrote a tab or a line break into a string did not change the code
        return json.loads(text, strict=False, parse_int=_skip_number, parse_float=_skip_number)
    except json.JSONDecodeError as error:
        raise NotANotebookError(_why_not_json(text, error)) from error
    except RecursionError as error:
        raise NotANotebookError(f"the file is nested too deep for a notebook; {_SAVE_AGAIN}") from error


def _skip_number(digits: str) -> int:
    """Stand in for a number: no number in a submission counts, and Python refuses one of 5,000 digits."""
    return len(digits[:1])


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    mark = _FILE_CONFLICT.search(text)
    if mark is not None:
        line = text.count("\n", 0, mark.start()) + 1
        return (
            f"line {line} of the file is a merge-conflict mark ({mark.group()}); "
            "keep one version of what stands between the marks, see that the notebook opens, and hand in again"
        )
    start = text.lstrip("\ufeff \t\r\n")
    for beginning, what in _OTHER_TEXTS:
        if start.startswith(beginning):
            return f"the file is {what}, not a notebook; {_SAVE_AGAIN}"
    if not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
        return f"the file ends in line {text.count(chr(10)) + 1} in the middle of the notebook; hand in the whole file"
    return f"line {error.lineno} of the file is not JSON, so it is no notebook; {_SAVE_AGAIN}"


def _list_cells(content: Any) -> list[Any]:
    if isinstance(content, dict):
        if isinstance(content.get("cells"), list):
            return list(content["cells"])
        # nbformat 3 kept its cells in worksheets
        sheets = content.get("worksheets")
        if isinstance(sheets, list):
            lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            return [cell for cells in lists if isinstance(cells, list) for cell in cells]
    raise NotANotebookError(f"the file is JSON but no notebook, since it has no list of cells; {_SAVE_AGAIN}")
