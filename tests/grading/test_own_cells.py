"""Cells of the student's own: what they leave for the tasks is there when these are graded, as when it is checked."""

import pytest
from support import two_tasks
from support.both_ways import both
from support.cells_beside import CELLS_BESIDE
from support.sandbox_here import needs_sandbox
from support.two_tasks import SOLVED, cell, submitted

from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.borrowed import borrow, used_globals
from course_utils.grading.reading.cell_effects import effects_of, settings_of
from course_utils.grading.reading.submission import read_submission
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()


@pytest.fixture(scope="module")
def grader():
    """Start one grader for all."""
    with Grader(ASSIGNMENT, Limits(task_s=60)) as started:
        yield started


@needs_sandbox
@pytest.mark.parametrize("what", CELLS_BESIDE)
def test_what_a_cell_leaves_is_there(grader, tmp_path, monkeypatch, what):
    """In both ways the task has what the cells above it bound, changed, set or wrote."""
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m` has the notebook's folder
    cells, answer = CELLS_BESIDE[what]
    made = submitted(SOLVED | {"double": f"def double(x):\n    return {answer}"})
    made["cells"][1:1] = map(cell, cells)
    graded, checked, seen = both(grader, made, tmp_path)

    assert (graded, checked) == ([2, 2], [2, 2]), seen


def moved_up(made):
    """Put the second task above the first, and a helper for the first between them."""
    setup, double, double_check, halve, halve_check = made["cells"]
    halve["source"] = "def four(x):\n    return 4 * x\n" + halve["source"]
    double["source"] = "def double(x):\n    return halve(four(same(x)))"
    helper = cell("def same(x):\n    return x")
    made["cells"] = [setup, halve, halve_check, helper, double, double_check]


def borrowed(made):
    """Use what a check cell binds in the next task's cell, by way of a cell between them."""
    made["cells"][3]["source"] = "def halve(x):\n    return x / two()"
    made["cells"].insert(3, cell("def two():\n    return task.points"))


@needs_sandbox
@pytest.mark.parametrize("change", [moved_up, borrowed])
def test_a_notebook_in_its_own_order(grader, tmp_path, change):
    """Tasks in another order, and names that the checks bind, are there as in a run from top to bottom."""
    made = submitted(SOLVED)
    change(made)
    graded, checked, seen = both(grader, made, tmp_path)

    assert (graded, checked) == ([2, 2], [2, 2]), seen


EXPERIMENTS = {
    "a loop": "for n in range(10):\n    time.sleep(60)",
    "printing": "print(double(3), double(4))",
    "printing a value": "double(3)",
    "a plot": "plt.plot([double(n) for n in range(10**9)])\nplt.show()",
    "a call of the task": "double(10**9)",
    "a list": "found = [double(n) for n in range(10**9)]",
    "another language": "%%bash\nsleep 60",
    "no Python": "this is a note",
}


@pytest.mark.parametrize("what", EXPERIMENTS)
def test_an_experiment_is_left_out(what):
    """What only tries the tasks out takes no time when they are graded."""
    made = submitted(SOLVED)
    made["cells"].insert(3, cell("import time\nimport matplotlib.pyplot as plt"))
    made["cells"].insert(4, cell(EXPERIMENTS[what]))
    data = two_tasks.json.dumps(made).encode()
    found = read_submission(data, student="ada", filename="x", assignment=ASSIGNMENT, limits=Limits())

    assert found.own == {}


def test_settings_are_kept_without_the_experiment():
    """Of a cell that matters to no task its settings run, with the imports and constants that they need."""
    source = "import torch\nSEED = 3\nother = 4\ntorch.manual_seed(SEED)\nrun(other)\nsys.path[0] = 'x'"

    assert settings_of(source, frozenset({"sys"})) == (
        "import torch\nSEED = 3\ntorch.manual_seed(SEED)\nsys.path[0] = 'x'"
    )
    assert settings_of("import torch\nSEED = 3", frozenset()) == ""


DEEP = "+".join(["1"] * 4_000)
HOSTILE = (DEEP, "(" * 3_000, "\0", "x" * 10**6, f"torch.manual_seed({DEEP})", "a" + ".b" * 4_000 + "()")


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_cell_leaves_nothing(source):
    """Deep, long and broken cells raise nothing where they are read, and bind nothing."""
    assert effects_of(source).binds == frozenset()
    assert settings_of(source, frozenset({"torch", "a"})) in ("", source)
    assert used_globals(source) <= {"torch", "a"}
    assert borrow(ASSIGNMENT, [source]) == {}


def test_hidden_tests_are_never_borrowed():
    """What stands between the marks of hidden tests does not reach the student's process."""
    check = two_tasks.check("double", 3.0, 6.0)
    check["source"] = f"### BEGIN HIDDEN TESTS\nsecret = 8231\n### END HIDDEN TESTS\nseen = 1\n{check['source']}"
    made = two_tasks.source_notebook()
    made["cells"][2] = check
    assignment = two_tasks.read_assignment(two_tasks.json.dumps(made).encode(), two_tasks.NAME)

    assert borrow(assignment, ["def f():\n    return secret + seen"]) == {2: "seen = 1"}
