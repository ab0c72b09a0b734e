"""What one submission earned: plain data that travels as JSON, with a reason for every lost point."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_utils.grading.assignment import Assignment


class Reason(StrEnum):
    """Why a task or a submission has the points it has."""

    OK = "ok"  # every check passed
    WRONG = "wrong"  # it ran, and a check did not pass
    RAISED = "raised"  # the cell of a task, or the first check that did not pass, raised an error
    TIMEOUT = "timeout"  # it ran past its wall time
    CRASHED = "crashed"  # the student's process ended by itself
    MEMORY = "memory"  # it took more memory than allowed
    OUTPUT = "output"  # it printed or returned more than allowed
    UNREADABLE = "unreadable"  # the file is not a notebook that can be read
    RENAMED = "renamed"  # graded; the notebook had another name, its cells were the exercise's
    DUPLICATE = "duplicate"  # graded; a cell was there several times, the last copy counted
    MISSING = "missing"  # nothing was handed in, or the cell of a task is not there
    UNWRITTEN = "unwritten"  # the cell of a task is as it was handed out
    WAITING = "waiting"  # a written answer that a person has not graded yet
    TAMPERED = "tampered"  # what measures inside the student's process was changed
    SANDBOX = "sandbox"  # the sandbox could not be started: nothing is known about the submission


# a submission with one of these has no grade; an old grade must not stand in for it
NOT_GRADED = frozenset({Reason.UNREADABLE, Reason.MISSING, Reason.SANDBOX})

# of several reasons the one that says most comes first
_WEIGHT = (
    Reason.SANDBOX,
    Reason.UNREADABLE,
    Reason.TAMPERED,
    Reason.MEMORY,
    Reason.OUTPUT,
    Reason.TIMEOUT,
    Reason.CRASHED,
    Reason.MISSING,
    Reason.RAISED,
    Reason.WRONG,
    Reason.UNWRITTEN,
    Reason.WAITING,
    Reason.DUPLICATE,
    Reason.RENAMED,
    Reason.OK,
)


@dataclass(frozen=True)
class CheckResult:
    """One check of a task, decided outside the student's process.

    Args:
        title: what was checked.
        passed: whether it held.
        yours: what the student's code gave, as text; empty when it passed.
        expected: what was expected, as text; empty when it passed. Not for the student where `hidden`.
        hidden: whether it is one of the hidden checks.
        measured_inside: whether the value was measured in the student's own process, such as a count on the emulated
            device; it could be forged, and was only checked for known ways of tampering.
    """

    title: str
    passed: bool
    yours: str = ""
    expected: str = ""
    hidden: bool = False
    measured_inside: bool = False


@dataclass(frozen=True)
class TaskResult:
    """One task: the points of one check cell.

    Args:
        grade_id: the check cell's nbgrader id, such as "ex04-task1-check".
        name: the task's name, such as "4.1 Median and spread".
        points: points that the checks gave.
        max_points: points it is worth.
        reason: ok, wrong, unwritten, timeout, crashed, memory, output, missing, tampered or waiting.
        message: one sentence for the student, empty when all is well.
        error: the class of the exception that the student's cell raised, such as "SyntaxError"; empty when none.
        checks: the checks that ran, in order.
        printed: the end of what the student's code printed, cut to a stated size.
        hint: the exercise's first hint for this task, as plain text; empty when there is none.
        seconds: wall time of the task.
        manual_points: the points that a person gave in place of those of the checks; None where nobody did.
        extra_points: extra credit that a person gave.
        comment: what a person wrote.
        look_at: what an instructor should look at, in one sentence; it cost no points. Empty when there is nothing.
        witness: what a second, independent witness saw of what was measured inside; empty where there is none.
    """

    grade_id: str
    name: str
    points: float
    max_points: float
    reason: Reason
    message: str = ""
    checks: tuple[CheckResult, ...] = ()
    printed: str = ""
    hint: str = ""
    seconds: float = 0.0
    manual_points: float | None = None
    extra_points: float = 0.0
    comment: str = ""
    error: str = ""
    look_at: str = ""
    witness: str = ""

    @property
    def counted_points(self) -> float:
        """The points that count: a person's where there are any, else those of the checks; extra credit is added."""
        return (self.points if self.manual_points is None else self.manual_points) + self.extra_points

    @property
    def by_hand(self) -> str:
        """What a person changed, such as "1 of 3 points, changed by hand (checks: 3)"; empty when nothing."""
        if self.manual_points is None and not self.extra_points:
            return ""
        return f"{self.counted_points:g} of {self.max_points:g} points, changed by hand (checks: {self.points:g})"


