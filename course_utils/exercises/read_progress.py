"""Find out how far a student is: read the notebooks, recall what is known, and run the checks of what is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from course_utils.exercises.course import Exercise, exercise_names, find_exercise
from course_utils.exercises.known_results import recall, remember
from course_utils.exercises.notebook import Cell, UnreadableNotebookError, read_cells
from course_utils.exercises.progress import ExerciseProgress, Progress
from course_utils.exercises.runner import PracticeResult, run_checks


def released_exercises(root: Path) -> tuple[Exercise, ...]:
    """List the exercises that have a student's notebook."""
    found = [find_exercise(root, name) for name in exercise_names(root)]
    return tuple(exercise for exercise in found if exercise.released.is_file())


def read_progress(
    root: Path,
    *,
    run: bool,
    timeout_s: float = 120.0,
    on_exercise: Callable[[str], object] = lambda name: None,
) -> Progress:
    """Find out how far a student is.

    Args:
        root: the course's root.
        run: whether to run the checks of notebooks of which nothing is known.
        timeout_s: wall time for one notebook, seconds.
        on_exercise: called with each exercise's name before its turn, for a progress bar.
    """
    rows = []
    for exercise in released_exercises(root):
        on_exercise(exercise.name)
        try:
            cells = read_cells(exercise.released)
        except UnreadableNotebookError as error:
            rows.append(ExerciseProgress(exercise.name, 0, 0.0, problem=str(error)))
            continue
        known = recall(root, exercise.name, cells)
        result = check_and_remember(root, exercise, cells, timeout_s=timeout_s) if known is None and run else known
        graded = [cell for cell in cells if cell.graded and cell.kind == "code"]
        rows.append(ExerciseProgress(exercise.name, len(graded), sum(cell.points for cell in graded), result))
    return Progress(tuple(rows))


def check_and_remember(
    root: Path,
    exercise: Exercise,
    cells: tuple[Cell, ...],
    *,
    timeout_s: float,
    on_cell: Callable[[], object] = lambda: None,
) -> PracticeResult:
    """Run the checks of a student's own notebook, and keep what they say."""
    folder = exercise.released.parent
    result = run_checks(exercise.name, cells, folder=folder, timeout_s=timeout_s, on_cell=on_cell)
    remember(root, exercise.name, cells, result)
    return result
