"""`course solution`: open the explained solution of an exercise that is solved."""

from __future__ import annotations

import argparse
from pathlib import Path

from course_utils.cli.lab import add_server_arguments, become_lab
from course_utils.cli.usage import UsageError, require_exercise
from course_utils.exercises.course import Exercise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument("--anyway", action="store_true", help="open it although the exercise is not solved")
    add_server_arguments(parser)


def what_is_unsolved(root: Path, exercise: Exercise) -> str:
    """Return what is missing in a student's own notebook, in a few words; empty when every visible check passes.

    Checks that ran before on exactly this notebook do not run again.

    Raises:
        UsageError: when the notebook cannot be read.
    """
    from course_utils.exercises.known_results import check_and_remember, recall
    from course_utils.exercises.notebook import UnreadableNotebookError, read_cells

    if not exercise.released.is_file():
        return "there is no notebook of yours"
    try:
        cells = read_cells(exercise.released)
    except UnreadableNotebookError as error:
        raise UsageError(str(error)) from error
    result = recall(root, exercise.name, cells) or check_and_remember(root, exercise, cells, timeout_s=120.0)
    if result.passed:
        return ""
    return result.stopped or next(iter(result.unsolved), "no check gave a verdict")


def run(arguments: argparse.Namespace) -> int:
    """Say where the solution is, and open it.

    Returns:
        1 when the exercise is not solved; JupyterLab's own exit code where this process became it.
    """
    root, exercise = require_exercise(arguments.exercise)
    number = exercise.name[:2]
    if not exercise.source.is_file():
        raise UsageError(
            f"the solution of exercise {exercise.name} is not here: an archive for students has none; ask your "
            "instructor, or clone the course"
        )
    missing = "" if arguments.anyway else what_is_unsolved(root, exercise)
    if missing:
        print(f"exercise {number} is not solved yet ({missing}); course solution {number} --anyway opens it now")
        return 1
    print(f"the solution: {exercise.source}", flush=True)
    become_lab(root, exercise.source, no_browser=arguments.no_browser, port=arguments.port)
    return 0
