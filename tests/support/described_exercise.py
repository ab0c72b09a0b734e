"""A small exercise with one task, described for tests: right, or wrong in one way."""

from __future__ import annotations

from support.small_exercise import code_cell, notebook

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


def exercise(*, solution=SOLUTION, check=CHECK, tools=None, **grading):
    """Describe an exercise with one task that is fit for release, unless told otherwise."""
    cells = [
        code_cell("ex42-setup", "from course_utils import Task, in_student_process"),
        code_cell("ex42-task1", solution, solution=True),
        *([code_cell("ex42-task1-tools", tools, locked=True)] if tools else []),
        code_cell("ex42-task1-check", check, **({"grade": True, "locked": True, "points": 2} | grading)),
    ]
    return notebook(cells)
