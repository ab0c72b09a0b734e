"""A student's day in VS Code and with Colab, as far as it can run here: the files that they leave, and their kernels.

VS Code runs a kernel in the notebook's folder without a Jupyter server, names the notebook in a variable, and writes
metadata of its own. What its releases dropped stands in `course_utils.exercises.editors`; neither editor runs here.
"""

import json
from pathlib import Path

import pytest
from support.found import found
from support.submissions import ROOT, solved
from support.vs_code import as_vs_code, errors_in, run_as_vs_code

from course_utils.cli.main import main
from course_utils.grading.assignment import read_assignment
from course_utils.grading.reading.submission import read_submission
from course_utils.sandbox.limits import Limits

NAME = "04_measuring_time"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Lay the course out as `course start` does."""
    folder = tmp_path_factory.mktemp("editors") / "course"
    assert main(["start", str(folder)]) == 0
    return folder


def as_colab(notebook):
    """Return a notebook as Colab saves it: nbformat 4.0, ids in the metadata, where nbgrader's stays."""
    cells = [
        {key: value for key, value in cell.items() if key != "id"} | {"metadata": cell["metadata"] | {"id": cell["id"]}}
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells, "metadata": {"colab": {"provenance": []}}, "nbformat_minor": 0}


def test_a_lesson_runs_in_vs_code(course):
    """A lesson without its metadata runs to its end, and a prediction is kept under the lesson's name."""
    path = course / "notebooks" / "00_start_here.ipynb"
    text = path.read_text(encoding="utf-8")
    assert '\\"product with side 1024 on the CPU\\", ..., \\"ms\\"' in text
    path.write_text(text.replace('on the CPU\\", ..., \\"ms\\"', 'on the CPU\\", 40, \\"ms\\"'), encoding="utf-8")
    notebook = run_as_vs_code(path)

    kept = json.loads((course / ".course" / "predictions.json").read_text(encoding="utf-8"))
    assert errors_in(notebook) == []
    assert set(kept) == {"00_start_here"}
    assert any("measured" in row for row in found(kept["00_start_here"].values()))


def test_an_exercise_saved_in_vs_code_is_not_lost(course, monkeypatch, capsys):
    """Without metadata `course check` says what was lost, and the grader still takes every answer, by cells' ids."""
    monkeypatch.chdir(course)
    mine = course / "exercises" / NAME / f"{NAME}.ipynb"
    before = mine.read_text(encoding="utf-8")
    saved = as_vs_code(solved(NAME))
    mine.write_text(json.dumps(saved), encoding="utf-8")

    assert main(["check", "04"]) == 2
    said = capsys.readouterr().err
    mine.write_text(before, encoding="utf-8")
    assert "VS Code" in said
    assert "lost the metadata" in said
    assert taken(saved) == taken(solved(NAME))


def test_an_exercise_saved_in_colab_is_checked_and_taken(course, monkeypatch, capsys):
    """A notebook downloaded from Colab is checked with --notebook, and the grader takes every answer."""
    monkeypatch.chdir(course)
    Path("from_colab.ipynb").write_text(json.dumps(as_colab(solved(NAME))), encoding="utf-8")

    assert main(["check", "04", "--notebook", "from_colab.ipynb"]) == 0, capsys.readouterr().out
    assert taken(as_colab(solved(NAME))) == taken(solved(NAME))


def taken(notebook):
    """Return the code that the grader takes from a submitted notebook, by task."""
    assignment = read_assignment((ROOT / "solutions" / NAME / f"{NAME}.ipynb").read_bytes(), NAME)
    data = json.dumps(notebook).encode()
    read = read_submission(data, student="ada", filename=f"{NAME}.ipynb", assignment=assignment, limits=Limits())
    assert set(found(read.code)) == set(assignment.student_ids)
    return read.code
