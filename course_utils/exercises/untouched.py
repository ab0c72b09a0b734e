"""Whether nobody has written anything yet: then nothing has to run to know that no task is solved.

`course release` refuses an exercise whose untouched starter passes a check, so a notebook that still consists of
placeholders has no point.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_utils.exercises.notebook import Cell
from course_utils.exercises.outcome import Failure, Outcome, Report
from course_utils.exercises.runner import PracticeResult


def untouched_result(exercise: str, cells: Sequence[Cell]) -> PracticeResult | None:
    """Return what the checks would say where every answer is still a placeholder; None where one may not be.

    Args:
        exercise: the exercise's name.
        cells: the cells of the student's notebook.
    """
    answers = [cell for cell in cells if cell.kind == "code" and cell.solution]
    checks = [cell for cell in cells if cell.kind == "code" and cell.graded and not cell.solution]
    if not answers or not checks or not all(is_placeholder(cell.source) for cell in answers):
        return None
    outcome = Outcome("written", passed=False, yours="not written yet", failure=Failure.NOT_WRITTEN)
    tasks = tuple(Report(task_name(cell), 0.0, cell.points, (outcome,)) for cell in checks)
    return PracticeResult(exercise, tasks, errors=(), stopped=None, unchecked=())


def is_placeholder(source: str) -> bool:
    """Return whether a cell only defines functions that raise NotImplementedError and do nothing else.

    >>> is_placeholder("def f(x): raise NotImplementedError")
    True
    >>> is_placeholder("def f(x): return x")
    False
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return False
    defined = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)]
    return bool(defined) and all(_is_placeholder(each) for each in defined)


def _is_placeholder(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        inner = _without_docstring(statement.body)
        return bool(inner) and all(_is_placeholder(each) for each in inner)
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
        return False
    body = _without_docstring(statement.body)
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def task_name(check: Cell) -> str:
    """Return the name of a check cell's task as it stands in its code; the cell's id where it cannot be read."""
    try:
        calls = [node for node in ast.walk(ast.parse(check.source)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return check.grade_id or ""
    for call in calls:
        match call:
            case ast.Call(func=ast.Name(id="Task"), args=[ast.Constant(value=str() as name), *_]):
                return name
    return check.grade_id or ""
