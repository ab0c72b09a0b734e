"""From the instructor's cell to the student's page: what a hidden check gave and expected is on no page."""

import pytest
from support import small_exercise
from support.sandbox_here import needs_sandbox
from support.small_exercise import NAME, code_cell

from course_utils.grading.checking.engine import Grader
from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.releasing.release_gate import examine_source
from course_utils.sandbox.limits import Limits

pytestmark = needs_sandbox
SECRET = 8231
PLAIN = f"""### BEGIN HIDDEN TESTS
task.check("hidden one", yours=lambda: add({SECRET}, 1), expected={SECRET + 1})
### END HIDDEN TESTS"""
INDENTED = f"""for n in ({SECRET},):
    task.check("seen", yours=lambda: add(1, 2), expected=3)
    ### BEGIN HIDDEN TESTS
    task.check("hidden one", yours=lambda: add(n, 1), expected=n + 1)
    ### END HIDDEN TESTS"""


@pytest.mark.parametrize("hidden", [PLAIN, INDENTED], ids=["column 0", "indented"])
def test_no_hidden_value_reaches_a_page(hidden):
    """A failed hidden check shows title and verdict, also where its markers are indented; the gate refuses those."""
    check = f"task = Task('t', points=2)\n{hidden}\ntask.score()"
    cells = [
        code_cell("ex90-setup", "from course_utils import Task"),
        code_cell("ex90-task1", small_exercise.solution("ex90-task1"), solution=True),
        code_cell("ex90-task1-check", check, grade=True, locked=True, points=2),
    ]
    wrong = small_exercise.submission({"ex90-task1": "def add(a, b):\n    return 3"})
    with Grader(small_exercise.assignment(cells), Limits(task_s=20)) as grader:
        result = grader.grade(wrong)

    failed = [one for one in result.tasks[0].checks if one.title == "hidden one"]
    assert [one.passed for one in failed] == [False]
    page = feedback_page(result).decode()
    assert "hidden one" in page
    assert str(SECRET) not in page
    assert str(SECRET + 1) not in page
    problems = [str(problem) for problem in examine_source(NAME, small_exercise.notebook(cells))]
    assert any("column 0" in problem for problem in problems) == (hidden is INDENTED)
