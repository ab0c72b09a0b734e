"""`course submit`: make the one file to hand in, and say what is not solved."""

from __future__ import annotations

import argparse
import json

from course_utils.cli.arguments import positive_number
from course_utils.cli.check import find_doubts, require_exercise_cells
from course_utils.cli.usage import UsageError
from course_utils.exercises.course import find_course_root, find_exercise
from course_utils.exercises.hand_in import FOLDER, file_name, find_warnings, without_outputs, write_notebook
from course_utils.exercises.notebook import read_cells


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument("--student", metavar="ID", help="your id, which becomes part of the file's name")
    parser.add_argument(
        "--timeout", type=positive_number, default=120.0, metavar="S", help="seconds for all checks (default: 120)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the file.

    Returns:
        0 when every visible check passes, 1 when not; the file is written in both cases.
    """
    try:
        root = find_course_root()
        exercise = find_exercise(root, arguments.exercise)
        name = file_name(exercise.name, arguments.student)
        if not exercise.released.is_file():
            raise UsageError(f"there is no notebook {exercise.released.relative_to(root)} to hand in")
        cells = read_cells(exercise.released)
        require_exercise_cells(cells, exercise, exercise.released)
    except (FileNotFoundError, LookupError, ValueError) as error:
        raise UsageError(error.args[0]) from error
    from course_utils.exercises.known_results import check_and_remember, recall

    result = recall(root, exercise.name, cells)
    if result is None:
        result = check_and_remember(root, exercise, cells, timeout_s=arguments.timeout)
    notebook = json.loads(exercise.released.read_text(encoding="utf-8-sig"))
    target = root / FOLDER / name
    try:
        size_bytes = write_notebook(without_outputs(notebook), target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from error
    for line in result.unsolved:
        print(f"not yet  {line}")
    doubts, _ = find_doubts(cells, exercise.released)
    for warning in (*find_warnings(cells, size_bytes), *([result.stopped] if result.stopped else []), *doubts):
        print(f"! {warning}")
    done = sum(task.passed for task in result.tasks)
    print(f"{done} of {len(result.tasks) + len(result.unchecked)} tasks pass their visible checks")
    print(f"hand in: {target.relative_to(root)}")
    if not result.passed:
        print(f"It can be handed in as it is. `course check {exercise.name[:2]}` says what was expected.")
    return 0 if result.passed else 1
