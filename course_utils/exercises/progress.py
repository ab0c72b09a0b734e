"""How far a student is: which exercises are solved, how many points the visible checks give, what to do next.

What is known from earlier runs is recalled; the checks of the rest run where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_utils.exercises.course import Exercise, exercise_names, find_exercise
from course_utils.exercises.kept_predictions import track_record
from course_utils.exercises.known_results import check_and_remember, recall
from course_utils.exercises.notebook import UnreadableNotebookError, read_cells
from course_utils.exercises.outcome import Failure
from course_utils.exercises.prediction import TrackRecord
from course_utils.exercises.runner import PracticeResult
from course_utils.exercises.untouched import untouched_result
from course_utils.reporting.results import TableResult
from course_utils.reporting.tables import text_table

HEADING = ("exercise", "tasks", "points", "next")
CAPTION = "Points are those of the visible checks; grading runs hidden checks too."


@dataclass(frozen=True)
class ExerciseProgress:
    """One exercise.

    Args:
        name: the exercise's name, such as "04_measuring_time".
        tasks: how many tasks it has.
        max_points: what they are worth.
        result: what its checks said; None when that is not known.
        problem: why nothing can be known, such as a notebook that cannot be read; else empty.
    """

    name: str
    tasks: int
    max_points: float
    result: PracticeResult | None = None
    problem: str = ""

    @property
    def solved(self) -> bool:
        """True when every visible check is known to pass."""
        return self.result is not None and self.result.passed

    @property
    def begun(self) -> bool:
        """True when the student is known to have written an answer, right or wrong."""
        outcomes = [outcome for task in (self.result.tasks if self.result else ()) for outcome in task.outcomes]
        return any(outcome.failure is not Failure.NOT_WRITTEN for outcome in outcomes)

    @property
    def solved_tasks(self) -> int | None:
        """How many tasks pass all their visible checks; None when that is not known."""
        return None if self.result is None else sum(task.passed for task in self.result.tasks)

    @property
    def points(self) -> float | None:
        """The points of the visible checks that passed; None when that is not known."""
        return None if self.result is None else sum(task.points for task in self.result.tasks)

    @property
    def next_step(self) -> str:
        """What to do next, in a few words."""
        if self.problem:
            return self.problem
        if self.result is None:
            return f"find out: course check {self.name[:2]}"
        if self.solved:
            return f"solved; hand it in: course submit {self.name[:2]}"
        if self.result.stopped:
            return self.result.stopped
        return self.result.unsolved[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "exercise": self.name,
            "solved": self.solved,
            "solved_tasks": self.solved_tasks,
            "tasks": self.tasks,
            "points": self.points,
            "max_points": self.max_points,
            "next": self.next_step,
        }


@dataclass(frozen=True, repr=False)
class Progress(TableResult):
    """All exercises of the course.

    Args:
        exercises: one row for each exercise, in order.
        predictions: how well the student predicts what the lessons measure.
    """

    exercises: tuple[ExerciseProgress, ...]
    predictions: TrackRecord = field(default_factory=TrackRecord)

    @property
    def solved(self) -> bool:
        """True when every exercise is solved."""
        return all(exercise.solved for exercise in self.exercises)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What keeps this from being the whole picture."""
        unknown = [row.name[:2] for row in self.exercises if row.result is None and not row.problem]
        unread = [f"{row.name}: {row.problem}" for row in self.exercises if row.problem]
        return tuple(unread + ([f"not known: {', '.join(unknown)}"] if unknown else []))

    def title(self) -> str:
        """Return how many exercises are solved, in one sentence."""
        done = sum(exercise.solved for exercise in self.exercises)
        return f"{done} of {len(self.exercises)} exercises solved."

    def __str__(self) -> str:
        return "\n".join(
            [*text_table(self.rows(), indent="", fit=True), "", self.title(), CAPTION, "", str(self.predictions)]
        )

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.predictions._repr_html_()

    def notes(self) -> list[str]:
        """Return where the table comes from."""
        return [CAPTION]

    def rows(self) -> list[tuple[str, ...]]:
        """Return one line for each exercise as text, the heading first."""
        rows: list[tuple[str, ...]] = [HEADING]
        for row in self.exercises:
            tasks = "?" if row.solved_tasks is None else str(row.solved_tasks)
            points = "?" if row.points is None else f"{row.points:g}"
            rows.append((row.name, f"{tasks} of {row.tasks}", f"{points} of {row.max_points:g}", row.next_step))
        return rows


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
        known = recall(root, exercise.name, cells) or untouched_result(exercise.name, cells)
        result = check_and_remember(root, exercise, cells, timeout_s=timeout_s) if known is None and run else known
        graded = [cell for cell in cells if cell.graded and not (cell.solution and cell.kind != "code")]
        rows.append(ExerciseProgress(exercise.name, len(graded), sum(cell.points for cell in graded), result))
    return Progress(tuple(rows), track_record(root))


def next_lesson(lessons: Sequence[str], progress: Progress) -> str:
    """Choose the lesson to open: the first whose exercise is not solved, once one is begun.

    Args:
        lessons: the lessons' names, in order, such as "04_measuring_time".
        progress: what is known.

    Returns:
        The first lesson while no exercise is begun, and when everything is solved.
    """
    if not any(exercise.begun for exercise in progress.exercises):
        return lessons[0]
    unsolved = [exercise.name for exercise in progress.exercises if not exercise.solved]
    return next((lesson for lesson in lessons if lesson in unsolved), lessons[0])
