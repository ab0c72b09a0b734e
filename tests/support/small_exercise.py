"""A small exercise of five tasks, two points each, for the tests of the grader; no torch, so it starts at once."""

import json

from course_utils.grading.assignment import Assignment, read_assignment
from course_utils.grading.reading.submission import Submission

NAME = "90_small"
# in the text of hidden tests and nowhere else
HIDDEN_MARK = "vermilion-heron"
# in the text of the model solution and nowhere else
SOLUTION_MARK = "cobalt-ibis"
TASKS = {  # task -> head of its function, model solution
    "ex90-task1": ("add(a, b)", "a + b"),
    "ex90-task2": ("square(x)", "x * x"),
    "ex90-task3": ("longest(words)", "max(words, key=len)"),
    "ex90-task4": ("count(fails)", "sum(fails(n) for n in range(4))"),
    "ex90-task5": ("shout(text)", "text.upper()"),
}


def solution(task_id, mark=""):
    """Return the instructor's cell of a task."""
    head, body = TASKS[task_id]
    return "\n".join(
        [
            f"def {head}:",
            "    ### BEGIN SOLUTION",
            f"    return {body}  # {mark}",
            "    ### END SOLUTION",
            f"    raise NotImplementedError('task 90.{task_id[-1]}: write {head.split('(')[0]}')",
        ]
    )


SOLUTIONS = {task_id: solution(task_id) for task_id in TASKS}
CHECKS = {
    "ex90-task1": ("add(1, 2)", "3", "add(-4, 11)", "7"),
    "ex90-task2": ("square(3)", "9", "square(-12)", "144"),
    "ex90-task3": ("longest(['a', 'bcd'])", "'bcd'", "longest(['pelican', 'owl'])", "'pelican'"),
    "ex90-task4": ("count(lambda n: n > 1)", "2", "count(lambda n: n == 0)", "1"),
    "ex90-task5": ("shout('hey')", "'HEY'", "shout('Quiet, please')", "'QUIET, PLEASE'"),
}
POINTS = 2
FULL = POINTS * len(SOLUTIONS)


def code_cell(cell_id, source, **grading):
    """Return a code cell, with nbgrader's metadata where it is given."""
    known = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    metadata = {"nbgrader": known | {"cell_type": "code", "grade_id": cell_id} | grading} if grading else {}
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def notebook(cells):
    """Return a notebook of these cells."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def check_source(task_id):
    """Return the text of a check cell, hidden tests included."""
    visible, expected, hidden, hidden_expected = CHECKS[task_id]
    return "\n".join(
        [
            f'task = Task("{task_id}", points={POINTS})',
            f'task.check("what it says", yours=lambda: {visible}, expected={expected})',
            "### BEGIN HIDDEN TESTS",
            f'task.check("the {HIDDEN_MARK}", yours=lambda: {hidden}, expected={hidden_expected})',
            "### END HIDDEN TESTS",
            "task.score()",
        ]
    )


def source_notebook():
    """Return the instructor's notebook."""
    cells = [code_cell("ex90-setup", "import math\n\nfrom course_utils import Task, in_student_process")]
    for task_id in TASKS:
        cells.append(code_cell(task_id, solution(task_id, SOLUTION_MARK), solution=True))
        cells.append(code_cell(f"{task_id}-check", check_source(task_id), grade=True, locked=True, points=POINTS))
    return notebook(cells)


def assignment(cells=None) -> Assignment:
    """Return the exercise, or one of other cells."""
    content = source_notebook() if cells is None else notebook(cells)
    return read_assignment(json.dumps(content).encode(), NAME)


def submission(changes=None, student="ada") -> Submission:
    """Return a right submission with some cells changed; a cell that is None is missing."""
    code = SOLUTIONS | (changes or {})
    return Submission(student, {grade_id: text for grade_id, text in code.items() if text is not None})
