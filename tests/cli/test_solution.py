"""`course solution` opens the explained solution of a solved exercise, and of another one only when asked twice."""

import json
import os

import pytest
from support.described_exercise import NAME, SOLUTION, exercise

from course_utils.cli import main as cli


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course with one exercise; JupyterLab is not started, what would start it is kept."""
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path)
    started = []
    monkeypatch.setattr(os, "execv", lambda program, words: started.append(words))
    write(tmp_path / "solutions", exercise())
    return tmp_path, started


def write(folder, notebook):
    path = folder / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.parametrize(
    ("solution", "words", "code"),
    [
        (SOLUTION, [], 0),
        ("def double(x):\n    return 4", [], 1),
        ("raise NotImplementedError", [], 1),
        ("raise NotImplementedError", ["--anyway"], 0),
        (None, [], 1),
        (None, ["--anyway"], 0),
    ],
)
def test_it_opens_when_the_exercise_is_solved(course, capsys, solution, words, code):
    """Solved, or with --anyway: the place is printed and JupyterLab starts on it; else what is missing."""
    root, started = course
    if solution is not None:
        write(root / "exercises", exercise(solution=solution))

    assert cli.main(["solution", NAME, *words, "--no-browser"]) == code
    out = capsys.readouterr().out
    place = f"solutions/{NAME}/{NAME}.ipynb"
    assert (place in out) == (code == 0)
    assert [place in " ".join(call) for call in started] == ([True] if code == 0 else [])
    assert code == 0 or "--anyway" in out


def test_an_archive_for_students_has_none(course, capsys):
    """Where solutions/ is not, one sentence says so."""
    root, started = course
    write(root / "exercises", exercise())
    (root / "solutions" / NAME / f"{NAME}.ipynb").unlink()

    assert cli.main(["solution", NAME, "--anyway"]) == 2
    assert "is not here" in capsys.readouterr().err
    assert started == []


def test_an_unknown_exercise(course, capsys):
    """Wrong usage is one sentence."""
    assert cli.main(["solution", "99"]) == 2
    assert "no exercise is called '99'" in capsys.readouterr().err
