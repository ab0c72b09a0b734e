"""What nbgrader's gradebook holds of an instructor's notebook, as `nbgrader generate_assignment` stores it.

Read without nbgrader and nbformat, so that it costs nothing; a test compares it with nbgrader's own tables.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from course_utils.exercises.markers import Marker, find_regions, replace_regions
from course_utils.exercises.notebook import Cell, read_cell
from course_utils.grading.assignment import Assignment

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


def book_notebook(assignment: Assignment) -> BookNotebook:
    """Return an instructor's notebook as the gradebook holds it.

    Raises:
        ValueError: when a cell lacks what nbgrader needs, or a grade_id repeats; the message says which.
    """
    metadata = assignment.notebook.get("metadata")
    kernelspec = metadata.get("kernelspec", {}) if isinstance(metadata, dict) else {}
    read = [read_cell(number, cell) for number, cell in enumerate(assignment.notebook["cells"], start=1)]
    cells = [_book_cell(cell) for cell in read if cell.graded or cell.solution or cell.task or cell.locked]
    if not all(cell.name for cell in cells):
        raise ValueError(f"exercise {assignment.name} has a cell with nbgrader's metadata and no grade_id; give it one")
    names = [cell.name for cell in cells]
    repeated = sorted({one for one in names if names.count(one) > 1})
    if repeated:
        raise ValueError(f"exercise {assignment.name} has {repeated[0]!r} twice; every grade_id has to be there once")
    return BookNotebook(json.dumps(kernelspec), tuple(cells))


def _book_cell(cell: Cell) -> BookCell:
    # a cell that a student writes is never restored, one that gives points always is
    locked = not cell.solution and (cell.graded or cell.locked)
    stub = CODE_STUB if cell.kind == "code" else TEXT_STUB
    source = without_solution(cell.source, stub) if cell.solution else cell.source
    points = cell.points if cell.graded or cell.task else 0.0
    name = cell.grade_id or ""
    # nbgrader computes none for a task cell
    flags = [str(cell.graded), str(cell.solution), str(locked)]
    hashed = [source, cell.kind, *flags, name, *([str(points)] if cell.graded else [])]
    checksum = hashlib.md5("".join(hashed).encode(), usedforsecurity=False).hexdigest()
    known = checksum if cell.graded or cell.solution or locked else None
    return BookCell(name, cell.kind, cell.graded, cell.solution, cell.task, locked, points, source, known)


def without_solution(source: str, stub: str) -> str:
    """Replace the marked solution in a cell by a stub, or the whole cell where none is, as ClearSolutions does."""
    return replace_regions(source, {Marker.SOLUTION: stub}) if find_regions(source, Marker.SOLUTION) else stub
