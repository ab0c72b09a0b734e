"""What a worker does, on this machine or another: keep one grader warm, take jobs as bytes, answer in lines of JSON."""

from __future__ import annotations

import importlib
from dataclasses import replace
from types import TracebackType
from typing import Protocol

from course_utils.grading.assignment import Assignment
from course_utils.grading.course import Course
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, weightiest
from course_utils.grading.running.job import read_job
from course_utils.reporting.error_text import first_line
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.sandbox import Sandbox, SandboxError
from course_utils.sandbox.shared_template import LentTemplate

ENGINE = "course_utils.grading.checking.engine:Grader"


class GraderLike(Protocol):
    """What grades the submissions of one exercise, such as `course_utils.grading.checking.engine.Grader`.

    Attributes:
        sandbox: the sandbox's name.
        model: what the model solution earns on this machine.
    """

    sandbox: str
    model: SubmissionResult

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the sandbox."""

    def grade(self, submission: Submission) -> SubmissionResult:
        """Grade one submission."""

    def after_fork(self) -> None:
        """Become independent of the process that this one was forked from."""


class GraderHolder:
    """Holds the grader of the exercise that came last, since starting one takes seconds; not for several threads.

    Args:
        factory: where the grader's class is, as "module:Class".
        inside: the sandbox that this process is in itself, and the template there, for the one grader that it has.
    """

    def __init__(self, factory: str = ENGINE, inside: tuple[Sandbox, LentTemplate] | None = None) -> None:
        self.factory = factory
        self._inside = {} if inside is None else {"inside": inside}
        self._key: tuple[str, Limits, bool] | None = None
        self._grader: GraderLike | None = None
        self._failure = ""

    def __enter__(self) -> GraderHolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def after_fork(self) -> None:
        """Make the grader this process's own, in a fork of the process that started it."""
        if self._grader is not None:
            self._grader.after_fork()

    def close(self) -> None:
        """End the grader."""
        grader, self._grader, self._key = self._grader, None, None
        if grader is not None:
            grader.__exit__(None, None, None)

    def grader_for(self, course: Course) -> tuple[GraderLike | None, str]:
        """Return the grader of a course, or why there is none; one that did not start once is not tried again."""
        key = (course.assignment.digest, course.limits, course.unsafe)
        if key != self._key:
            self.close()
            self._key, self._failure = key, ""
            module, _, name = self.factory.partition(":")
            try:
                make = getattr(importlib.import_module(module), name)
                self._grader = make(course.assignment, course.limits, unsafe=course.unsafe, **self._inside).__enter__()
            except SandboxError as error:
                self._failure = str(error)
            except Exception as error:  # the instructor's given cells
                self._failure = first_line(error)
        return self._grader, self._failure


def run_job(data: bytes, holder: GraderHolder) -> str:
    """Grade one job.

    Args:
        data: a job, as `Job.to_bytes` writes it.
        holder: holds the grader.

    Returns:
        The result as one line of JSON.
    """
    job = read_job(data)
    return grade(job.course, job.submission, holder).to_json()


def grade(course: Course, submission: Submission, holder: GraderHolder) -> SubmissionResult:
    """Grade one submission. The grader's own failure is a result, too: nothing is known of the submission.

    Args:
        course: the exercise and what a submission may take.
        submission: what was read of it.
        holder: holds the grader.
    """
    if submission.reason in NOT_GRADED:
        return course.without_grade(submission, submission.reason, submission.problem)
    grader, failure = holder.grader_for(course)
    if grader is None:
        return course.without_grade(submission, Reason.SANDBOX, failure)
    digest = course.in_sandbox(grader.sandbox).digest_of(submission)
    try:
        result = grader.grade(submission)
    except Exception as error:  # the grader's own mistake; the next job gets a new grader
        holder.close()
        message = f"the grader itself failed: {first_line(error)}"
        return course.without_grade(submission, Reason.SANDBOX, message, digest=digest, sandbox=grader.sandbox)
    result = replace(result, digest=digest, notes=result.notes + model_warnings(grader.model))
    return mark_unwritten(result, submission, course.assignment)


def model_warnings(model: SubmissionResult) -> tuple[str, ...]:
    """Return what every result carries where the model solution itself does not earn all points."""
    if model.points >= model.max_points:
        return ()
    return (
        f"the model solution earns {model.points:g} of {model.max_points:g} points on this machine, so lost points may "
        "be the exercise's fault",
    )


def mark_unwritten(result: SubmissionResult, submission: Submission, assignment: Assignment) -> SubmissionResult:
    """Return a result in which failed tasks whose cells are as they were handed out have the reason "unwritten"."""
    failed = (Reason.WRONG, Reason.RAISED)
    untouched = set(submission.untouched)
    ids = {check.grade_id: set(assignment.ids_for(check)) for check in assignment.checks}
    tasks = tuple(
        replace(task, reason=Reason.UNWRITTEN, message="")
        if task.reason in failed and ids[task.grade_id] and ids[task.grade_id] <= untouched
        else task
        for task in result.tasks
    )
    if result.reason not in failed:
        return replace(result, tasks=tasks)
    return replace(result, tasks=tasks, reason=weightiest([task.reason for task in tasks]))
