"""An exercise of two tasks, and notebooks that students could hand in for it."""

from __future__ import annotations

import json
from typing import Any

from course_utils.grading.assignment import Assignment, read_assignment

NAME = "01_small"
STARTERS = {
    "double": "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError('write double')",
    "halve": "def halve(x):\n    # YOUR CODE HERE\n    raise NotImplementedError('write halve')",
}
SOLVED = {"double": "def double(x):\n    return 2 * x", "halve": "def halve(x):\n    return x / 2"}


def cell(source: Any, grade_id: str | None = None, *, kind: str = "code", **grading: Any) -> dict[str, Any]:
    """Make a cell; with a grade id it is nbgrader's."""
    metadata = {} if grade_id is None else {"nbgrader": {"grade_id": grade_id, "schema_version": 3} | grading}
    return {"cell_type": kind, "metadata": metadata, "source": source}


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    """Make a notebook of some cells."""
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def check(name: str, given: float, expected: float) -> dict[str, Any]:
    """Make the check cell of a task, worth 2 points."""
    lines = [
        f"task = Task('{name}', points=2)",
        f"task.check('{given:g}', yours=lambda: {name}({given}), expected={expected})",
        "task.score()",
    ]
    return cell("\n".join(lines), f"{name}-check", grade=True, solution=False, points=2)


def source_notebook() -> dict[str, Any]:
    """Return the instructor's notebook."""
    tasks = []
    for name, solved in SOLVED.items():
        head, body = solved.split("\n")
        stub = STARTERS[name].splitlines()[-1]
        lines = [head, "    ### BEGIN SOLUTION", body, "    ### END SOLUTION", stub]
        expected = 6.0 if name == "double" else 1.5
        tasks += [cell("\n".join(lines), name, grade=False, solution=True), check(name, 3.0, expected)]
    setup = cell("from course_utils import Task") | {"id": "setup"}
    return notebook(setup, *tasks)


def source_bytes() -> bytes:
    """Return the instructor's notebook as a file."""
    return json.dumps(source_notebook()).encode()


def assignment() -> Assignment:
    """Return the exercise, taken apart."""
    return read_assignment(source_bytes(), NAME)


def submitted(code: dict[str, str] | None = None) -> dict[str, Any]:
    """Return a student's notebook with this code in its solution cells; the rest is as handed out."""
    made = source_notebook()
    for each in made["cells"]:
        grade_id = each["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in STARTERS:
            each["source"] = (STARTERS | (code or {}))[grade_id]
    return made


def submitted_bytes(code: dict[str, str] | None = None) -> bytes:
    """Return a student's notebook as a file."""
    return json.dumps(submitted(code)).encode()
