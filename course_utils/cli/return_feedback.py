"""`course return`: pack the feedback pages of a class into one zip."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.usage import UsageError, require_exercise, require_target
from course_utils.exercises.course import Exercise

if TYPE_CHECKING:
    from course_utils.grading.counted_results import CountedResults
    from course_utils.grading.reading.submission import Submission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="PATH",
        help="what was graded; of Moodle's zip the pages get the folders in which Moodle takes feedback",
    )
    parser.add_argument("--output", type=Path, metavar="FILE.zip", help="default: graded/EXERCISE/feedback.zip")
    add_gradebook_argument(parser)


def add_gradebook_argument(parser: argparse.ArgumentParser) -> None:
    """Add where points and comments that a person entered are read."""
    parser.add_argument(
        "--db", metavar="URL", help="nbgrader's gradebook, as for `course grade` (default: gradebook.db in the course)"
    )


def find_results(asked: str, url: str | None) -> tuple[Exercise, Path, CountedResults]:
    """Find an exercise and what counts for a class in it: what the checks gave and what people entered in formgrader.

    Args:
        asked: the exercise, as the user wrote it.
        url: the gradebook's address; the course's own when None.

    Returns:
        The exercise, its folder of results, and the results.

    Raises:
        UsageError: when there is no such exercise, nothing of it is graded, or the gradebook cannot be read.
    """
    root, exercise = require_exercise(asked)
    from course_utils.cli.grade import read_instructors_notebook
    from course_utils.grading.books.database_url import GradebookError, read_address, shown
    from course_utils.grading.books.gradebook import read_gradebook
    from course_utils.grading.counted_results import count_results
    from course_utils.grading.delivered import load_delivered
    from course_utils.grading.reading.collect import CollectError, collect, read_all
    from course_utils.sandbox.limits import Limits

    folder = root / "graded" / exercise.name
    own = f"sqlite:///{root / 'gradebook.db'}"
    written = load_delivered(folder).gradebook
    try:
        if url is None and written and written != shown(read_address(own)):
            raise UsageError(f"the grades are in the gradebook {written}; give it with --db, as to `course grade`")
        assignment = read_instructors_notebook(exercise)
        manual = read_gradebook(url or own, exercise.name)
        submissions: tuple[Submission, ...] = ()
        if (root / "submitted").is_dir():
            submissions = read_all(collect(root / "submitted", assignment, Limits()), assignment, Limits())
    except (GradebookError, CollectError) as error:
        raise UsageError(str(error)) from error
    counted = count_results(folder, assignment, manual, submissions)
    if not counted.results:
        raise UsageError(f"{folder} holds no result; run `course grade {asked}` first")
    return exercise, folder, counted


@contextmanager
def writes(output: Path) -> Iterator[None]:
    """Turn a file that cannot be written, such as on a full disk, into one sentence.

    Raises:
        UsageError: when it cannot be written; what was there before is still there.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}; nothing was changed") from error


def run(arguments: argparse.Namespace) -> int:
    """Pack the pages and print what is in the zip.

    Returns:
        0 when everybody has a page with a grade, 1 when somebody has no grade or no page.
    """
    exercise, folder, counted = find_results(arguments.exercise, arguments.db)
    output: Path = arguments.output or folder / "feedback.zip"
    if output.suffix != ".zip":
        raise UsageError(f"--output is {output}; the feedback is a zip, so its name has to end in .zip")
    require_target(output, "the archive")
    from course_utils.cli.grade import collect_submissions, read_instructors_notebook
    from course_utils.grading.pages.return_feedback import return_feedback
    from course_utils.grading.reading.owners import feedback_folder
    from course_utils.sandbox.limits import Limits

    handed_in = None
    if arguments.source is not None:
        rows = collect_submissions(arguments.source, read_instructors_notebook(exercise), Limits())
        handed_in = {row.student: feedback_folder(row.owner) for row in rows}
    with writes(output):
        returned = return_feedback(counted.results, output, handed_in=handed_in)
    print(returned)
    for warning in counted.warnings:
        print(f"! {warning}")
    return 1 if returned.warnings or counted.since else 0
