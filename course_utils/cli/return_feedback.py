"""`course return`: pack the feedback pages of a class into one zip."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.usage import UsageError, require_exercise
from course_utils.exercises.course import Exercise

if TYPE_CHECKING:
    from course_utils.grading.result import SubmissionResult

SUMMARY = "pack the feedback of a class into one zip: a page for each student"


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


def find_results(asked: str) -> tuple[Exercise, Path, tuple[SubmissionResult, ...]]:
    """Find an exercise and what a class earned in it.

    Returns:
        The exercise, its folder of results, and the results.

    Raises:
        UsageError: when there is no such exercise, or nothing of it is graded.
    """
    root, exercise = require_exercise(asked)
    from course_utils.grading.running.store import load_results

    folder = root / "graded" / exercise.name
    results = load_results(folder)
    if not results:
        raise UsageError(f"{folder} holds no result; run `course grade {asked}` first")
    return exercise, folder, results


def require_folder(output: Path) -> None:
    """Make sure that a file can be written where it was asked for.

    Raises:
        UsageError: when its folder is not there.
    """
    if not output.resolve().parent.is_dir():
        raise UsageError(f"there is no folder {output.resolve().parent} for {output.name}")


def run(arguments: argparse.Namespace) -> int:
    """Pack the pages and print what is in the zip.

    Returns:
        0 when everybody has a page with a grade, 1 when somebody has no grade or no page.
    """
    exercise, folder, results = find_results(arguments.exercise)
    output: Path = arguments.output or folder / "feedback.zip"
    if output.suffix != ".zip":
        raise UsageError(f"--output is {output}; the feedback is a zip, so its name has to end in .zip")
    require_folder(output)
    from course_utils.cli.grade import collect_submissions, read_instructors_notebook
    from course_utils.grading.pages.return_feedback import return_feedback
    from course_utils.sandbox.limits import Limits

    handed_in = None
    if arguments.source is not None:
        rows = collect_submissions(arguments.source, read_instructors_notebook(exercise), Limits())
        handed_in = {row.student: row.feedback_folder for row in rows}
    returned = return_feedback(results, output, handed_in=handed_in)
    print(returned)
    return 1 if returned.warnings else 0
