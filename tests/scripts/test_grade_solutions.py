"""Grading the course's own solutions: what is handed in, and what the grader's answer becomes."""

import json
import sys

import pytest
from support import submissions

from course_utils.exercises.notebook import read_cells
from course_utils.exercises.runner import run_checks
from scripts import grade_solutions

# answers as the grader would: the folder has to hold one student's notebook of the exercise that is asked for
GRADER = """
import pathlib, sys
name, option, folder = sys.argv[1:]
found = list(pathlib.Path(folder).rglob("*.ipynb"))
assert option == "--from" and [path.stem for path in found] == [name], found
print("graded", name)
sys.exit(0 if name != {failing!r} else 1)
"""


def stand_in(failing=""):
    """Return the command of a grader that looks at what it gets and refuses one exercise."""
    return (sys.executable, "-c", GRADER.format(failing=failing))


def test_solved_notebooks_pass_every_visible_check(tmp_path):
    """What is handed in for an exercise passes its visible checks, and holds no hidden test."""
    name = submissions.EXERCISES[0]
    made = grade_solutions.handed_in(submissions.released_notebook(name), submissions.source_notebook(name))
    path = tmp_path / f"{name}.ipynb"
    path.write_text(json.dumps(made))

    assert run_checks(name, read_cells(path), folder=tmp_path).passed
    assert "BEGIN HIDDEN TESTS" not in path.read_text()


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_only_the_students_cells_change(name):
    """Every cell that students do not write is that of the released notebook."""
    released = submissions.released_notebook(name)
    made = grade_solutions.handed_in(released, submissions.source_notebook(name))
    changed = [
        after["metadata"]["nbgrader"]["grade_id"]
        for before, after in zip(released["cells"], made["cells"], strict=True)
        if before != after
    ]

    assert changed == list(submissions.solution_cells(released))


def test_an_old_release_is_refused():
    """A task without the instructor's solution is named, with what to do."""
    cell = {"metadata": {"nbgrader": {"solution": True, "grade_id": "ex99-task1"}}, "source": ""}

    with pytest.raises(ValueError, match=r"no solution for ex99-task1; .*make release"):
        grade_solutions.handed_in({"cells": [cell]}, {"cells": []})


def test_every_exercise_is_graded(tmp_path, capsys):
    """Each exercise is handed to the grader once; all with exit code 0 is exit code 0."""
    output = tmp_path / "grading.json"

    assert grade_solutions.main(["--json", str(output)], command=stand_in()) == 0
    graded = json.loads(output.read_text())
    assert [entry["exercise"] for entry in graded] == submissions.EXERCISES
    assert graded[0]["said"] == f"graded {submissions.EXERCISES[0]}"
    assert capsys.readouterr().out.count("exit code 0") == len(submissions.EXERCISES)


def test_one_refused_solution_fails(tmp_path):
    """One exercise without full points makes the whole run exit code 1, and the others are still graded."""
    failing = submissions.EXERCISES[1]
    output = tmp_path / "grading.json"

    assert grade_solutions.main(["--json", str(output)], command=stand_in(failing)) == 1
    assert {entry["exercise"]: entry["exit_code"] for entry in json.loads(output.read_text())}[failing] == 1


def test_a_grader_that_does_not_end(monkeypatch):
    """A grader that takes too long is stopped, which is exit code 124 and says so."""
    monkeypatch.setattr(grade_solutions, "TIMEOUT_S", 0.5)
    waits = (sys.executable, "-c", "import sys; sys.stdin.read(); import threading; threading.Event().wait()")

    assert grade_solutions.grade(waits, "04_a", submissions.ROOT)["exit_code"] == 124
