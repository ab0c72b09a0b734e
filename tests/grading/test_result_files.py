"""Files about students have safe, distinct names, and are never written through a link."""

import os

import pytest
from support.graded_results import HOSTILE_STUDENTS

from course_utils.grading.result_files import file_name, folder_name, write_below


def test_plain_ids_are_their_own_names():
    """An ordinary id is readable in the folder."""
    for student in ("ada", "s012345", "ada.lovelace@example.org", "a-b_c"):
        assert file_name(student) == student


def test_names_are_distinct_whatever_the_disk_ignores():
    """No two students share a file, not even where capitals do not count or an id imitates another's file name."""
    students = [*HOSTILE_STUDENTS, file_name("a/b"), file_name("Ada"), "ADA", "aDa", "ab", "a_b"]
    names = [file_name(student).lower() for student in students]

    assert len(set(names)) == len(students)


@pytest.mark.parametrize("student", HOSTILE_STUDENTS)
def test_names_are_safe(student, tmp_path):
    """A name is one plain file of the folder, and neither the overview nor a device of Windows."""
    name = file_name(student)

    path = write_below(tmp_path, (f"{name}.html",), b"x")

    assert [entry.name for entry in tmp_path.iterdir()] == [f"{name}.html"]
    assert path.parent == tmp_path
    assert name.isascii()
    assert len(name) <= 64
    assert name not in ("overview", "index", "nul", "")


@pytest.mark.parametrize("student", HOSTILE_STUDENTS)
def test_folders_are_one_level(student, tmp_path):
    """A student's folder is directly below, whatever the id."""
    write_below(tmp_path, (folder_name(student), "x.ipynb"), b"x")

    (entry,) = tmp_path.iterdir()
    assert [inner.name for inner in entry.iterdir()] == ["x.ipynb"]


def test_folder_is_the_id_where_it_can_be():
    """Formgrader looks for the id itself, with its capitals and letters."""
    assert [folder_name(student) for student in ("Ada", "größe", "o'brien")] == ["Ada", "größe", "o'brien"]


def test_a_file_is_replaced_whole(tmp_path):
    """The second content takes the first's place, and nothing else is left in the folder."""
    write_below(tmp_path, ("a", "f.txt"), b"first")
    write_below(tmp_path, ("a", "f.txt"), b"2")

    assert (tmp_path / "a" / "f.txt").read_bytes() == b"2"
    assert os.listdir(tmp_path / "a") == ["f.txt"]


def test_a_link_in_place_of_the_file_is_replaced_not_followed(tmp_path):
    """What a planted link points to stays as it is."""
    secret = tmp_path / "gradebook.db"
    secret.write_bytes(b"grades")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "f.txt").symlink_to(secret)

    write_below(folder, ("f.txt",), b"new")

    assert secret.read_bytes() == b"grades"
    assert not (folder / "f.txt").is_symlink()
    assert (folder / "f.txt").read_bytes() == b"new"


def test_a_link_in_place_of_a_folder_stops(tmp_path):
    """A folder on the way that is a link is named, and nothing is written behind it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "ada").symlink_to(elsewhere)

    with pytest.raises(ValueError, match=r"'ada' below .* is a link or no folder"):
        write_below(root, ("ada", "f.txt"), b"x")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("part", ["..", ".", "", "a/b", "a\0b"])
def test_parts_that_are_no_names_stop(part, tmp_path):
    """A path is never put together from a part that leaves the folder."""
    with pytest.raises(ValueError, match="is no name of a file or folder"):
        write_below(tmp_path / "root", (part, "f.txt"), b"x")
    assert not (tmp_path / "root").exists()
