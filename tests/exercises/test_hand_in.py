"""Handing in: one file, the student's notebook without outputs, and what is not solved."""

import json

import pytest
from support.described_exercise import NAME, SOLUTION, exercise

from course_utils.cli import main as cli
from course_utils.exercises.hand_in import (
    LARGEST_BYTES,
    file_name,
    find_warnings,
    modules_beside,
    without_outputs,
    write_notebook,
)
from course_utils.exercises.notebook import Cell
from course_utils.grading.assignment import read_assignment


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course with one small exercise, solved by its student, with outputs as JupyterLab leaves them."""
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "exercises" / NAME).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SOLUTION)
    return tmp_path


def write(root, solution):
    notebook = exercise(solution=solution)
    for number, cell in enumerate(notebook["cells"], start=1):
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "seen"}]
        cell["execution_count"] = number
    path = root / "exercises" / NAME / f"{NAME}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def test_solved(course, capsys):
    """A solved exercise: exit 0, the file holds the same cells without outputs, and nothing else is left behind."""
    assert cli.main(["submit", "42"]) == 0
    out = capsys.readouterr().out
    assert f"hand in: submit/{NAME}.ipynb" in out
    assert "1 of 1 tasks pass their visible checks" in out

    (path,) = (course / "submit").iterdir()
    handed_in = json.loads(path.read_text(encoding="utf-8"))
    own = json.loads((course / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    assert handed_in == without_outputs(own)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in handed_in["cells"])
    assert read_assignment(path.read_bytes(), NAME).student_ids == ("ex42-task1",)


def test_not_yet(course, capsys):
    """What is not solved is said: exit 1, and the file is there all the same."""
    write(course, "def double(x):\n    return 4")

    assert cli.main(["submit", NAME]) == 1
    out = capsys.readouterr().out
    assert "not yet  task 42.1 Doubling: twice a hundred" in out
    assert "It can be handed in as it is" in out
    assert (course / "submit" / f"{NAME}.ipynb").is_file()


def test_what_is_known_does_not_run_again(course, capsys):
    """After `course check` the checks do not run again for the same notebook."""
    path = write(course, SOLUTION)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += f"\nopen('{course}/runs', 'a').write('x')"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    cli.main(["check", "42"])
    cli.main(["submit", "42"])

    assert (course / "runs").read_text() == "x"


def test_student_in_the_name(course):
    """--student ID becomes part of the file's name."""
    assert cli.main(["submit", "42", "--student", "s1234567"]) == 0
    assert [path.name for path in (course / "submit").iterdir()] == [f"{NAME}_s1234567.ipynb"]


@pytest.mark.parametrize("student", ["../ada", "", "-x", "a b", "a/b", "ada\n", "x" * 65])
def test_ids_that_are_no_file_names(course, capsys, student):
    """An id that could leave the folder or break a name is one sentence and exit code 2, and nothing is written."""
    with pytest.raises(ValueError, match="cannot be part of a file's name"):
        file_name(NAME, student)
    assert cli.main(["submit", "42", f"--student={student}"]) == 2
    assert not (course / "submit").exists()


def test_a_later_file_replaces_the_earlier(course):
    """Handing in again replaces the file."""
    cli.main(["submit", "42"])
    write(course, "def double(x):\n    return x * 2")
    cli.main(["submit", "42"])

    assert "x * 2" in (course / "submit" / f"{NAME}.ipynb").read_text(encoding="utf-8")


def test_a_broken_off_write_keeps_the_earlier(tmp_path):
    """When writing fails, the earlier file is whole and no scratch file is left."""
    path = tmp_path / "a.ipynb"
    path.write_text("earlier")
    with pytest.raises(TypeError):
        write_notebook({"cells": object()}, path)

    assert [entry.name for entry in tmp_path.iterdir()] == ["a.ipynb"]
    assert path.read_text() == "earlier"


def test_doubts():
    """A cell that is there twice and a file that is too large are said before a grader meets them."""
    cells = tuple(Cell(number, "code", "", "ex42-task1", False, 0.0) for number in (1, 2))

    first, second = find_warnings(cells, LARGEST_BYTES + 1)
    assert first.startswith("the cell ex42-task1 is there 2 times")
    assert f"{LARGEST_BYTES + 1:,}" in second
    assert find_warnings(cells[:1], 1000) == ()


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("from helpers import twice", ("helpers.py",)),
        ("import torch, helpers as h\nx = 1", ("helpers.py",)),
        ("if True:\n    import tools.small", ("tools",)),
        ("import torch\nfrom pathlib import Path", ()),
        ("%%writefile helpers.py\ndef twice(x): ...", ()),
    ],
)
def test_a_module_beside_the_notebook_is_named(tmp_path, source, named):
    """What a notebook imports from its folder is not handed in with it, unless a cell writes it."""
    (tmp_path / "helpers.py").touch()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    cells = (Cell(1, "code", source), Cell(2, "code", "from helpers import twice" if "%%" in source else ""))

    assert modules_beside(cells, tmp_path) == named


def test_check_and_submit_say_what_is_not_handed_in(course, capsys):
    """Both commands name the file, before a grader misses it."""
    folder = course / "exercises" / NAME
    (folder / "my_part.py").write_text("two = 2\n", encoding="utf-8")
    write(course, f"from my_part import two\n{SOLUTION}")
    for command in ("check", "submit"):
        cli.main([command, NAME[:2]])
        assert "imports my_part.py" in capsys.readouterr().out


def test_a_submit_folder_that_cannot_be_made(course, capsys):
    """Where the file cannot be written, one sentence says why."""
    (course / "submit").write_text("a file in place of the folder")

    assert cli.main(["submit", "42"]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "word"), [("[", "not a notebook"), ('{"cells": []}', "no check cells of exercise 42")]
)
def test_a_notebook_that_is_none(course, capsys, content, word):
    """A broken notebook, or one without the exercise's cells, is one sentence and exit code 2."""
    (course / "exercises" / NAME / f"{NAME}.ipynb").write_text(content)

    assert cli.main(["submit", "42"]) == 2
    assert word in capsys.readouterr().err


def test_unknown_exercise(course, capsys):
    """An unknown exercise gets the nearest names."""
    assert cli.main(["submit", "42_dubling"]) == 2
    assert NAME in capsys.readouterr().err
