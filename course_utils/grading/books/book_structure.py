"""The exercise itself in nbgrader's gradebook: its notebook and its cells, made or brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.grading.books.database_url import GradebookError
from course_utils.grading.books.nbgrader_cells import BookCell, BookNotebook


@dataclass(frozen=True)
class Structure:
    """Where an exercise is in the gradebook.

    Args:
        assignment_id: the assignment's row.
        notebook_id: the notebook's row.
        graded: the rows of the cells that have points, by grade_id.
        commented: the rows of the cells that a person may comment on.
        checked: the grade_ids of the cells that the grader gives points for.
    """

    assignment_id: str
    notebook_id: str
    graded: dict[str, str]
    commented: tuple[str, ...]
    checked: frozenset[str]


def store_structure(api: Any, session: Any, notebook: BookNotebook, name: str, course_id: str) -> Structure:
    """Make the exercise's rows, or bring them up to date; the caller commits.

    Args:
        api: the module nbgrader.api.
        session: the gradebook's session.
        notebook: the instructor's notebook.
        name: the exercise's name.
        course_id: the course, which has to be there.

    Raises:
        GradebookError: when a cell is gone from the notebook that a person gave scores or comments for.
    """
    assignment = session.query(api.Assignment).filter_by(name=name).one_or_none()
    if assignment is None:
        assignment = api.Assignment(name=name, course_id=course_id)
        session.add(assignment)
        session.flush()
    stored = session.query(api.Notebook).filter_by(name=name, assignment_id=assignment.id).one_or_none()
    if stored is None:
        stored = api.Notebook(name=name, assignment_id=assignment.id)
        session.add(stored)
    stored.kernelspec = notebook.kernelspec
    session.flush()
    grades = _store_cells(api, session, api.GradeCell, stored.id, [cell for cell in notebook.cells if cell.grade])
    solutions = _store_cells(api, session, api.SolutionCell, stored.id, [c for c in notebook.cells if c.solution])
    tasks = _store_cells(api, session, api.TaskCell, stored.id, [cell for cell in notebook.cells if cell.task])
    _store_sources(api, session, stored.id, notebook.cells)
    _add_missing_grades(api, session, stored.id, grades | tasks)
    return Structure(
        assignment_id=assignment.id,
        notebook_id=stored.id,
        graded=grades | tasks,
        commented=(*solutions.values(), *tasks.values()),
        checked=frozenset(cell.name for cell in notebook.cells if cell.checked),
    )


def _store_cells(api: Any, session: Any, kind: Any, notebook_id: str, cells: Sequence[BookCell]) -> dict[str, str]:
    """Make the rows of one kind of cell the notebook's; return them by grade_id."""
    stored = {row.name: row for row in session.query(kind).filter_by(notebook_id=notebook_id)}
    for gone in stored.keys() - {cell.name for cell in cells}:
        _remove_cell(api, session, stored.pop(gone))
    for cell in cells:
        row = stored.get(cell.name)
        if row is None:
            row = stored[cell.name] = kind(name=cell.name, notebook_id=notebook_id)
            session.add(row)
        if kind is not api.SolutionCell:
            row.max_score, row.cell_type = cell.points, cell.cell_type
    session.flush()
    return {cell.name: stored[cell.name].id for cell in cells}


def _remove_cell(api: Any, session: Any, row: Any) -> None:
    """Remove a cell that the notebook has no more, with what the grader wrote for it.

    nbgrader would count its points for the class as long as it is there.
    """
    grades = session.query(api.Grade).filter_by(cell_id=row.id).all()
    comments = session.query(api.Comment).filter_by(cell_id=row.id).all()
    by_hand = any(grade.manual_score is not None or grade.extra_credit for grade in grades)
    if by_hand or any(comment.manual_comment for comment in comments):
        raise GradebookError(
            f"the instructor's notebook has no cell {row.name!r} any more, and the gradebook has scores or comments "
            "for it that a person gave; put the cell back, or clear them in formgrader, and write again"
        )
    for one in (*grades, *comments):
        session.delete(one)
    session.flush()
    session.delete(row)
    session.flush()


def _store_sources(api: Any, session: Any, notebook_id: str, cells: Sequence[BookCell]) -> None:
    stored = {row.name: row for row in session.query(api.SourceCell).filter_by(notebook_id=notebook_id)}
    for gone in stored.keys() - {cell.name for cell in cells}:
        session.delete(stored[gone])
    for cell in cells:
        row = stored.get(cell.name)
        if row is None:
            row = api.SourceCell(name=cell.name, notebook_id=notebook_id)
            session.add(row)
        row.cell_type, row.locked, row.source, row.checksum = cell.cell_type, cell.locked, cell.source, cell.checksum
    session.flush()


def _add_missing_grades(api: Any, session: Any, notebook_id: str, graded: dict[str, str]) -> None:
    """Give earlier submissions an open grade for each new cell, so that their points are not taken as complete."""
    submitted = session.query(api.SubmittedNotebook.id).filter_by(notebook_id=notebook_id).all()
    pairs = session.query(api.Grade.notebook_id, api.Grade.cell_id).join(
        api.SubmittedNotebook, api.SubmittedNotebook.id == api.Grade.notebook_id
    )
    there = set(map(tuple, pairs.filter(api.SubmittedNotebook.notebook_id == notebook_id)))
    for (submitted_id,) in submitted:
        for cell_id in graded.values():
            if (submitted_id, cell_id) not in there:
                session.add(api.Grade(cell_id=cell_id, notebook_id=submitted_id))
    session.flush()
