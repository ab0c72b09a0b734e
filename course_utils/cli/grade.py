"""`course grade`: grade a class in a sandbox, one row for each student, even if individual submissions fail."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_exercise
from course_utils.exercises.course import Exercise
from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    from course_utils.grading.assignment import Assignment
    from course_utils.grading.course import Course
    from course_utils.grading.reading.collect import Collected
    from course_utils.grading.reading.submission import Submission
    from course_utils.grading.running.batch import Batch
    from course_utils.grading.running.cluster import Cluster
    from course_utils.sandbox.limits import Limits

INTERRUPTED = 130
MOST_WORKERS = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="PATH",
        help="a folder, or a zip from Moodle or Canvas (default: submitted/)",
    )
    parser.add_argument("--student", action="append", metavar="ID", help="grade this student only; may be repeated")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one for each core)")
    parser.add_argument(
        "--force", action="store_true", help="also grade what did not change, and replace points that a person gave"
    )
    parser.add_argument("--due", metavar="TIME", help='mark what came later as late, such as "2026-03-01 23:59"')
    parser.add_argument("--unsafe", action="store_true", help="no sandbox: student code gets your own rights")
    parser.add_argument("--cluster", metavar="ADDRESS", help="grade on a Dask cluster, such as tcp://10.0.0.5:8786")
    parser.add_argument(
        "--task-seconds", type=positive_number, default=60.0, metavar="S", help="seconds for one task (default: 60)"
    )
    parser.add_argument(
        "--memory-gb", type=positive_number, default=4.0, metavar="GB", help="memory for one submission (default: 4)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--db", metavar="URL", help="nbgrader's gradebook (default: gradebook.db in the course)")
    parser.add_argument("--no-gradebook", action="store_true", help="leave nbgrader's gradebook alone")


def make_limits(task_s: float, memory_gb: float) -> Limits:
    """Make the limits; a submission has five times a task's time, at least."""
    from course_utils.sandbox.limits import Limits

    default = Limits()
    return Limits(
        task_s=task_s,
        submission_s=max(default.submission_s, 5 * task_s),
        memory_bytes=max(int(memory_gb * 1e9), 1),
    )


def read_instructors_notebook(exercise: Exercise) -> Assignment:
    """Read the instructor's notebook of an exercise.

    Raises:
        UsageError: when there is none, or it cannot be used.
    """
    from course_utils.grading.assignment import read_assignment

    try:
        return read_assignment(exercise.source.read_bytes(), exercise.name)
    except OSError as error:
        raise UsageError(
            f"the instructor's notebook of {exercise.name} cannot be read: {exercise.source} ({error.strerror}); "
            "grading needs solutions/, which a student's bundle has not"
        ) from error
    except ValueError as error:
        raise UsageError(str(error)) from error


def collect_submissions(path: Path, assignment: Assignment, limits: Limits) -> tuple[Collected, ...]:
    """Find what was handed in.

    Raises:
        UsageError: when nothing was, or the folder or the zip cannot be used.
    """
    from course_utils.grading.reading.collect import CollectError, collect

    if not path.exists():
        raise UsageError(f"there is no {path}; give a folder with one folder for each student, or a zip, after --from")
    try:
        rows = collect(path, assignment, limits)
    except CollectError as error:
        raise UsageError(str(error)) from error
    if not rows:
        raise UsageError(f"{path} holds no submission; put one folder or notebook for each student into it")
    return rows


def check_students(asked: Sequence[str] | None, rows: Sequence[Collected]) -> None:
    """Make sure that the students asked for are there.

    Raises:
        UsageError: when one is not; the message has the nearest ids.
    """
    known = [row.student for row in rows]
    for student in asked or ():
        if student not in known:
            raise UsageError(f"no student is called {student!r}; {suggest(student, known)}")


@contextlib.contextmanager
def open_cluster(address: str | None, *, unsafe: bool) -> Iterator[Cluster | None]:
    """Connect to a cluster, if there is to be one.

    Raises:
        UsageError: when it cannot be used.
    """
    if address is None:
        yield None
        return
    from course_utils.grading.running.cluster import Cluster, ClusterError

    try:
        cluster = Cluster(address, unsafe=unsafe)
    except ClusterError as error:
        raise UsageError(str(error)) from error
    with cluster:
        yield cluster


def read_due(text: str | None) -> datetime | None:
    """Read the time after which a submission is late.

    Raises:
        UsageError: when it is not a time.
    """
    if text is None:
        return None
    from course_utils.grading.lateness import read_time

    due = read_time(text)
    if due is None:
        raise UsageError(f'--due is {text!r}; write a date or a time such as 2026-03-01 or "2026-03-01 23:59 +0100"')
    return due


