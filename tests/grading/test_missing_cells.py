"""One missing, untouched or broken cell loses itself only: the other tasks keep their points, and there is a grade."""

import json

import pytest
from support import two_tasks
from support.two_tasks import NAME, SOLVED, cell, submitted

from course_utils.grading.course import Course
from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.reading.submission import read_submission
from course_utils.grading.result import Reason, SubmissionResult, TaskResult, read_result
from course_utils.grading.running.report import report_rows, short_rows
from course_utils.grading.running.worker import mark_unwritten
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()


def read(made):
    """Read a notebook as a submission."""
    data = json.dumps(made).encode()
    return read_submission(data, student="ada", filename=f"{NAME}.ipynb", assignment=ASSIGNMENT, limits=Limits())


def result_with(reason, points=0.0):
    """Return a result of one solved task and one with a reason."""
    tasks = (
        TaskResult("double-check", "double", 2.0, 2.0, Reason.OK),
        TaskResult("halve-check", "h", points, 2.0, reason),
    )
    return SubmissionResult(NAME, "ada", tasks, reason)


def without_halve(made):
    """Delete the second task's cell."""
    del made["cells"][3]


def as_markdown(made):
    """Turn the second task's cell into Markdown."""
    made["cells"][3]["cell_type"] = "markdown"


@pytest.mark.parametrize("change", [without_halve, as_markdown])
def test_a_missing_cell_is_one_task(change):
    """A deleted cell, or one turned into text, leaves the other tasks' code."""
    made = submitted(SOLVED)
    change(made)
    found = read(made)

    assert (found.code, found.missing, found.reason) == ({"double": SOLVED["double"]}, ("halve",), None)


@pytest.mark.parametrize("reason", [Reason.MISSING, Reason.CRASHED, Reason.TIMEOUT, Reason.UNWRITTEN])
def test_the_other_tasks_have_their_points(reason):
    """A submission with one task lost has a total in the report, the table, the page, and after its journey as JSON."""
    result = read_result(result_with(reason).to_json())

    assert result.graded
    head, row = report_rows([result])
    assert (row[head.index("total")], row[head.index("reason")]) == (2.0, reason.value)
    assert "2/4" in short_rows([result])[1]
    assert "2 of 4 points" in feedback_page(result).decode()


def test_a_submission_without_any_cell_has_no_grade():
    """Where every task is missing nothing was graded: a grade of 0 and no grade are not the same."""
    found = read(two_tasks.notebook(cell("print(1)")))
    result = Course(ASSIGNMENT, Limits()).without_grade(found, found.reason, found.problem)

    assert result.reason is Reason.MISSING
    assert not result.graded


def test_an_untouched_cell_is_told_from_a_wrong_one():
    """A task whose cell is as it was handed out says so on the page; a wrong one stays wrong."""
    only_double = read(submitted({"double": "def double(x):\n    return 0"}))
    tasks = tuple(TaskResult(f"{name}-check", name, 0.0, 2.0, Reason.WRONG) for name in SOLVED)
    marked = mark_unwritten(SubmissionResult(NAME, "ada", tasks, Reason.WRONG), only_double, ASSIGNMENT)
    untouched = read(submitted())
    empty = mark_unwritten(SubmissionResult(NAME, "ada", tasks, Reason.WRONG, untouched.notes), untouched, ASSIGNMENT)

    assert [task.reason for task in marked.tasks] == [Reason.WRONG, Reason.UNWRITTEN]
    assert marked.reason is Reason.WRONG
    assert empty.reason is Reason.UNWRITTEN
    assert empty.graded
    page = feedback_page(empty).decode()
    assert "the notebook is as it was handed out" in page
    assert "a check failed" not in page
