"""What VS Code and Colab leave in a file: who saved it, which cells lost their metadata, when it was written."""

import copy
import json
import os

import pytest
from support.found import found
from support.paths import ROOT

from course_utils.cli.main import main
from course_utils.exercises.course import exercise_names
from course_utils.exercises.editors import editor_of, lost_cells, when_saved
from course_utils.exercises.notebook import read_cell, read_cells

NAME = "04_measuring_time"
EXERCISE = json.loads((ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))


def stripped(notebook):
    """Return a notebook as an editor leaves it that keeps ids and drops every cell's metadata, as VS Code once did."""
    cells = [cell | {"metadata": {}} for cell in notebook["cells"]]
    return notebook | {"cells": cells, "metadata": {"language_info": {"name": "python"}}}


def as_colab(notebook, *, keeps_nbgrader=True):
    """Return a notebook in Colab's form: an older format, ids in the metadata, a mark of its own."""
    changed = copy.deepcopy(notebook) | {"nbformat_minor": 0, "metadata": {"colab": {"provenance": []}}}
    for cell in changed["cells"]:
        cell["metadata"] = (cell["metadata"] if keeps_nbgrader else {}) | {"id": cell.pop("id")}
    return changed


def copied(notebook):
    """Return a notebook whose check of task 4.2 was pasted as text into a new cell, without id and metadata."""
    changed = copy.deepcopy(notebook)
    for cell in changed["cells"]:
        if cell["id"] == "ex04-task2-check":
            cell |= {"id": "a1b2c3d4", "metadata": {}}
    return changed


def cells_of(notebook):
    """Read the cells of a notebook."""
    return tuple(read_cell(number, cell) for number, cell in enumerate(notebook["cells"], start=1))


def test_no_exercise_has_lost_cells():
    """In the released exercises every cell of a task has its metadata, in Colab's form too."""
    for name in found(exercise_names(ROOT)):
        path = ROOT / "exercises" / name / f"{name}.ipynb"
        assert lost_cells(read_cells(path)) == (), name
        assert lost_cells(cells_of(as_colab(json.loads(path.read_text(encoding="utf-8"))))) == (), name


def test_lost_cells_are_named_by_what_is_left():
    """By the id where it is kept, in its place or in Colab's; else by the number of a cell that makes a task."""
    by_id = {"ex04-task1", "ex04-task1-check", "ex04-task4-queue"}

    assert by_id <= set(lost_cells(cells_of(stripped(EXERCISE))))
    assert by_id <= set(lost_cells(cells_of(as_colab(EXERCISE, keeps_nbgrader=False))))
    (number,) = lost_cells(cells_of(copied(EXERCISE)))
    assert number.startswith("cell ")


@pytest.mark.parametrize(
    "source", ["turn = Turn('a')", "Task(", "'Task(\"4.1\")'", "def Task(name): pass", "x = 1\x00"]
)
def test_a_students_own_cell_is_not_lost(source):
    """Code that makes no task is the student's own."""
    assert lost_cells([read_cell(1, {"cell_type": "code", "source": source, "metadata": {}})]) == ()


def test_editors_are_known_by_their_marks():
    """Colab marks the notebook, VS Code a cell; JupyterLab and broken metadata mark nothing."""
    vscode = stripped(EXERCISE)
    vscode["cells"] = [*vscode["cells"], {"cell_type": "code", "metadata": {"vscode": {"languageId": "python"}}}]

    assert editor_of(as_colab(EXERCISE)) == "Colab"
    assert editor_of(vscode) == "VS Code"
    assert editor_of(EXERCISE) == ""
    assert editor_of({"cells": [1, {"metadata": "text"}], "metadata": None}) == ""


@pytest.mark.parametrize(("ago_s", "words"), [(4, "4 s ago"), (200, "3 min ago"), (90_000, "-"), (-5, "0 s ago")])
def test_when_a_file_was_saved(tmp_path, ago_s, words):
    """A moment ago in seconds, then in minutes, then the date; a clock that was set back counts as now."""
    path = tmp_path / "a.ipynb"
    path.write_text("{}")
    os.utime(path, (1_750_000_000, 1_750_000_000))

    assert words in when_saved(path, 1_750_000_000 + ago_s)


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Check an exercise that an editor changed; return the exit code and what was said."""

    def run(notebook):
        path = tmp_path / "mine.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        monkeypatch.chdir(ROOT)
        code = main(["check", "04", "--notebook", str(path)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def test_check_says_what_an_editor_lost(check):
    """Where no cell is known the command says why, and by whom; where one is lost, the others are checked."""
    code, said = check(as_colab(EXERCISE, keeps_nbgrader=False))
    assert code == 2
    assert "lost the metadata" in said
    assert "Colab" in said
    assert "course start" in said
    code, said = check(copied(EXERCISE))
    assert code == 1
    assert "lost the metadata" in said
    assert "as saved at" in said


def test_check_reads_what_colab_saved(check):
    """In Colab's form, with nbgrader's metadata, every task is checked and nothing is said to be lost."""
    code, said = check(as_colab(EXERCISE))

    assert code == 1  # nothing is written yet
    assert "lost" not in said
    assert all(f"4.{number}" in said for number in range(1, 5))
