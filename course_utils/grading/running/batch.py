"""Grade a class: what changed is graded, by one process or many; each student has a result and a row, come what may.

A result is kept with the digest of all that decided it, so another run grades only what another digest has. An old
result never stands for a submission that is not graded yet: it is removed before the grading starts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from course_utils.grading.assignment import Assignment, read_assignment
from course_utils.grading.reading.collect import Collected
from course_utils.grading.reading.handed_in import CannotReadError
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, read_result
from course_utils.grading.running.job import Job, Surroundings, digest_of, result_without_grade, submission_of
from course_utils.grading.running.pool import Answer, Pool, count_cores
from course_utils.grading.running.report import csv_text, report_rows, short_rows
from course_utils.grading.running.store import forget_result, load_result, store_result, write_text
from course_utils.grading.running.worker import ENGINE
from course_utils.reporting.results import TableResult
from course_utils.reporting.tables import text_table
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.sandbox import SandboxError

REPORT = "report.csv"


@dataclass(frozen=True)
class Waiting:
    """A submission that has to be graded.

    Args:
        row: what was collected.
        submission: what was read of it.
        digest: the digest that its result should have.
    """

    row: Collected
    submission: Submission
    digest: str


class Runner(Protocol):
    """Runs jobs somewhere: `Pool` on this machine, `Cluster` on others."""

    def run(self, items: Sequence[Waiting], load: Callable[[Waiting], Job]) -> Generator[Answer[Waiting]]:
        """Run all items; yield an answer for each, in any order."""


@dataclass(frozen=True)
class Batch(TableResult):
    """What came of a class.

    Args:
        assignment: the exercise's name.
        results: one for each student who has one, in the order of their ids.
        reused: how many of them are an earlier run's.
        waiting: the students who were not asked for, or whose turn did not come.
        stopped: whether Ctrl-C ended the run.
    """

    assignment: str
    results: tuple[SubmissionResult, ...]
    reused: int = 0
    waiting: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know before using the points."""
        failed = sum(not result.graded for result in self.results)
        found = [f"{failed} of {len(self.results)} could not be graded"] if failed else []
        found += [f"{len(self.waiting)} not graded yet"] if self.waiting else []
        if any(result.sandbox.startswith("none") for result in self.results):
            found.append("graded without a sandbox (--unsafe)")
        return tuple(found)

    def title(self) -> str:
        """Return how many were graded, how many of them anew, in one line."""
        graded = sum(result.graded for result in self.results)
        new = len(self.results) - self.reused
        return f"{self.assignment}: {graded} of {len(self.results) + len(self.waiting)} graded, {new} in this run"

    def rows(self) -> list[list[str]]:
        """Return one short line for each student as text, the heading first."""
        return short_rows(self.results, self.waiting)

    def __str__(self) -> str:
        lines = text_table(self.rows(), indent="")
        return "\n".join([*lines, self.title(), *(f"! {warning}" for warning in self.warnings)])


def grade_batch(
    source: bytes,
    name: str,
    rows: Sequence[Collected],
    folder: Path,
    *,
    surroundings: Surroundings,
    limits: Limits | None = None,
    only: Collection[str] | None = None,
    force: bool = False,
    unsafe: bool = False,
    runner: Runner | None = None,
    workers: int | None = None,
    grader_factory: str = ENGINE,
    progress: bool = False,
) -> Batch:
    """Grade a class, store each result as soon as it is there, and write the report.

    Worker processes load the module that was started, so a script calls this below `if __name__ == "__main__":`.

    Args:
        source: the instructor's notebook.
        name: the exercise's name.
        rows: what was collected, one for each student.
        folder: where results and the report go, such as graded/04_measuring_time.
        surroundings: what results depend on beside the jobs, where they are graded.
        limits: what a submission may take; the defaults when None.
        only: grade these students; the others keep their results where nothing changed. All when None.
        force: grade also what did not change.
        unsafe: run student code without a sandbox.
        runner: where jobs run; worker processes on this machine when None.
        workers: how many processes; by default one for each core, and never more than there are jobs.
        grader_factory: the grader's class, as "module:Class".
        progress: show a progress bar with the time left on standard error, if that is a terminal.

    Returns:
        The results. Ctrl-C ends the run early, keeps what is graded, and is reported in `stopped`.

    Raises:
        ValueError: when the instructor's notebook cannot be used.
        OSError: when results cannot be written.
    """
    assignment = read_assignment(source, name)
    limits = limits or Limits()
    make_job = _JobMaker(source, name, limits, unsafe=unsafe)
    done: dict[str, SubmissionResult] = {}
    reused = 0
    waiting: list[Waiting] = []
    stopped = False
    try:
        for row in rows:
            one = _look_at(row, make_job(row), assignment, limits, surroundings)
            wanted = only is None or row.student in only
            kept = load_result(folder, row.student)
            if kept is not None and kept.digest != one.digest:
                forget_result(folder, row.student)
                kept = None
            if kept is not None and not (wanted and (force or kept.reason is Reason.SANDBOX)):
                done[row.student] = kept
                reused += 1
            elif wanted:
                waiting.append(one)
        waiting = list(_finish_unread(waiting, assignment, folder, done))
        share = bool(waiting) and runner is None and grader_factory == ENGINE and not unsafe
        with (
            _workers_here(assignment, workers, grader_factory, share=share) as pool,
            closing(_answers(runner or pool, waiting, make_job, progress=progress)) as answers,
        ):
            for answer in answers:
                result = _result_of(answer, assignment, surroundings)
                store_result(folder, result)
                done[result.student] = result
    except KeyboardInterrupt:
        stopped = True
    results = tuple(done[row.student] for row in rows if row.student in done)
    left = tuple(row.student for row in rows if row.student not in done)
    write_text(folder, REPORT, csv_text(report_rows(results, left)))
    return Batch(name, results, reused, left, stopped)


