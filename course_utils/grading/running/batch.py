"""Grade a class: what changed is graded, by one process or many; each student has a result and a row in the end.

A result is kept with the digest of all that decided it, so another run grades only what another digest has. An old
result never stands for a submission that is not graded yet: it is removed before the grading starts.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from course_utils.grading.course import Course
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, read_result
from course_utils.grading.running.job import Job
from course_utils.grading.running.pool import Answer, Pool, count_cores
from course_utils.grading.running.report import csv_text, report_rows, short_rows
from course_utils.grading.running.store import forget_result, load_result, store_result, write_text
from course_utils.grading.running.worker import ENGINE
from course_utils.grading.sinks import Sinks
from course_utils.reporting.progress_bar import BAR
from course_utils.reporting.results import TableResult
from course_utils.reporting.tables import text_table

REPORT = "report.csv"


class Executor(Protocol):
    """Runs jobs somewhere: `Pool` on this machine, `Cluster` on others."""

    def start(self, jobs: Sequence[Job]) -> None:
        """Start what runs these jobs, and return without waiting for it."""

    def run(self, jobs: Sequence[Job]) -> Generator[Answer]:
        """Run all jobs; yield an answer for each, in any order."""

    def stop(self) -> None:
        """End what was started."""


@dataclass(frozen=True)
class BatchOptions:
    """How a class is graded.

    Args:
        only: grade these students; the others keep their results where nothing changed. All when None.
        force: grade also what did not change.
        workers: how many processes; by default one for each core, and never more than there are jobs.
        grader_factory: the grader's class, as "module:Class".
        progress: show a progress bar with the time left on standard error, if that is a terminal.
    """

    only: Collection[str] | None = None
    force: bool = False
    workers: int | None = None
    grader_factory: str = ENGINE
    progress: bool = False


@dataclass(frozen=True)
class Batch(TableResult):
    """What came of a class.

    Args:
        assignment: the exercise's name.
        results: one for each student who has one, in the order of their ids.
        reused: how many of them are an earlier run's.
        waiting: the students who were not asked for, or whose turn did not come.
        stopped: whether Ctrl-C ended the run.
        remarks: what else to know, one sentence each, such as which manual grades were replaced.
    """

    assignment: str
    results: tuple[SubmissionResult, ...]
    reused: int = 0
    waiting: tuple[str, ...] = ()
    stopped: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know before using the points."""
        failed = sum(not result.graded for result in self.results)
        found = [f"{failed} of {len(self.results)} could not be graded"] if failed else []
        found += [f"{len(self.waiting)} not graded yet"] if self.waiting else []
        if any(result.sandbox.startswith("none") for result in self.results):
            found.append("graded without a sandbox (--unsafe)")
        late = sum(bool(result.late) for result in self.results)
        found += [f"{late} handed in late"] if late else []
        by_hand = [result.student for result in self.results if any(task.by_hand for task in result.tasks)]
        found += [f"points by hand count for {', '.join(by_hand[:5])}{', ...' * (len(by_hand) > 5)}"] if by_hand else []
        return (*found, *self.remarks)

    def title(self) -> str:
        """Return how many were graded, how many of them anew, in one line."""
        graded = sum(result.graded for result in self.results)
        new = len(self.results) - self.reused
        return f"{self.assignment}: {graded} of {len(self.results) + len(self.waiting)} graded, {new} in this run"

    def rows(self) -> list[list[str]]:
        """Return one short line for each student as text, the heading first."""
        return short_rows(self.results, self.waiting)

    def __str__(self) -> str:
        lines = text_table(self.rows(), indent="", fit=True)
        return "\n".join([*lines, self.title(), *(f"! {warning}" for warning in self.warnings)])


def grade_batch(
    course: Course,
    submissions: Sequence[Submission],
    folder: Path,
    options: BatchOptions | None = None,
    *,
    executor: Executor | None = None,
    sinks: Sinks | None = None,
) -> Batch:
    """Grade a class, store each result as soon as it is there, and write the report.

    Worker processes load the module that was started, so a script calls this below `if __name__ == "__main__":`.

    Args:
        course: the exercise, the limits and the versions.
        submissions: what was read, one for each student.
        folder: where results and the report go, such as graded/04_measuring_time.
        options: how to grade.
        executor: where jobs run; worker processes on this machine when None.
        sinks: get each result as soon as it is there; they are opened and closed here.

    Returns:
        The results. Ctrl-C ends the run early, keeps what is graded, and is reported in `stopped`.

    Raises:
        OSError: when results cannot be written.
    """
    options = options or BatchOptions()
    run = _Run(course, folder, options, sinks)
    chosen = executor or Pool(options.workers or count_cores(), options.grader_factory)
    try:
        stopped = run.grade(submissions, chosen)
        return run.finish(submissions, stopped=stopped)
    finally:
        chosen.stop()


