"""A small exercise with one task, described for tests: right, or wrong in one way."""

from __future__ import annotations

NAME = "42_doubling"
SOLUTION = '''def double(x):
    """Return twice x."""
    ### BEGIN SOLUTION
    answer_that_is_right = x + x
    return answer_that_is_right
    ### END SOLUTION
    raise NotImplementedError("task 42.1: write double")'''
CHECK = """task = Task("42.1 Doubling", points=2)
task.check("twice two", yours=lambda: double(2), expected=4)
### BEGIN HIDDEN TESTS
task.check("twice a hundred", yours=lambda: double(100), expected=200)
### END HIDDEN TESTS
task.score()"""


def cell(cell_id, source, **grading):
    """Describe a code cell; with nbgrader's fields where some are given."""
    known = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    metadata = {"nbgrader": known | {"grade_id": cell_id, "cell_type": "code"} | grading} if grading else {}
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def exercise(*, solution=SOLUTION, check=CHECK, tools=None, **grading):
    """Describe an exercise with one task that is fit for release, unless told otherwise."""
    cells = [
        cell("ex42-setup", "from course_utils import Task, in_student_process"),
        cell("ex42-task1", solution, solution=True),
        *([cell("ex42-task1-tools", tools, locked=True)] if tools else []),
        cell("ex42-task1-check", check, **({"grade": True, "locked": True, "points": 2} | grading)),
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
