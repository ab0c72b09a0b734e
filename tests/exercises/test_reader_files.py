"""What a reader gets is laid out whole, and nothing of theirs is ever replaced."""

import json
import re

import pytest
from support.paths import ROOT

from course_utils.cli.main import main
from course_utils.exercises.course import exercise_names, is_course_root
from course_utils.exercises.reader_files import (
    READER_FILES,
    LessonFilesError,
    bring_files,
    find_files,
    lay_out,
    reader_files,
)


def test_the_clone_has_every_file_of_the_reader():
    """Each pattern finds something, and every lesson and exercise is among it."""
    for pattern in READER_FILES:
        assert find_files(ROOT, (pattern,)), pattern
    files = reader_files()
    assert {f"exercises/{name}/{name}.ipynb" for name in exercise_names(ROOT)} <= set(files)
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "notebooks").glob("*.ipynb")} <= set(files)
    assert not [name for name in files if "solution" in name]


def test_a_new_folder_becomes_a_course(tmp_path, capsys):
    """`course start` makes the folder, and says what comes next."""
    folder = tmp_path / "my course"

    assert main(["start", str(folder)]) == 0

    assert is_course_root(folder)
    assert "course lab" in capsys.readouterr().out
    lesson = json.loads((folder / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8"))
    assert lesson["cells"]


def test_what_the_reader_changed_stays(tmp_path, capsys):
    """A second start adds what is missing, and names what differs."""
    files = reader_files()
    assert lay_out(tmp_path, files) == ()
    mine, lost = tmp_path / "notebooks" / "00_start_here.ipynb", tmp_path / "LICENSE"
    mine.write_text("mine", encoding="utf-8")
    lost.unlink()

    assert main(["start", str(tmp_path)]) == 0

    assert mine.read_text(encoding="utf-8") == "mine"
    assert lost.is_file()
    assert "notebooks/00_start_here.ipynb" in capsys.readouterr().out


def test_a_folder_with_other_things_is_left_alone(tmp_path, capsys):
    """A folder of something else, and a file, are refused with a sentence; a folder that looks empty is not."""
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")

    assert main(["start", str(tmp_path)]) == 2
    assert main(["start", str(tmp_path / "thesis.txt")]) == 2

    assert "thesis.txt" in capsys.readouterr().err
    looks_empty = tmp_path / "new"
    looks_empty.mkdir()
    (looks_empty / ".DS_Store").write_bytes(b"")
    assert main(["start", str(looks_empty)]) == 0


def test_a_package_without_lessons_says_so(tmp_path, monkeypatch):
    """An installation that lost its files is an error, not an empty course."""
    monkeypatch.setattr("course_utils.exercises.reader_files.PACKED", tmp_path / "none")
    monkeypatch.setattr("course_utils.exercises.reader_files.FOLDER", tmp_path / "package")

    with pytest.raises(FileNotFoundError, match="install"):
        reader_files()


def test_what_a_lesson_reads_comes_beside_it(tmp_path):
    """Where it is missing it is copied, and what the reader changed stays."""
    bring_files("capstone", tmp_path)
    (script,) = (tmp_path / "capstone").glob("*.py")
    assert script.read_bytes() == (ROOT / "notebooks" / "capstone" / script.name).read_bytes()
    script.write_text("mine", encoding="utf-8")
    bring_files("capstone", tmp_path)

    assert script.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["capstone"]


def test_what_cannot_come_is_said_in_one_sentence(tmp_path):
    """A name that no folder has is answered with the nearest one; a place that cannot be written with where it is."""
    with pytest.raises(LessonFilesError, match="capstone"):
        bring_files("capston", tmp_path)
    (tmp_path / "capstone").write_text("a file", encoding="utf-8")
    with pytest.raises(LessonFilesError, match=re.escape(str(tmp_path))):
        bring_files("capstone", tmp_path)