@dataclass
class _Run:
    """A class while it is graded."""

    course: Course
    folder: Path
    options: BatchOptions
    sinks: Sinks | None
    done: dict[str, SubmissionResult] = field(default_factory=dict)
    waiting: list[Job] = field(default_factory=list)
    reused: int = 0
    delivered: dict[str, SubmissionResult] = field(default_factory=dict)

    def grade(self, submissions: Sequence[Submission], executor: Executor) -> bool:
        """Grade what is not known, and give the sinks each result as soon as it is there.

        Returns:
            Whether Ctrl-C ended it.
        """
        try:
            self.look_for_known(submissions)
            # workers load while the gradebook is opened
            executor.start(self.waiting)
            self.deliver()
            with closing(_answers(executor, self.waiting, progress=self.options.progress)) as answers:
                for answer in answers:
                    self.keep(self.result_of(answer))
                    self.deliver()
        except KeyboardInterrupt:
            return True
        finally:
            self.deliver()
            if self.sinks is not None:
                self.sinks.close()
        return False

    def look_for_known(self, submissions: Sequence[Submission]) -> None:
        """Take over the results that still hold, give those without a grade theirs, and list the rest."""
        for submission in submissions:
            digest = self.course.digest_of(submission)
            wanted = self.options.only is None or submission.student in self.options.only
            known = load_result(self.folder, submission.student)
            if known is not None and known.digest != digest:
                forget_result(self.folder, submission.student)
                known = None
            if known is not None and not (wanted and (self.options.force or known.reason is Reason.SANDBOX)):
                self.done[submission.student] = known
                self.reused += 1
            elif wanted and submission.reason in NOT_GRADED:
                reason, problem = submission.reason, submission.problem
                self.keep(self.course.without_grade(submission, reason, problem, digest=digest))
            elif wanted:
                self.waiting.append(Job(self.course, submission))

    def deliver(self) -> None:
        """Give the sinks what they have not got yet; the first call opens them."""
        if self.sinks is None:
            return
        self.sinks.open()
        for student in [student for student in self.done if student not in self.delivered]:
            self.delivered[student] = self.sinks.write(self.done[student])

    def keep(self, result: SubmissionResult) -> None:
        """Store a result."""
        store_result(self.folder, result)
        self.done[result.student] = result

    def result_of(self, answer: Answer) -> SubmissionResult:
        """Return the result in an answer, or one that says why there is none."""
        submission = answer.job.submission
        digest = self.course.digest_of(submission)
        if answer.line:
            result = read_result(answer.line)
            # without a grader there is no sandbox and no digest
            return result if result.digest else replace(result, digest=digest)
        message = f"{answer.problem}; nothing is known about the submission, grade it again"
        return self.course.without_grade(
            submission, Reason.SANDBOX, message, digest=digest, sandbox=self.course.sandbox
        )

    def finish(self, submissions: Sequence[Submission], *, stopped: bool) -> Batch:
        """Write the report."""
        counted = self.done | self.delivered
        results = tuple(counted[one.student] for one in submissions if one.student in counted)
        left = tuple(one.student for one in submissions if one.student not in self.done)
        write_text(self.folder, REPORT, csv_text(report_rows(results, left)))
        return Batch(self.course.name, results, self.reused, left, stopped)


def _answers(executor: Executor, jobs: Sequence[Job], *, progress: bool) -> Generator[Answer]:
    """Run what is waiting, with a progress bar where somebody is looking."""
    if not jobs:
        return
    from tqdm import tqdm

    quiet = not (progress and sys.stderr.isatty())
    with (
        closing(executor.run(jobs)) as answers,
        tqdm(total=len(jobs), bar_format=BAR, file=sys.stderr, disable=quiet, leave=False) as bar,
    ):
        for answer in answers:
            bar.update()
            yield answer