@contextmanager
def _workers_here(assignment: Assignment, workers: int | None, factory: str, *, share: bool) -> Iterator[Pool[Waiting]]:
    """Make a pool of this machine's processes, with one template for all of them where that is possible."""
    template = None
    if share:
        from course_utils.grading.checking.engine import share_template

        with suppress(SandboxError):  # each worker says why in its results
            template = share_template(assignment)
    try:
        yield Pool(workers or count_cores(), factory, connect=template.connect if template is not None else None)
    finally:
        if template is not None:
            template.close()


def read_code(source: bytes, name: str, rows: Sequence[Collected], limits: Limits) -> dict[str, dict[str, str]]:
    """Read what students wrote into their cells, by student and grade id; empty where nothing can be read.

    Args:
        source: the instructor's notebook.
        name: the exercise's name.
        rows: what was collected.
        limits: what is read of a submission.
    """
    assignment = read_assignment(source, name)
    make_job = _JobMaker(source, name, limits, unsafe=False)
    return {row.student: submission_of(make_job(row), assignment).code for row in rows}


@dataclass(frozen=True)
class _JobMaker:
    source: bytes
    name: str
    limits: Limits
    unsafe: bool

    def __call__(self, row: Collected) -> Job:
        """Read what a student handed in, into a job."""
        data, reason, problem = b"", row.reason, row.problem
        if row.file is not None:
            try:
                data = row.file.read(self.limits.submission_bytes)
            except CannotReadError as error:
                reason, problem = Reason.UNREADABLE, str(error)
        return Job(
            self.name,
            self.source,
            row.student,
            row.filename,
            data,
            self.limits,
            self.unsafe,
            row.notes,
            reason,
            problem,
        )


def _look_at(row: Collected, job: Job, assignment: Assignment, limits: Limits, surroundings: Surroundings) -> Waiting:
    submission = submission_of(job, assignment)
    return Waiting(row, submission, digest_of(submission, assignment, limits, surroundings))


def _finish_unread(
    waiting: Sequence[Waiting], assignment: Assignment, folder: Path, done: dict[str, SubmissionResult]
) -> Iterator[Waiting]:
    """Store the results of what cannot be graded, and yield the rest."""
    for one in waiting:
        submission = one.submission
        if submission.reason not in NOT_GRADED:
            yield one
            continue
        result = result_without_grade(assignment, submission, submission.reason, submission.problem, digest=one.digest)
        store_result(folder, result)
        done[submission.student] = result


def _answers(
    runner: Runner, waiting: Sequence[Waiting], make_job: _JobMaker, *, progress: bool
) -> Generator[Answer[Waiting]]:
    """Run what is waiting, with a progress bar where somebody is looking."""
    if not waiting:
        return
    from tqdm import tqdm

    quiet = not (progress and sys.stderr.isatty())
    with (
        closing(runner.run(waiting, lambda one: make_job(one.row))) as answers,
        tqdm(total=len(waiting), unit="submission", file=sys.stderr, disable=quiet, leave=False) as bar,
    ):
        for answer in answers:
            bar.update()
            yield answer


def _result_of(answer: Answer[Waiting], assignment: Assignment, surroundings: Surroundings) -> SubmissionResult:
    one = answer.item
    if answer.line:
        result = read_result(answer.line)
        # without a grader there is no sandbox and no digest
        return result if result.digest else replace(result, digest=one.digest)
    message = f"{answer.problem}; nothing is known about the submission, grade it again"
    return result_without_grade(
        assignment, one.submission, Reason.SANDBOX, message, digest=one.digest, sandbox=surroundings.sandbox
    )
