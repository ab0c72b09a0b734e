"""An exception is told with the line of the student's own cell, in a notebook, in `course check` and when graded."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_utils.exercises import task
from course_utils.exercises.cell_line import cell_line
from course_utils.exercises.task import Task

HELPER = "def helper(x):\n    y = x + 1\n    return missing + y\n\n\ndef call(x):\n    return helper(x)"


@pytest.fixture
def shell():
    """Return a shell that runs cells as `course check` does."""
    shell = InteractiveShell.instance(colors="nocolor", xmode="Plain")
    yield shell
    InteractiveShell.clear_instance()


def run(shell, *cells):
    """Run cells; return the error of the last one."""
    outcomes = [shell.run_cell(cell, store_history=True) for cell in cells]
    return outcomes[-1].error_before_exec or outcomes[-1].error_in_exec


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (("a = 1\nb = a / 0",), "line 2: b = a / 0"),
        (("import math\n\n\nmath.sqrt(-1)  # no",), "line 4: math.sqrt(-1)  # no"),
        ((HELPER, "1\ncall(2)"), "line 3: return missing + y"),
        (("def f(x)\n    return x",), "line 1: def f(x)"),
        (("x = 1\n  y = 2",), "line 2: y = 2"),
        (("raise ValueError('x')",), "line 1: raise ValueError('x')"),
        (("import json\njson.loads('{')",), "line 2: json.loads('{')"),
    ],
)
def test_the_innermost_line_of_a_cell(shell, cells, line, capsys):
    """It is the last line of a cell on the way to the error, whatever library raised below it."""
    assert cell_line(run(shell, *cells)) == line


def test_no_cell_no_line():
    """An error that came through no cell has no line."""
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0

    assert cell_line(caught.value) == ""


def test_a_check_names_the_student_s_line_not_its_own(shell, capsys):
    """A check that calls the student's function shows the function's line; of its own lambda it says nothing."""
    run(shell, HELPER)
    shell.user_ns["Task"] = Task
    run(
        shell,
        "t = Task('t', points=2)\n"
        "t.check('deep', yours=lambda: call(1), expected=1)\n"
        "t.check('absent', yours=lambda: gone(1), expected=1)\n",
    )
    deep, absent = shell.user_ns["t"].outcomes
    task.reports.clear()

    assert deep.yours == "NameError: name 'missing' is not defined (line 3: return missing + y)"
    assert absent.yours == "NameError: name 'gone' is not defined"


def test_long_lines_are_cut(shell, capsys):
    """A line of thousands of characters does not fill the page."""
    assert len(cell_line(run(shell, "x = 1 / 0  # " + "y" * 5000))) < 150
