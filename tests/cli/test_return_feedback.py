"""`course return` and `course canvas`: what they write, their exit codes, and a sentence for bad input."""

import csv
import shutil
import zipfile

import pytest
from support.graded_results import NAME, not_graded, partly, solved
from support.paths import ROOT

from course_utils.cli import main as cli
from course_utils.grading.running.store import store_result


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course with the results of a class, and work in it."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions" / NAME, tmp_path / "solutions" / NAME)
    for result in (solved("ada"), partly("Grace H")):
        store_result(tmp_path / "graded" / NAME, result)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sentence(capsys):
    """Return what was said on standard error: one line."""
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1, err
    return err


def test_return_packs_all_who_have_a_result(course, capsys):
    """Without --from everybody who has a result has a page, below the id."""
    assert cli.main(["return", "04"]) == 0

    path = course / "graded" / NAME / "feedback.zip"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [f"Grace H/{NAME}.html", f"ada/{NAME}.html"]
    assert f"{path}: 2 pages" in capsys.readouterr().out


def test_return_follows_the_zip_that_was_graded(course, capsys):
    """With Moodle's zip pages lie in its folders; who is in it and has no result is named, with exit code 1."""
    with zipfile.ZipFile("moodle.zip", "w") as archive:
        for number, name in enumerate(("Grace H", "late"), start=7):
            archive.writestr(f"{name}_{number}_assignsubmission_file_/{NAME}.ipynb", b"{}")

    assert cli.main(["return", "04", "--from", "moodle.zip", "--output", "f.zip"]) == 1
    with zipfile.ZipFile("f.zip") as archive:
        assert archive.namelist() == [f"Grace H_7_assignsubmission_file_/{NAME}.html"]
    assert "late" in capsys.readouterr().out


def test_canvas_writes_points_and_no_zero_for_an_unknown_grade(course, capsys):
    """Points stand below the exercise's name; a submission without a grade has an empty field and is named."""
    store_result(course / "graded" / NAME, not_graded("alan"))

    assert cli.main(["canvas", "04"]) == 1
    with (course / "graded" / NAME / "canvas.csv").open(encoding="utf-8") as file:
        points = {row["SIS Login ID"]: row[NAME] for row in csv.DictReader(file)}
    assert points == {"": "18", "ada": "18", "Grace H": "10", "alan": ""}
    assert "alan" in capsys.readouterr().out


def test_canvas_fills_an_export(course):
    """With Canvas's export its rows are kept, byte order mark or not."""
    text = "Student,ID,SIS User ID,SIS Login ID,Section,04_measuring_time (5)\n" + (
        '"Lovelace, Ada",1,,ada,A,\n"Hopper, Grace",2,,grace h,A,\n'
    )
    (course / "export.csv").write_text("\ufeff" + text, encoding="utf-8")

    assert cli.main(["canvas", "04", "--export", "export.csv", "--assignment", "5", "--output", "out.csv"]) == 0
    with (course / "out.csv").open(encoding="utf-8") as file:
        points = {row["ID"]: row["04_measuring_time (5)"] for row in csv.DictReader(file)}
    assert points == {"": "18", "1": "18", "2": "10"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["return", "99"], "no exercise is called '99'"),
        (["return", "04", "--output", "f.tar"], "has to end in .zip"),
        (["return", "04", "--output", "no/f.zip"], "there is no folder"),
        (["return", "04", "--from", "no.zip"], "no.zip"),
        (["canvas", "04", "--export", "no.csv"], "no.csv cannot be read"),
        (["canvas", "04", "--export", "nbgrader_config.py"], "this is no export of Canvas"),
        (["canvas", "04", "--output", "no/f.csv"], "there is no folder"),
    ],
)
def test_bad_input_is_one_sentence(course, capsys, words, said):
    """Bad input is exit code 2 and one sentence with the value."""
    assert cli.main(words) == 2
    assert said in sentence(capsys)


@pytest.mark.parametrize("command", ["return", "canvas"])
def test_nothing_graded_says_what_to_do(course, capsys, command):
    """Before anything is graded the sentence names the command that grades."""
    shutil.rmtree(course / "graded")

    assert cli.main([command, "04"]) == 2
    assert "course grade 04" in sentence(capsys)
