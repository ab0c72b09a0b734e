"""Honest notebooks, written in the ways that students write: the same points from `course check` and the grader."""

import json

import pytest
from support import two_tasks
from support.both_ways import both
from support.forked_checks import run_checks
from support.habits import HABITS, NOTEBOOKS, notebook
from support.sandbox_here import needs_sandbox
from support.two_tasks import NAME, SOLVED, cell, submitted

from course_utils.exercises.notebook import read_cells
from course_utils.grading.checking.engine import Grader
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()
pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grader():
    """Start one grader for all."""
    with Grader(ASSIGNMENT, Limits(task_s=60)) as started:
        yield started


def test_there_are_enough_notebooks():
    """At least 80 honest notebooks are compared below, each once."""
    assert len(set(NOTEBOOKS)) == len(NOTEBOOKS) >= 80


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_costs_nothing(grader, tmp_path, habit):
    """Wherever its prelude stands: in the task's cell, in a cell above, in the first cell."""
    places = [place for name, place in NOTEBOOKS if name == habit]
    found = {place: both(grader, notebook(habit, place), tmp_path) for place in places}

    points = {place: (graded, checked) for place, (graded, checked, _) in found.items()}
    assert points == dict.fromkeys(places, ([2, 2], [2, 2])), found


USES = "def double(x):\n    return twice(x)"
TWICE = "def twice(x):\n    return 2 * x"


def split(made):
    """Split the first task's cell in two with one id."""
    made["cells"].insert(1, {**made["cells"][1], "source": TWICE})


def copied_below_its_check(made):
    """Copy the first task's cell below its check, and break the copy."""
    made["cells"].insert(3, {**made["cells"][1], "source": "def double(x):\n    return 0"})


def tried_above(made):
    """Leave a broken copy above the cell that counts."""
    made["cells"].insert(1, {**made["cells"][1], "source": "def double(x):\n    return 0"})


def solved_twice(made):
    """Copy a solved cell below its check, as JupyterLab does with its metadata."""
    made["cells"].insert(3, dict(made["cells"][1]))


def split_and_copied(made):
    """Split a cell in two with one id, and copy the function's half below the check."""
    split(made)
    made["cells"].insert(4, dict(made["cells"][2]))


def spoilt_below(made):
    """Break the first task's function below its check; the second task uses it."""
    copied_below_its_check(made)
    made["cells"][4]["source"] = "def halve(x):\n    return double(x) / 4"


def in_the_check(made):
    """Add an import to a locked check cell, for the task below it."""
    made["cells"][2]["source"] = "import math\n" + made["cells"][2]["source"]
    made["cells"][3]["source"] = "def halve(x):\n    return math.fsum([x]) / 2"


def below(made):
    """Define a helper below the check that needs it."""
    made["cells"].insert(3, cell(TWICE))


SCENES = {
    "split": ({"double": USES}, split, [2, 2]),
    "a broken copy below the check": ({}, copied_below_its_check, [2, 2]),
    "a broken copy above": ({}, tried_above, [2, 2]),
    "a right copy below the check": ({}, solved_twice, [2, 2]),
    "split, and a half of it copied below": ({"double": USES}, split_and_copied, [2, 2]),
    "a broken copy that the next task uses": ({}, spoilt_below, [2, 0]),
    "an import in a check cell": ({}, in_the_check, [2, 2]),
    "a helper below its use": ({"double": USES}, below, [0, 2]),
    "a broken cell beside": ({}, lambda made: made["cells"].insert(1, cell("twice = 1 / 0")), [2, 2]),
    "an endless cell beside": ({}, lambda made: made["cells"].append(cell("while True:\n    pass")), [2, 2]),
    "a wrong task": ({"halve": "def halve(x):\n    return x"}, lambda made: None, [2, 0]),
}


@pytest.mark.parametrize("scene", [name for name in SCENES if "endless" not in name])
def test_scenes_are_graded_as_they_run(grader, tmp_path, scene):
    """What runs from top to bottom counts in both, and what does not counts in neither."""
    code, change, points = SCENES[scene]
    made = submitted(SOLVED | code)
    change(made)
    graded, checked, seen = both(grader, made, tmp_path)

    assert graded == points, seen
    assert checked == points, seen


def test_a_check_that_is_text_gives_no_verdict(tmp_path):
    """A check cell that was turned into Markdown is missing, not passed."""
    made = submitted(SOLVED)
    made["cells"][2]["cell_type"] = "markdown"
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")
    result = run_checks(NAME, read_cells(path), tmp_path)

    assert not result.passed
    assert result.unchecked == ("double-check",)
