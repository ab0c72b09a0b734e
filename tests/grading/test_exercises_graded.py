"""The course's own exercises in the course's own grader: right, untouched, and wrong in one task."""

import json

import pytest
from support import submissions
from support.sandbox_here import needs_sandbox

from course_utils.grading.assignment import read_assignment
from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.submission import Submission
from course_utils.sandbox.limits import Limits

pytestmark = needs_sandbox


def code_of(notebook):
    """Return the text of a notebook's solution cells, by grade id."""
    return {grade_id: "".join(cell["source"]) for grade_id, cell in submissions.solution_cells(notebook).items()}


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_an_exercise_in_the_sandbox(name):
    """The model solution earns all, the untouched release nothing, and a wrong task loses its own points alone."""
    source = submissions.source_notebook(name)
    model = code_of(source)
    first_wrong = {grade_id: next(iter(kept.values())) for grade_id, kept in submissions.wrong_solutions(name).items()}
    with Grader(read_assignment(json.dumps(source).encode(), name), Limits()) as grader:
        full = {task.grade_id: task.max_points for task in grader.model.tasks}
        right = grader.grade(Submission("right", model))
        untouched = grader.grade(Submission("untouched", code_of(submissions.released_notebook(name))))
        wrong = {
            grade_id: grader.grade(Submission("wrong", model | {grade_id: text}))
            for grade_id, text in first_wrong.items()
        }

    assert {task.grade_id: task.points for task in right.tasks} == full, right
    assert (str(right.reason), str(grader.model.reason)) == ("ok", "ok")
    assert [task.points for task in untouched.tasks] == [0] * len(full), untouched
    for grade_id, result in wrong.items():
        lost = [task.grade_id for task in result.tasks if task.points < full[task.grade_id]]
        assert lost == [f"{grade_id}-check"], result