def unknown_times(submissions: Sequence[Submission], due: datetime | None) -> list[str]:
    """Return a sentence about submissions of which nobody knows when they were handed in."""
    from course_utils.grading.lateness import handed_in_at

    unknown = [one.student for one in submissions if handed_in_at(one) is None] if due is not None else []
    if not unknown:
        return []
    listed = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
    return [f"--due says nothing about {len(unknown)} submissions, whose time is not known: {listed}"]


def make_course(arguments: argparse.Namespace, exercise: Exercise, cluster: Cluster | None) -> Course:
    """Put together what all submissions share.

    Raises:
        UsageError: when there is no sandbox, a limit is wrong, or the instructor's notebook cannot be used.
    """
    from course_utils.grading.course import Course
    from course_utils.sandbox.sandbox import SandboxError, choose_sandbox

    limits = make_limits(arguments.task_seconds, arguments.memory_gb)
    assignment = read_instructors_notebook(exercise)
    if cluster is not None:
        return Course(assignment, limits, cluster.sandbox, arguments.unsafe, cluster.versions)
    try:
        sandbox = choose_sandbox("", unsafe=arguments.unsafe).name
    except SandboxError as error:
        raise UsageError(str(error)) from error
    return Course(assignment, limits, sandbox, arguments.unsafe)


def grade(arguments: argparse.Namespace, exercise: Exercise, root: Path) -> tuple[Batch, list[str]]:
    """Collect, grade and deliver.

    Returns:
        The batch, and a sentence for each place where results could not be written.

    Raises:
        UsageError: when it cannot begin, or the results folder cannot be written.
    """
    from course_utils.grading.reading.collect import read_all
    from course_utils.grading.reading.submitted import SubmittedFolder
    from course_utils.grading.running.batch import BatchOptions, grade_batch
    from course_utils.grading.sinks import Destinations, Sinks

    path = arguments.source or root / "submitted"
    folder = root / "graded" / exercise.name
    options = BatchOptions(
        only=arguments.student, force=arguments.force, workers=arguments.workers, progress=not arguments.json
    )
    due = read_due(arguments.due)
    url = None if arguments.no_gradebook else arguments.db or f"sqlite:///{root / 'gradebook.db'}"
    with open_cluster(arguments.cluster, unsafe=arguments.unsafe) as cluster:
        course = make_course(arguments, exercise, cluster)
        rows = collect_submissions(path, course.assignment, course.limits)
        check_students(arguments.student, rows)
        elsewhere = not path.resolve().is_relative_to((root / "submitted").resolve())
        copies = SubmittedFolder(root, exercise.name)
        submissions = read_all(rows, course.assignment, course.limits, copies.keep if elsewhere else None)
        asked = arguments.student or [row.student for row in rows]
        replace_manual = frozenset(asked if arguments.force else ())
        sinks = Sinks(Destinations(course.assignment, root, folder, submissions, url, replace_manual, due))
        try:
            batch = grade_batch(course, submissions, folder, options, executor=cluster, sinks=sinks)
        except OSError as error:
            raise UsageError(f"results cannot be written below {folder}: {error.strerror or error}") from error
    failures = [f"the folder submitted was not written: {copies.failure}"] if copies.failure else []
    return replace(batch, remarks=(*sinks.replaced, *unknown_times(submissions, due))), failures + sinks.failures


def run(arguments: argparse.Namespace) -> int:
    """Grade and report.

    Returns:
        0 when all who were to be graded are, 1 when some could not be, 130 after Ctrl-C, which keeps what was graded.
    """
    if arguments.workers is not None and not 1 <= arguments.workers <= MOST_WORKERS:
        raise UsageError(f"--workers is {arguments.workers}; it has to be from 1 to {MOST_WORKERS}")
    if arguments.db is not None and arguments.no_gradebook:
        raise UsageError("--db and --no-gradebook contradict each other; use one of them")
    root, exercise = require_exercise(arguments.exercise)
    batch, failures = grade(arguments, exercise, root)
    print(json.dumps(to_dict(batch), indent=2) if arguments.json else batch)

    from course_utils.grading.running.batch import REPORT

    for failure in failures:
        print(f"course grade: {failure}", file=sys.stderr)
    if not arguments.json:
        print(f"report: {root / 'graded' / exercise.name / REPORT}")
    if batch.stopped:
        return INTERRUPTED
    asked = [result for result in batch.results if not arguments.student or result.student in arguments.student]
    return 0 if all(result.graded for result in asked) and not failures else 1


def to_dict(batch: Batch) -> dict[str, object]:
    """Return plain data for JSON: the results, who waits, and what to know."""
    return {
        "assignment": batch.assignment,
        "results": [json.loads(result.to_json()) for result in batch.results],
        "waiting": list(batch.waiting),
        "reused": batch.reused,
        "stopped": batch.stopped,
        "warnings": list(batch.warnings),
    }
