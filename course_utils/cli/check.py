"""`course check`: run an exercise's visible checks and say which task passed."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError
from course_utils.exercises.course import Exercise, exercise_names, find_course_root, find_exercise
from course_utils.exercises.editors import about_lost, editor_of, lost_cells, when_saved
from course_utils.exercises.notebook import Cell, UnreadableNotebookError, parse_notebook, read_cells
from course_utils.reporting.progress_bar import BAR

if TYPE_CHECKING:
    from course_utils.exercises.runner import PracticeResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument("--notebook", type=Path, help="your notebook, if it is not the one in exercises/")
    parser.add_argument(
        "--timeout", type=positive_number, default=120.0, metavar="S", help="seconds for all cells (default: 120)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def find_notebook(exercise: Exercise, given: Path | None) -> Path:
    """Find the notebook to check.

    Raises:
        UsageError: when the exercise was never released, or the given file is not there.
    """
    if given is not None:
        if not given.is_file():
            raise UsageError(f"there is no file {given}; pass the notebook to check")
        return given
    if not exercise.released.is_file():
        raise UsageError(
            f"exercise {exercise.name} was never released: exercises/{exercise.name}/ has no notebook; "
            f"an instructor makes it with `course release {exercise.name}`"
        )
    return exercise.released


def require_exercise_cells(cells: tuple[Cell, ...], exercise: Exercise, notebook: Path) -> None:
    """Make sure that a notebook belongs to the exercise.

    Raises:
        UsageError: when none of its graded cells does; says so where an editor lost what makes them graded.
    """
    ids = {cell.grade_id for cell in cells if cell.graded}
    reference = exercise.released if exercise.released.is_file() else exercise.source
    known = {cell.grade_id for cell in read_cells(reference) if cell.graded}
    lost = about_lost(lost_cells(cells), editor_of(parse_notebook(notebook.read_bytes(), str(notebook))))
    if not ids and lost:
        raise UsageError(f"{notebook}: {lost}")
    if not ids & known:
        raise UsageError(f"{notebook} has no check cells of exercise {exercise.name}; is it the right notebook?")


def run(arguments: argparse.Namespace) -> int:
    """Run the checks.

    Returns:
        0 when every task passed, 1 when not, or when a check cell is gone or lost its metadata.
    """
    try:
        root = find_course_root()
        exercise = find_exercise(root, arguments.exercise)
        notebook = find_notebook(exercise, arguments.notebook)
        cells = read_cells(notebook)
        require_exercise_cells(cells, exercise, notebook)
    except (FileNotFoundError, LookupError, UnreadableNotebookError) as error:
        raise UsageError(error.args[0]) from error
    from tqdm import tqdm

    from course_utils.exercises.known_results import check_and_remember
    from course_utils.exercises.runner import run_checks

    total = sum(cell.kind == "code" for cell in cells)
    quiet = arguments.json or not sys.stderr.isatty()
    with tqdm(total=total, bar_format=BAR, desc=exercise.name, disable=quiet, leave=False) as bar:
        if arguments.notebook is None:
            result = check_and_remember(root, exercise, cells, timeout_s=arguments.timeout, on_cell=bar.update)
        else:
            folder = notebook.resolve().parent
            result = run_checks(exercise.name, cells, folder=folder, timeout_s=arguments.timeout, on_cell=bar.update)
    doubts, whole = find_doubts(cells, notebook)
    done = result.passed and whole
    if arguments.json:
        print(json.dumps(result.to_dict() | {"passed": done, "doubts": doubts}, indent=2))
        return 0 if done else 1
    print(result)
    print(f"checked: {notebook.name} as saved at {when_saved(notebook, time.time())}")
    for doubt in doubts:
        print(f"! {doubt}")
    print(f"next: {next_step(exercise, result, doubts, exercise_names(root))}")
    return 0 if done else 1


def find_doubts(cells: tuple[Cell, ...], notebook: Path) -> tuple[list[str], bool]:
    """Find why a file may not be what the student sees, or not hold what is checked.

    Args:
        cells: the cells of the file.
        notebook: the file.

    Returns:
        The doubts, one sentence each; and whether every task has a check that counts.
    """
    from course_utils.exercises.hand_in import modules_beside
    from course_utils.exercises.newer_python import about_newer_python, unread_cells
    from course_utils.exercises.saved import deleted_checks, newer_checkpoint, unsaved_run

    lost = lost_cells(cells)
    gone = [check for check in deleted_checks(cells) if check not in lost]
    content = parse_notebook(notebook.read_bytes(), str(notebook))
    found = [unsaved_run(notebook), newer_checkpoint(notebook), about_newer_python(content, unread_cells(cells))]
    found += [about_lost(lost, editor_of(content)), *map(without_check, gone)]
    found += map(not_handed_in, modules_beside(cells, notebook.resolve().parent))
    return [doubt for doubt in found if doubt], not lost and not gone


def without_check(grade_id: str) -> str:
    """Return a sentence about a check cell that is not there."""
    return (
        f"the check cell {grade_id} is not in the notebook any more, so nothing checked its task here; copy it back "
        "from the exercise as it was handed out (grading has its own copy)"
    )


def not_handed_in(name: str) -> str:
    """Return a sentence about a file that the notebook needs and that is not handed in with it."""
    return f"the notebook imports {name}, which lies beside it and is not handed in; copy its code into a cell"


def next_step(exercise: Exercise, result: PracticeResult, doubts: list[str], names: Sequence[str]) -> str:
    """Return what to do next, in one sentence.

    Args:
        exercise: what was checked.
        result: what the checks said.
        doubts: why the file may not be what it should be.
        names: all exercises, in their order.
    """
    number = exercise.name[:2]
    if doubts:
        return f"see to that, save, and run `course check {number}` again"
    if not result.passed:
        first = next(iter(result.unsolved), "") or result.stopped or "a cell that raised"
        return f"{first}; change its cell, save, and run `course check {number}` again"
    later = [name for name in names if name > exercise.name]
    after = f", then go on with lesson {later[0][:2]}: `course lab {later[0][:2]}`" if later else ""
    return f"all visible checks pass; hand it in with `course submit {number}`{after}"
