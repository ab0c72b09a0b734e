"""Runs the checks of one submission, outside the student's process, and decides the points.

A check cell runs here as it stands, statement by statement; only the student's functions are stand-ins. So what counts
as passed is decided by code that the student's process never holds, about values that came over as plain data.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType
from typing import Any

from course_utils.exercises import task as checks
from course_utils.exercises.outcome import Failure, Outcome
from course_utils.exercises.score import Score
from course_utils.grading.assignment import Part
from course_utils.grading.checking.session import Session
from course_utils.grading.result import CheckResult, Reason, TaskResult, weightiest
from course_utils.sandbox.connection import StudentGone
from course_utils.sandbox.reason import Ending

LONGEST_TITLE = 80
LONGEST_TEXT = 2000
LONGEST_MESSAGE = 400


@dataclass(frozen=True)
class _Statement:
    """One statement of a check cell, compiled.

    Args:
        code: what runs.
        text: its text.
        hidden: whether any of its lines is between the marks of hidden tests.
        is_value: whether it is an expression that ends the cell, as in a notebook.
    """

    code: CodeType
    text: str
    hidden: bool
    is_value: bool


@lru_cache(maxsize=64)
def statements_of(part: Part) -> tuple[_Statement, ...]:
    """Compile a check cell, once for all submissions."""
    body, where = ast.parse(part.source).body, f"<{part.grade_id}>"
    found = []
    for node in body:
        hidden = not part.hidden_lines.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1))
        is_value = node is body[-1] and isinstance(node, ast.Expr)
        code = (
            compile(ast.Expression(node.value), where, "eval")
            if node is body[-1] and isinstance(node, ast.Expr)
            else compile(ast.Module([node], []), where, "exec")
        )
        found.append(_Statement(code, ast.unparse(node), hidden, is_value))
    return tuple(found)


@dataclass
class _CheckCell:
    """What a check cell has done so far."""

    part: Part
    session: Session
    results: list[CheckResult] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    raised: str = ""
    begin: float = field(default_factory=time.monotonic)
    task: checks.Task | None = None
    value: Any = None
    hidden: bool = False

    def note(self, task: checks.Task, outcome: Outcome) -> None:
        """Keep the outcome of a check of a `Task`."""
        self.session.clock.stop()
        self.task = task
        if outcome.failure is Failure.RAISED and not self.hidden and all(result.passed for result in self.results):
            self.raised = outcome.yours[:LONGEST_MESSAGE]
        self.failures += [outcome.failure] if outcome.failure is not None else []
        self.add(outcome.title, outcome.passed, outcome.yours, outcome.expected)

    def add(self, title: str, passed: bool, yours: str, expected: str) -> None:
        """Keep the outcome of a check."""
        inside, self.session.measured_inside_now = self.session.measured_inside_now, False
        cut = slice(LONGEST_TEXT)
        self.results.append(CheckResult(title, passed, yours[cut], expected[cut], self.hidden, inside))

    def run(self) -> None:
        """Run the cell; its last expression is its value, as in a notebook.

        What stands below a hidden statement is hidden, too: what the process was given of hidden checks, it may show.
        """
        for statement in statements_of(self.part):
            self.hidden |= statement.hidden
            self.session.saw_hidden |= self.hidden
            self.session.show_output(not self.hidden)
            if statement.is_value:
                self.value = eval(statement.code, self.session.names)
            else:
                try:
                    exec(statement.code, self.session.names)
                except Exception as error:  # a plain `assert` of an exercise that does not use Task
                    title = "a hidden check" if self.hidden else statement.text[:LONGEST_TITLE]
                    self.add(title, False, f"{type(error).__name__}: {error}", "no error")
                    raise

    def points(self) -> float:
        """Return the points earned, as nbgrader counts them: the last expression, or all of them."""
        most = self.part.points
        if type(self.value) in (int, float, Score):
            return float(min(max(self.value, 0.0), most)) if math.isfinite(self.value) else 0.0
        if self.results:
            return most * sum(result.passed for result in self.results) / len(self.results)
        return most


def run_task(part: Part, session: Session, *, tries: int = 2) -> TaskResult:
    """Run one check cell.

    A fault in compiled code may be a library's, as `course_utils.sandbox.thread_pool` tells. So the cell is run once
    more before it loses its points.

    Args:
        part: the check cell, hidden tests included.
        session: the submission.
        tries: how often it is run while faults end the process.

    Returns:
        Its result. A student's process that dies, hangs or floods loses this task alone.
    """
    cell = _CheckCell(part, session)
    student_ids = session.assignment.ids_for(part)
    try:
        with collecting_outcomes(cell), contextlib.redirect_stdout(io.StringIO()):
            session.begin_task(part)
            with contextlib.suppress(Exception):
                cell.run()
            printed = session.printed()
            findings = session.examine_measuring()
    except StudentGone as gone:
        printed = session.printed()
        session.drop_process()
        session.ended = True
        if gone.ending is Ending.FAULT and tries > 1:
            return run_task(part, session, tries=tries - 1)
        reason = Reason.CRASHED if gone.ending is Ending.FAULT else Reason(gone.ending)
        return _result(cell, 0.0, reason, gone.message, printed)
    if findings.changes:
        session.drop_process()
        session.ended = True
        return _result(cell, 0.0, Reason.TAMPERED, f"what measures your code was changed: {findings.evidence}", printed)
    if student_ids and not any(grade_id in session.code for grade_id in student_ids):
        return _result(cell, 0.0, Reason.MISSING, f"the cell {student_ids[0]} is not in the notebook", printed)
    passed = all(result.passed for result in cell.results)
    points = cell.points() if cell.results or passed else 0.0
    reason, message = (Reason.OK, "") if passed else _explain(cell, student_ids)
    found = _result(cell, points, reason, message, printed)
    return replace(found, look_at=findings.look_at, witness=findings.witness)


@contextlib.contextmanager
def collecting_outcomes(cell: _CheckCell) -> Iterator[None]:
    """Collect the outcome of each check while a cell runs."""
    checks.listeners.append(cell.note)
    try:
        yield
    finally:
        cell.session.clock.stop()
        checks.listeners.remove(cell.note)
        checks.reports.clear()


def _explain(cell: _CheckCell, student_ids: tuple[str, ...]) -> tuple[Reason, str]:
    """Return why a task that ran did not pass."""
    if Failure.OUT_OF_MEMORY in cell.failures:
        return Reason.MEMORY, "your code asked for more memory than it may take"
    for grade_id in student_ids:
        error = cell.session.errors.get(grade_id)
        if error is not None:
            where = getattr(error, "cell_line", "")
            told = f"your cell raised {type(error).__name__}: {str(error)[:200]}"
            return Reason.RAISED, f"{told} ({where})" if where else told
    if set(cell.failures) == {Failure.NOT_WRITTEN}:
        return Reason.WRONG, "not written yet"
    return (Reason.RAISED, f"an error instead of an answer: {cell.raised}") if cell.raised else (Reason.WRONG, "")


def _error_kind(cell: _CheckCell) -> str:
    """Return the class of the exception that a cell of the task raised; empty when none did."""
    errors = (cell.session.errors.get(grade_id) for grade_id in cell.session.assignment.ids_for(cell.part))
    return next((type(error).__name__[:80] for error in errors if error is not None), "")


def _result(cell: _CheckCell, points: float, reason: Reason, message: str, printed: str) -> TaskResult:
    part = cell.part
    return TaskResult(
        grade_id=part.grade_id,
        name=cell.task.name if cell.task is not None else part.title,
        points=round(points, 2),
        max_points=part.points,
        reason=reason,
        message=message,
        error=_error_kind(cell) if reason is Reason.RAISED else "",
        checks=tuple(cell.results),
        printed=printed,
        hint="" if reason is Reason.OK else part.hint,
        seconds=round(time.monotonic() - cell.begin, 3),
    )


def _shows_values(task: TaskResult) -> bool:
    """Return whether a page would show something that the student's process chose."""
    return bool(task.printed or task.message or any(check.yours and not check.hidden for check in task.checks))


