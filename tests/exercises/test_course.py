"""Layout: the course is found from anywhere inside it, exercises by number, name or path."""

import pytest

from course_utils.exercises.course import exercise_names, find_course_root, find_exercise, lesson_paths


@pytest.fixture
def root(tmp_path):
    """Describe a small course with two exercises, the second never released."""
    (tmp_path / "nbgrader_config.py").touch()
    for folder in ("notebooks", "exercises/03_devices", "solutions/03_devices", "solutions/04_measuring_time"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "exercises/03_devices/03_devices.ipynb").touch()
    return tmp_path


def test_root_is_found_from_below(root):
    """From any folder inside the course its root is found."""
    assert find_course_root(root / "exercises" / "03_devices") == root


def test_root_falls_back_to_the_package(tmp_path):
    """Outside any course, the one this package is installed from is used."""
    assert (find_course_root(tmp_path) / "course_utils").is_dir()


@pytest.mark.parametrize(
    "asked", ["3", "03", "03_devices", "exercises/03_devices", "exercises/03_devices/03_devices.ipynb"]
)
def test_exercise_by_number_name_or_path(root, asked):
    """All ways of naming an exercise find it."""
    assert find_exercise(root, asked).name == "03_devices"


@pytest.mark.parametrize(
    ("asked", "near"), [("04_measure_time", "04_measuring_time"), ("9", "03_devices, 04_measuring_time"), ("", "03_")]
)
def test_unknown_exercise_gets_the_nearest(root, asked, near):
    """An unknown exercise is refused with the nearest names."""
    with pytest.raises(LookupError, match=near):
        find_exercise(root, asked)


def test_unreleased_exercises_are_listed(root):
    """An exercise that only has a source is listed too."""
    assert exercise_names(root) == ("03_devices", "04_measuring_time")


def test_lessons_are_listed_in_their_order(root):
    """Numbered notebooks of the course's folder are lessons; a copy, a draft and a checkpoint are not."""
    names = ("10_late.ipynb", "02_early.ipynb", "notes.ipynb", "02_early.md", "sub/03_x.ipynb", "x4_y.ipynb")
    for name in names:
        (root / "notebooks" / name).parent.mkdir(exist_ok=True)
        (root / "notebooks" / name).touch()

    assert [path.name for path in lesson_paths(root)] == ["02_early.ipynb", "10_late.ipynb"]
    assert lesson_paths(root / "exercises") == ()
