"""The grader of one exercise: keeps a warm sandbox, and turns one submission after the other into a result."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from course_utils.grading.assignment import Assignment, Kind, modules_of
from course_utils.grading.checking.driver import run_all, run_task
from course_utils.grading.checking.session import Session
from course_utils.grading.checking.student_client import StudentClient
from course_utils.grading.checking.tampering import DIGEST, HELD, MODULES, WATCHED, Digest, Untouched
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, tasks_without_points, weightiest
from course_utils.sandbox.connection import StudentGone
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.sandbox import Sandbox, SandboxError, choose_sandbox
from course_utils.sandbox.shared_template import LentTemplate, SharedTemplate
from course_utils.sandbox.starters import Starter, make_starter
from course_utils.sandbox.template import load_all

if TYPE_CHECKING:
    from course_utils.grading.reading.submission import Submission

LOADED_MODULES = """
import sys

def compute(nothing):
    return sorted(name for name in sys.modules if not name.startswith(("_", "exercise")))
"""


class Grader:
    """Grades submissions of one exercise, one after the other.

    Args:
        assignment: the exercise.
        limits: what a submission may take.
        unsafe: run student code without a sandbox, with the rights of whoever grades.
        inside: the sandbox that this process is in itself, and the template there; None when it starts one.

    Attributes:
        sandbox: the sandbox's name.
        model: what the model solution earns on this machine; anything but full points is the exercise's fault.

    Raises:
        SandboxError: when student code cannot be shut in and `unsafe` is False.
    """

    def __init__(
        self,
        assignment: Assignment,
        limits: Limits,
        *,
        unsafe: bool = False,
        inside: tuple[Sandbox, LentTemplate] | None = None,
    ) -> None:
        self.assignment = assignment
        self.limits = limits
        self._untouched: Untouched | None = None
        self._digest: Digest | None = None
        self._template: LentTemplate | None = None
        self._modules = modules_of(assignment)
        self._lent = inside is not None
        with ExitStack() as started:
            if inside is not None:
                self._chosen, template = inside
                self._template = started.enter_context(closing(template))
            else:
                folder = tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True)
                self._chosen = choose_sandbox(started.enter_context(folder), unsafe=unsafe)
            self.sandbox = self._chosen.name
            self._forked = self._chosen.forks
            if self._forked and self._template is None:
                self._template = started.enter_context(closing(SharedTemplate(self._chosen, self._modules)))
            # the template loads its libraries at the same time
            load_all(self._modules)
            self._connect(started)
            self.model = self._rehearse()
            if self._forked:
                # from here on submissions are forks of a template that has loaded what the rehearsal needed
                self._connect(started)
            self._untouched = self._look_at_untouched()
            # from here on `close` ends what was started
            self._started = started.pop_all()

    def __enter__(self) -> Grader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox."""
        self._started.close()

    def after_fork(self) -> None:
        """Get a way of its own to the template, in a process that was forked from the one that started the grader."""
        self._started.pop_all()
        if self._template is not None:
            self._connect(self._started)

    def _connect(self, started: ExitStack) -> None:
        """Make the starter of submissions, which is closed with what was started."""
        self._starter = started.enter_context(closing(self._new_starter()))

    def _new_starter(self) -> Starter:
        control = self._template.connect() if self._template is not None else None
        starter = make_starter(self._chosen, self._modules, control, self._template if self._lent else None)
        if control is not None:
            # no submission's time goes by while the template is still loading, or forks
            starter.warm(())
        return starter

    def grade(self, submission: Submission) -> SubmissionResult:
        """Grade one submission; nothing that a student wrote makes this raise.

        Args:
            submission: what was read of it.

        Returns:
            Its result, without a digest.
        """
        begin = time.monotonic()
        result = SubmissionResult(
            self.assignment.name, submission.student, (), Reason.OK, tuple(submission.notes), sandbox=self.sandbox
        )
        if submission.reason in NOT_GRADED:
            return replace(
                result,
                tasks=tasks_without_points(self.assignment, submission.reason, submission.problem),
                reason=submission.reason,
            )
        session = self._new_session(submission.code, submission.own)
        try:
            tasks, reason = run_all(session)
        except SandboxError as error:
            session.drop_process()
            tasks, reason = tasks_without_points(self.assignment, Reason.SANDBOX, str(error)), Reason.SANDBOX
        read = [submission.reason] if submission.reason is not None else []
        seconds = round(time.monotonic() - begin, 3)
        return replace(result, tasks=tasks, reason=weightiest([reason, *read]), seconds=seconds)

    def _rehearse(self) -> SubmissionResult:
        """Grade the model solution once, and load into the template what it turned out to need.

        Its process ends with it; the template only learns the names of modules.
        """
        model = {part.grade_id: part.source for part in self.assignment.parts if part.kind is Kind.STUDENT}
        session = self._new_session(model)
        loaded: list[str] = []
        try:
            tasks = tuple(run_task(part, session) for part in self.assignment.checks)
            with suppress(StudentGone):
                loaded = session.client().compute(LOADED_MODULES, None)
        finally:
            session.drop_process()
        self._modules = (*self._modules, *loaded)
        if self._template is not None:
            self._template.warm(loaded, pinned=WATCHED)
        else:
            self._starter.warm(loaded)
        return SubmissionResult(self.assignment.name, "model solution", tasks, weightiest([t.reason for t in tasks]))

    def _look_at_untouched(self) -> Untouched | None:
        """Look at the measuring functions of a process that holds no student code, where something measures there."""
        if not any("in_student_process" in part.source for part in self.assignment.parts):
            return None
        if not self._forked:
            self._untouched_digest()
            return Untouched(self._untouched_digest)
        with self._without_student_code(self._starter) as client:
            modules = client.compute(MODULES, list(WATCHED))
            held, _ = client.compute(HELD, [modules, [False, True], []])
        return Untouched(self._untouched_digest, tuple(modules), tuple(held))

    def _untouched_digest(self) -> Digest:
        """Return the digest of the measuring functions in a process that holds no student code; it is taken once."""
        if self._digest is None:
            with ExitStack() as own, self._without_student_code(self._idle_starter(own)) as client:
                rows, _ = client.compute(DIGEST, [self._forked, list(WATCHED), []])
                _, texts = client.compute(DIGEST, [self._forked, list(WATCHED), list(rows)])
            self._digest = Digest(rows, texts)
        return self._digest

    def _idle_starter(self, own: ExitStack) -> Starter:
        # a starter has one process at a time, and between forks that may be a submission's by now
        return own.enter_context(closing(self._new_starter())) if self._forked else self._starter

    @contextmanager
    def _without_student_code(self, starter: Starter) -> Iterator[StudentClient]:
        """Start a process, and end it afterwards.

        Raises:
            SandboxError: when there is none, or it ends before.
        """
        try:
            with closing(starter.start(self.limits)) as connection:
                yield StudentClient(connection, self.limits, {})
        except StudentGone as gone:
            raise SandboxError(f"no process for student code: {gone.message}") from None

    def _new_session(
        self, code: Mapping[str, str], own: Mapping[str, Sequence[Sequence[str]]] | None = None
    ) -> Session:
        return Session(
            self.assignment,
            code,
            self.limits,
            self._starter.start,
            forked=self._forked,
            untouched=self._untouched,
            own=own or {},
        )