@dataclass(frozen=True)
class SubmissionResult:
    """One submission of one student.

    Args:
        assignment: the exercise's name, such as "04_measuring_time".
        student: the student's id.
        tasks: one result for each check cell of the assignment, in order, graded or not.
        reason: the weightiest reason of its tasks, or why it could not be graded.
        notes: what the reader noticed, one sentence each (renamed, Latin-1, a duplicate cell, ...).
        digest: the content hash of submission, tests and limits; the same digest means the same result.
        sandbox: what isolated the student's code: "bubblewrap", "sandbox-exec" or "none (--unsafe)".
        seconds: wall time of the whole submission.
        late: when it was handed in and when it was due, where that was later; else empty. No points are taken for it.
        remarks: what to know about its manual grades, one sentence each.
    """

    assignment: str
    student: str
    tasks: tuple[TaskResult, ...]
    reason: Reason
    notes: tuple[str, ...] = ()
    digest: str = ""
    sandbox: str = ""
    seconds: float = 0.0
    late: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def graded(self) -> bool:
        """Whether the points mean anything; False when the submission could not be run at all and nobody graded it."""
        if any(task.manual_points is not None for task in self.tasks):
            return True
        if self.reason is Reason.MISSING:  # of a single task, or of all of them
            return any(task.reason not in NOT_GRADED | {Reason.WAITING} for task in self.tasks)
        return self.reason not in NOT_GRADED

    @property
    def points(self) -> float:
        """Points that count, over all tasks."""
        return round(sum(task.counted_points for task in self.tasks), 2)

    @property
    def max_points(self) -> float:
        """Points to be had, over all tasks."""
        return sum(task.max_points for task in self.tasks)

    @property
    def look_at(self) -> tuple[str, ...]:
        """What an instructor should look at, one sentence for each task; it cost no points."""
        return tuple(f"look at {task.name}: {task.look_at}" for task in self.tasks if task.look_at)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader of this result should know about how it came about."""
        unsafe = ("graded without a sandbox (--unsafe)",) if self.sandbox.startswith("none") else ()
        changed = tuple(f"{task.name}: {task.by_hand}" for task in self.tasks if task.by_hand)
        return (*filter(None, (self.late,)), *self.notes, *changed, *self.remarks, *unsafe)

    def to_json(self) -> str:
        """Return the result as one line of JSON."""
        return json.dumps(asdict(self))


def read_result(text: str) -> SubmissionResult:
    """Read a result that `to_json` wrote.

    Raises:
        ValueError: when the text is not such a result.
    """
    try:
        content: dict[str, Any] = json.loads(text)
        tasks = tuple(_read_task(task) for task in content.pop("tasks"))
        reason = Reason(content.pop("reason"))
        notes, remarks = (tuple(content.pop(name, ())) for name in ("notes", "remarks"))
        return SubmissionResult(tasks=tasks, reason=reason, notes=notes, remarks=remarks, **content)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is not a result of the grader: {error}") from error


def _read_task(task: dict[str, Any]) -> TaskResult:
    checks = tuple(CheckResult(**check) for check in task.pop("checks"))
    return TaskResult(checks=checks, reason=Reason(task.pop("reason")), **task)


def tasks_without_points(assignment: Assignment, reason: Reason, message: str) -> tuple[TaskResult, ...]:
    """Return the tasks of a submission that was not run: no points, the reason and the message at each."""
    return tuple(TaskResult(part.grade_id, part.title, 0.0, part.points, reason, message) for part in assignment.checks)


def weightiest(reasons: list[Reason]) -> Reason:
    """Return the reason that says most; `ok` when there is none."""
    return min(reasons, key=_WEIGHT.index, default=Reason.OK)
