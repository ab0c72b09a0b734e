"""From the student's cell to the page and the report: which line raised, and which task ran out of time."""

from dataclasses import replace

import pytest
from support import small_exercise
from support.sandbox_here import needs_sandbox

from course_utils.grading.checking.engine import Grader
from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.result import Reason
from course_utils.grading.running.report import message_of
from course_utils.sandbox.limits import Limits

pytestmark = needs_sandbox
CHANGES = {
    "ex90-task1": "def add(a, b):\n    c = a\n    return c + undefined_name",
    "ex90-task2": "def square(x)\n    return x * x",
    "ex90-task3": "limit = 3\nwords = 1 / 0\ndef longest(words): return max(words)",
    "ex90-task4": "def count(fails):\n    while True:\n        pass",
}


@pytest.fixture(scope="module")
def result():
    """Grade one submission with a mistake in each task."""
    with Grader(small_exercise.assignment(), Limits(task_s=4)) as grader:
        return grader.grade(small_exercise.submission(CHANGES))


def test_the_line_is_on_the_page_and_in_the_report(result):
    """A NameError inside a function, a syntax error and an error in the cell name the line and its text."""
    raised, syntax, cell, *_ = result.tasks

    assert "(line 3: return c + undefined_name)" in raised.checks[0].yours
    assert "(line 1: def square(x))" in syntax.message
    assert syntax.error == "SyntaxError"
    assert "(line 2: words = 1 / 0)" in cell.message
    page = feedback_page(result).decode()
    for said in ("line 3: return c + undefined_name", "line 1: def square(x)", "line 2: words = 1 / 0"):
        assert said in page
    assert "could not read the cell" in page
    assert "ipython-input" not in page  # a file that nobody has
    assert [task.reason for task in (raised, syntax, cell)] == [Reason.RAISED] * 3
    said = message_of(replace(result, reason=Reason.RAISED))
    assert "NameError" in said
    assert "line 3: return c + undefined_name" in said


def test_an_error_of_a_hidden_check_is_not_told():
    """Where only hidden checks got an error, the message says nothing that they could have given the code."""
    code = "def shout(text):\n    if text != 'hey':\n        raise ValueError(text)\n    return text.upper()"
    with Grader(small_exercise.assignment(), Limits(task_s=20)) as grader:
        task = grader.grade(small_exercise.submission({"ex90-task5": code})).tasks[-1]

    assert task.reason is Reason.WRONG
    assert task.message == ""


def test_a_timeout_names_the_task(result):
    """The task that ran out of time has its name on the page, and no id of a cell."""
    (slow,) = [task for task in result.tasks if task.reason is Reason.TIMEOUT]
    page = feedback_page(result).decode()

    assert slow.name == "ex90-task4"  # as its check cell names it
    assert "ex90-task4-check" not in page
