"""A starter that nobody has written into needs no run; anything that may do something does."""

import pytest
from support.found import found
from support.paths import ROOT

from course_utils.exercises.course import exercise_names, find_exercise
from course_utils.exercises.notebook import read_cells
from course_utils.exercises.runner import run_checks
from course_utils.exercises.untouched import is_placeholder, task_name, untouched_result

STUB = 'def f(x):\n    """Return x."""\n    raise NotImplementedError("task 1")'


@pytest.mark.parametrize(
    "source",
    [
        STUB,
        f"import math\n\n\n{STUB}",
        f"{STUB}\n\n\n{STUB}",
        "class A:\n    def f(self):\n        raise NotImplementedError",
    ],
)
def test_placeholders(source):
    """Functions that only raise, alone, several, or in a class, with or without imports and docstrings."""
    assert is_placeholder(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def f(x):\n    return x",
        "def f(x):\n    x += 1\n    raise NotImplementedError",
        f"{STUB}\n\n\ndef g(x):\n    return x",
        f"{STUB}\n\n\nf = abs",
        f"@cache\n{STUB}",
        "def f(x):\n    raise ValueError",
        "def f(x:",
        "f = lambda x: x",
    ],
)
def test_what_may_do_something(source):
    """Code beside the placeholder, another function, a name bound again, a broken cell: these have to run."""
    assert not is_placeholder(source)


def test_an_untouched_exercise_gets_what_a_run_gives():
    """For a real exercise: the same tasks, the same points, none of them passed."""
    exercise = find_exercise(ROOT, exercise_names(ROOT)[1])
    cells = read_cells(exercise.released)

    guessed = untouched_result(exercise.name, cells)
    ran = run_checks(exercise.name, cells, folder=exercise.released.parent)

    assert guessed is not None
    assert [(task.task, task.points, task.max_points) for task in guessed.tasks] == [
        (task.task, task.points, task.max_points) for task in ran.tasks
    ]
    assert not any(task.passed for task in ran.tasks)


def test_every_task_has_a_name():
    """The names that are shown are those of the checks."""
    for name in found(exercise_names(ROOT)):
        cells = read_cells(find_exercise(ROOT, name).released)
        for cell in found(cell for cell in cells if cell.kind == "code" and cell.graded and not cell.solution):
            assert task_name(cell)[0].isdigit(), f"{name}: {cell.grade_id}"


def test_a_solved_task_has_to_run():
    """One written answer is enough."""
    exercise = find_exercise(ROOT, exercise_names(ROOT)[1])

    assert untouched_result(exercise.name, read_cells(exercise.source)) is None
