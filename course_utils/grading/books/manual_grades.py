"""What people entered in formgrader: manual points, extra credit and comments, read from nbgrader's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# the tables of nbgrader 0.9, which its alembic revisions keep
_GRADES = """
SELECT submitted_assignment.student_id, base_cell.name, grade.manual_score, grade.extra_credit
FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
JOIN assignment ON assignment.id = submitted_assignment.assignment_id
WHERE assignment.name = :name AND (grade.manual_score IS NOT NULL OR grade.extra_credit IS NOT NULL)
"""
_COMMENTS = """
SELECT submitted_assignment.student_id, base_cell.name, comment.manual_comment
FROM comment
JOIN base_cell ON base_cell.id = comment.cell_id
JOIN submitted_notebook ON submitted_notebook.id = comment.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
JOIN assignment ON assignment.id = submitted_assignment.assignment_id
WHERE assignment.name = :name AND comment.manual_comment IS NOT NULL
"""


@dataclass(frozen=True)
class ManualGrade:
    """What a person entered for one cell of one submission.

    Args:
        points: the points that count in place of the automatic ones; None where the person gave none.
        extra: extra credit, which is added.
        comment: what the person wrote; empty when nothing.
    """

    points: float | None = None
    extra: float = 0.0
    comment: str = ""


ManualGrades = Mapping[str, ManualGrade]  # by grade_id


def read_manual_grades(connection: Any, name: str, student: str | None = None) -> dict[str, dict[str, ManualGrade]]:
    """Read what people entered for one exercise.

    Args:
        connection: an open connection or session of SQLAlchemy.
        name: the exercise's name.
        student: read this student's alone; everybody's when None.

    Returns:
        By the student's id and the cell's grade_id.
    """
    from sqlalchemy import text

    where = "" if student is None else " AND submitted_assignment.student_id = :student"
    values = {"name": name} if student is None else {"name": name, "student": student}
    found: dict[str, dict[str, ManualGrade]] = {}
    for who, cell, points, extra in connection.execute(text(_GRADES + where), values):
        found.setdefault(who, {})[cell] = ManualGrade(points, float(extra or 0.0))
    for who, cell, comment in connection.execute(text(_COMMENTS + where), values):
        if comment.strip():
            grades = found.setdefault(who, {})
            before = grades.get(cell, ManualGrade())
            grades[cell] = ManualGrade(before.points, before.extra, comment.strip())
    return found
