"""Merge what people entered in formgrader into results: a person's points and comments are the grade everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from course_utils.grading.assignment import Assignment
from course_utils.grading.books.manual_grades import ManualGrade, ManualGrades
from course_utils.grading.result import Reason, SubmissionResult, TaskResult


def apply_manual_grades(result: SubmissionResult, assignment: Assignment, grades: ManualGrades) -> SubmissionResult:
    """Return a result with a person's points and comments in it, and with the cells that a person grades alone.

    Args:
        result: what the checks gave.
        assignment: the exercise.
        grades: what a person entered for this submission.
    """
    comments = _comments_by_check(assignment, grades)
    tasks = [_apply(task, grades.get(task.grade_id, ManualGrade()), comments) for task in result.tasks]
    known = {task.grade_id for task in tasks}
    for name, points in assignment.read_by_people.items():
        if name not in known:
            grade = grades.get(name, ManualGrade())
            reason = Reason.WAITING if grade.points is None else Reason.OK
            tasks.append(_apply(TaskResult(name, name, 0.0, points, reason), grade, comments))
    return replace(result, tasks=tuple(tasks))


def _apply(task: TaskResult, grade: ManualGrade, comments: Mapping[str, str]) -> TaskResult:
    comment = "\n".join(filter(None, (comments.get(task.grade_id), grade.comment)))
    return replace(task, manual_points=grade.points, extra_points=grade.extra, comment=comment)


def _comments_by_check(assignment: Assignment, grades: ManualGrades) -> dict[str, str]:
    """Return the comments on cells that students write, by the check that gives their points.

    nbgrader keeps comments at the cell that the student wrote, and points at the check below it.
    """
    found: dict[str, str] = {}
    for check in assignment.checks:
        texts = [grades[one].comment for one in assignment.ids_for(check) if one in grades and grades[one].comment]
        if texts:
            found[check.grade_id] = "\n".join(texts)
    return found
