"""Read a notebook file's cells without nbformat, whose import alone takes seconds.

nbformat 5 loads jsonschema's optional format checkers, which build about 35 parsers (python-jsonschema #1392).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXPLANATION = "solution-only"  # the tag of a text cell that explains a solution


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook, an instructor's or a student's.

    Args:
        number: its place in the notebook, from 1.
        kind: "code", "markdown", "raw", or whatever the file says.
        source: its text, lines ending in a line feed.
        grade_id: nbgrader's id, or None.
        graded: whether nbgrader takes points from it.
        points: what it is worth; 0 where the file gives no number.
        solution: whether the student writes it.
        locked: whether nbgrader restores it.
        task: whether it is one of nbgrader's task cells.
        cell_id: the notebook format's own id, which Colab keeps in the metadata; empty when there is none.
    """

    number: int
    kind: str
    source: str
    grade_id: str | None = None
    graded: bool = False
    points: float = 0.0
    solution: bool = False
    locked: bool = False
    task: bool = False
    cell_id: str = ""

    @property
    def checked(self) -> bool:
        """Whether the grader gives its points; a person gives those of written answers and of tasks."""
        return self.kind == "code" and self.graded and not self.solution


class UnreadableNotebookError(ValueError):
    """The file is not a notebook; the message says why in one sentence."""


def read_cells(path: Path) -> tuple[Cell, ...]:
    """Read the cells of a notebook, nbformat 4.

    Raises:
        UnreadableNotebookError: when the file cannot be read, is not JSON, or holds no cells.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableNotebookError(f"{path} cannot be read: {error.strerror or error}") from error
    content = parse_notebook(data, str(path))
    return tuple(read_cell(number, cell) for number, cell in enumerate(content["cells"], start=1))


def parse_notebook(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a notebook, nbformat 4.

    Args:
        data: the file.
        name: what messages call it.

    Raises:
        UnreadableNotebookError: when they are not JSON, or hold no cells.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableNotebookError(
            f"{name} is not UTF-8 text (byte {error.start}); save it again from JupyterLab"
        ) from error
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        marks = " (merge-conflict marks are in it)" if "<<<<<<<" in text else ""
        where = (
            f"line {error.lineno} is not JSON" if isinstance(error, json.JSONDecodeError) else "it is nested too deep"
        )
        raise UnreadableNotebookError(f"{name} is not a notebook: {where}{marks}") from error
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise UnreadableNotebookError(f"{name} is JSON but not a notebook: it has no list of cells")
    return content


def read_cell(number: int, cell: object) -> Cell:
    """Read one cell; whatever is malformed in it counts as not there.

    Args:
        number: its place in the notebook, from 1.
        cell: the cell's JSON.
    """
    known = cell if isinstance(cell, dict) else {}
    metadata = known.get("metadata")
    grading = grading_of(known)
    points = grading.get("points", 0)
    return Cell(
        number=number,
        kind=_text(known.get("cell_type")) or "raw",
        source=source_of(known).replace("\r\n", "\n").replace("\r", "\n"),
        grade_id=_text(grading.get("grade_id")) or None,
        graded=bool(grading.get("grade")),
        points=float(points) if isinstance(points, int | float) else 0.0,
        solution=bool(grading.get("solution")),
        locked=bool(grading.get("locked")),
        task=bool(grading.get("task")),
        cell_id=_text(known.get("id")) or (_text(metadata.get("id")) if isinstance(metadata, dict) else ""),
    )


def grading_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return nbgrader's metadata of a cell; empty when there is none."""
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return grading if isinstance(grading, dict) else {}


def is_explanation(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell explains a solution, by its tag; the release leaves it out."""
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and EXPLANATION in tags


def source_of(cell: Mapping[str, Any]) -> str:
    """Return a cell's text, which a notebook may hold as a list of lines; nbformat 3 called that of code its input."""
    return _text(cell.get("source", cell.get("input", "")))


def id_of(cell: Mapping[str, Any]) -> str:
    """Return nbgrader's id of a cell, or else the notebook format's own."""
    return _text(grading_of(cell).get("grade_id")) or _text(cell.get("id"))


def _text(value: object) -> str:
    """Return a string, or a list of strings joined; anything else is not a text."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
