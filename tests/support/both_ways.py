"""A notebook of the exercise of two tasks, graded and checked: what each way gives, task by task."""

import json

from course_utils.exercises.notebook import read_cells
from course_utils.grading.reading.submission import read_submission
from course_utils.sandbox.limits import Limits
from support.forked_checks import run_checks
from support.two_tasks import NAME


def both(grader, made, tmp_path):
    """Return the points of each task by the grader, by `course check`, and both results."""
    data = json.dumps(made).encode()
    path = tmp_path / f"{NAME}.ipynb"
    path.write_bytes(data)
    limits = Limits()
    found = read_submission(data, student="ada", filename=path.name, assignment=grader.assignment, limits=limits)
    graded = grader.grade(found)
    checked = run_checks(NAME, read_cells(path), tmp_path)
    return [task.points for task in graded.tasks], [task.points for task in checked.tasks], (graded, checked)
