"""What nbgrader's gradebook holds of an instructor's notebook, as `nbgrader generate_assignment` stores it.

Read without nbgrader and nbformat, so that it costs nothing; a test compares it with nbgrader's own tables.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

# as in nbgrader_config.py
CODE_STUB = "# YOUR CODE HERE"
# nbgrader's default, which the course keeps
TEXT_STUB = "YOUR ANSWER HERE"


@dataclass(frozen=True)
class BookCell:
    """One cell that the gradebook knows.

    Args:
        name: nbgrader's grade_id.
        cell_type: "code" or "markdown".
        grade: whether points are given for it.
        solution: whether the student writes it.
        task: whether it is one of nbgrader's task cells, which a person grades.
        locked: whether its text is restored from the gradebook when plain nbgrader grades.
        points: what it is worth.
        source: its text without the solution, hidden tests included.
        checksum: nbgrader's checksum of it.
    """

    name: str
    cell_type: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    points: float
    source: str
    checksum: str | None

    @property
    def checked(self) -> bool:
        """Whether the grader gives its points; a person gives those of written answers and tasks."""
        return self.grade and not self.solution and self.cell_type == "code"


@dataclass(frozen=True)
class BookNotebook:
    """An instructor's notebook as the gradebook holds it.

    Args:
        kernelspec: its kernel, as JSON.
        cells: the cells with a grade_id, in order.
    """

    kernelspec: str
    cells: tuple[BookCell, ...]


def read_book_notebook(data: bytes, name: str) -> BookNotebook:
    """Read an instructor's notebook as the gradebook holds it.

    Args:
        data: the notebook file, nbformat 4, hidden tests included.
        name: the exercise's name, for messages.

    Raises:
        ValueError: when it is no notebook, or repeats a grade_id; the message says which.
    """
    try:
        content = json.loads(data.decode("utf-8-sig"))
        kernelspec = content.get("metadata", {}).get("kernelspec", {})
        cells = [cell for cell in map(_read_cell, content["cells"]) if cell is not None]
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"the instructor's notebook of {name} cannot be read: {error}") from error
    names = [cell.name for cell in cells]
    repeated = sorted({one for one in names if names.count(one) > 1})
    if repeated:
        raise ValueError(f"exercise {name} has {repeated[0]!r} twice; every grade_id has to be there once")
    return BookNotebook(json.dumps(kernelspec), tuple(cells))


def _read_cell(cell: dict[str, Any]) -> BookCell | None:
    grading = cell.get("metadata", {}).get("nbgrader", {})
    grade, solution, task = (bool(grading.get(key)) for key in ("grade", "solution", "task"))
    # a cell that a student writes is never restored, one that gives points always is
    locked = not solution and (grade or bool(grading.get("locked")))
    if not (grade or solution or task or locked):
        return None
    source = "".join(cell.get("source", ""))
    cell_type = str(cell["cell_type"])
    if solution:
        source = without_solution(source, CODE_STUB if cell_type == "code" else TEXT_STUB)
    points = float(grading["points"]) if grade or task else 0.0
    name = str(grading["grade_id"])
    # nbgrader computes none for a task cell
    hashed = [source, cell_type, str(grade), str(solution), str(locked), name, *([str(points)] if grade else [])]
    checksum = hashlib.md5("".join(hashed).encode(), usedforsecurity=False).hexdigest()
    known = checksum if grade or solution or locked else None
    return BookCell(name, cell_type, grade, solution, task, locked, points, source, known)


def without_solution(source: str, stub: str) -> str:
    """Replace the marked solution in a cell by a stub, or the whole cell where none is, as ClearSolutions does."""
    kept: list[str] = []
    inside = found = False
    for line in source.split("\n"):
        if "### BEGIN SOLUTION" in line:
            inside = found = True
            indent = re.match(r"\s*", line)
            kept.append((indent.group() if indent else "") + stub)
        elif "### END SOLUTION" in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept) if found else stub
