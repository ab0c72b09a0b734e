"""Practice: the visible checks of a notebook, run in a child process that may die or hang."""

import time

import pytest

from course_utils.exercises.notebook import Cell
from course_utils.exercises.runner import run_checks

CHECK = """
from course_utils import Task
task = Task("{name}", points=2)
task.check("right", yours=lambda: answer(), expected=42)
task.score()
"""


def notebook(*sources):
    """Describe a notebook: plain strings are code cells, (name, source) pairs are check cells."""
    cells = []
    for number, source in enumerate(sources, start=1):
        graded = isinstance(source, tuple)
        text = CHECK.format(name=source[0]) if graded else source
        cells.append(Cell(number, "code", text, source[0] if graded else None, graded, 2.0))
    return tuple(cells)


def run(tmp_path, *sources, **options):
    return run_checks("ex", notebook(*sources), folder=tmp_path, **options)


def test_passed_and_not_yet(tmp_path):
    """A right task passes, a wrong one shows yours against expected, and both are counted."""
    result = run(tmp_path, "def answer(): return 42", ("one",), "def answer(): return 41", ("two",))

    assert [task.passed for task in result.tasks] == [True, False]
    assert not result.passed
    assert "yours:    41" in str(result)
    assert "expected: 42" in str(result)
    assert "1 of 2 tasks passed" in str(result)


def test_all_right(tmp_path):
    """With every task right the result is passed and has no warnings."""
    result = run(tmp_path, "def answer(): return 42", ("one",))

    assert result.passed
    assert result.warnings == ()


def test_errors_of_other_cells_are_named(tmp_path):
    """A cell that raises is named with its number and error; later cells still run."""
    result = run(tmp_path, "1 / 0", "def answer(): return 42", ("one",))

    assert result.errors == ((1, "ZeroDivisionError: division by zero (line 1: 1 / 0)"),)
    assert result.passed


def test_magics_work(tmp_path):
    """IPython's magics are fine in a student's notebook."""
    assert run(tmp_path, "%precision 3\ndef answer(): return 42", ("one",)).passed


@pytest.mark.parametrize(
    "ending", ["import os; os._exit(0)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_a_notebook_that_dies_keeps_earlier_verdicts(tmp_path, ending):
    """A notebook whose process dies keeps what was checked before, and says where it ended."""
    result = run(tmp_path, "def answer(): return 42", ("one",), ending, ("two",))

    assert [task.passed for task in result.tasks] == [True]
    assert not result.passed
    assert "cell 3" in result.stopped
    assert result.unchecked == ("two",)


def test_a_notebook_that_hangs_is_stopped(tmp_path):
    """An endless loop ends at the limit, with the cell where it stood, and its children end with it."""
    endless = "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nprint(child.pid)\nwhile True: pass"
    start = time.monotonic()
    result = run(tmp_path, "def answer(): return 42", ("one",), endless, ("two",), timeout_s=8)

    assert time.monotonic() - start < 60
    assert "not finished within 8 s" in result.stopped
    assert "cell 3" in result.stopped
    assert len(result.tasks) == 1


@pytest.mark.parametrize("ending", ["import sys; sys.exit(0)", "exit()", "raise SystemExit"])
def test_exit_is_no_pass(tmp_path, ending):
    """Leaving early with exit code 0 passes nothing."""
    assert not run(tmp_path, ending, ("one",)).passed


def test_input_does_not_wait(tmp_path):
    """A cell that asks for input gets an error at once, and the message names it."""
    result = run(tmp_path, "name = input()", "def answer(): return 42", ("one",))

    assert result.passed
    assert result.errors[0][0] == 1


def test_a_check_without_verdict_is_not_passed(tmp_path):
    """A check cell whose code was removed gives no verdict, which is not a pass."""
    cells = (Cell(1, "code", "pass", "one", True, 2.0),)
    result = run_checks("ex", cells, folder=tmp_path)

    assert not result.passed
    assert result.unchecked == ("one",)


def test_files_are_read_beside_the_notebook(tmp_path):
    """The notebook's folder is the working folder, as in JupyterLab."""
    (tmp_path / "data.txt").write_text("42")
    assert run(tmp_path, "def answer(): return int(open('data.txt').read())", ("one",)).passed


def test_progress_is_reported(tmp_path):
    """Each finished cell is reported, for the progress bar."""
    seen = []
    run(tmp_path, "a = 1", "b = 2", on_cell=lambda: seen.append(1))

    assert len(seen) == 2
