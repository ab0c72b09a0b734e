"""Read a notebook file's cells without nbformat, whose import alone takes seconds.

nbformat 5 loads jsonschema's optional format checkers, which build about 35 parsers (python-jsonschema #1392).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cell:
    """One cell.

    Args:
        number: its place in the notebook, from 1.
        kind: "code", "markdown" or "raw".
        source: its text.
        grade_id: nbgrader's id, or None.
        graded: whether nbgrader takes points from it.
        points: what it is worth.
    """

    number: int
    kind: str
    source: str
    grade_id: str | None
    graded: bool
    points: float


class UnreadableNotebookError(ValueError):
    """The file is no notebook; the message says why in one sentence."""


def read_cells(path: Path) -> tuple[Cell, ...]:
    """Read the cells of a notebook, nbformat 4.

    Raises:
        UnreadableNotebookError: when the file cannot be read, is not JSON, or holds no cells.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnreadableNotebookError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UnreadableNotebookError(
            f"{path} is not UTF-8 text (byte {error.start}); save it again from JupyterLab"
        ) from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        marks = " (merge-conflict marks are in it)" if "<<<<<<<" in text else ""
        raise UnreadableNotebookError(f"{path} is not a notebook: line {error.lineno} is not JSON{marks}") from error
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise UnreadableNotebookError(f"{path} is JSON but no notebook: it has no list of cells")
    return tuple(_read_cell(number, cell) for number, cell in enumerate(content["cells"], start=1))


def _read_cell(number: int, cell: object) -> Cell:
    known = cell if isinstance(cell, dict) else {}
    metadata = known.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grading = grading if isinstance(grading, dict) else {}
    source = known.get("source", "")
    points = grading.get("points", 0)
    return Cell(
        number=number,
        kind=str(known.get("cell_type", "raw")),
        source="".join(map(str, source)) if isinstance(source, list) else str(source),
        grade_id=grading.get("grade_id"),
        graded=bool(grading.get("grade")),
        points=float(points) if isinstance(points, int | float) else 0.0,
    )