def _without_values(task: TaskResult) -> TaskResult:
    """Return a result without what the student's process chose to show."""
    message = "" if task.reason is Reason.RAISED else task.message
    return replace(task, printed="", message=message, checks=tuple(replace(check, yours="") for check in task.checks))


def run_all(session: Session) -> tuple[tuple[TaskResult, ...], Reason]:
    """Run every check cell of a submission.

    Returns:
        The tasks, and the weightiest reason of them.
    """
    tasks: list[TaskResult] = []
    suspects: set[str] = set()
    try:
        for part in session.assignment.checks:
            saw_hidden = session.saw_hidden
            task = run_task(part, session)
            if saw_hidden and not session.ended and _shows_values(task):
                # what code kept of an earlier task's hidden checks is gone with its process
                session.drop_process()
                again = run_task(part, session)
                # points that were earned stay where the second run took too long
                task = _without_values(task) if session.ended else again
                session.ended = False
            elif saw_hidden:
                task = _without_values(task)
            if session.ended and session.ended_in is not None and session.ended_in not in session.code:
                # a cell beside the tasks ended the process: the tasks do without it
                session.leave_out({session.ended_in})
                task = run_task(part, session)
            if session.ended and suspects:
                # what ended an earlier task runs again in each new process: try once more without those cells
                session.leave_out(suspects)
                suspects = set()
                task = run_task(part, session)
            if session.ended and not suspects and session.ended_in is not None:
                # the cell itself ends each process in which it runs
                session.leave_out({session.ended_in})
            elif session.ended:
                suspects |= set(session.assignment.ids_for(part))
            tasks.append(task)
    finally:
        session.drop_process()
    return tuple(tasks), weightiest([task.reason for task in tasks])
