"""A student's day with the students' archive: which lesson opens, checks that say what grading says, handing in."""

import json
import os
import subprocess
import sys
import zipfile

import pytest
from support.front_end import copy_course
from support.sandbox_here import needs_sandbox
from support.submissions import ROOT, solution_cells, solved, with_code, wrong_solutions

from course_utils.grading.releasing.bundle import FOLDER

pytestmark = pytest.mark.slow

NAME = "04_measuring_time"
OPENED = "from course_utils.cli.lab import choose_lesson, lab_command; from pathlib import Path; import sys; \
print(*lab_command(Path.cwd(), choose_lesson(Path.cwd(), None), no_browser=True, port=8899), sep='\\n')"


def course(folder, *words, module="course_utils.cli"):
    """Run a command with the package of this folder, and of no other."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *(["-m", module] if module else []), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Pack the archive as an instructor does, and unpack it as a student does."""
    folder = tmp_path_factory.mktemp("student")
    packed = course(ROOT, "bundle", "--output", str(folder / "course.zip"))
    assert packed.returncode == 0, packed.stdout + packed.stderr
    with zipfile.ZipFile(folder / "course.zip") as archive:
        archive.extractall(folder)
    return folder / FOLDER


@pytest.fixture(scope="module")
def written(unpacked):
    """Solve a task, get one wrong, leave two: the student's own notebook."""
    mean = next(iter(wrong_solutions(NAME)["ex04-task2"].values()))
    path = unpacked / "exercises" / NAME / f"{NAME}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    right = "".join(solution_cells(solved(NAME))["ex04-task1"]["source"])
    path.write_text(json.dumps(with_code(notebook, {"ex04-task1": right, "ex04-task2": mean})), encoding="utf-8")
    return path


def opened(unpacked):
    """Return the words with which `course lab` starts JupyterLab."""
    done = course(unpacked, "-c", OPENED, module=None)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def opened_at_first(unpacked):
    """Return what `course lab` starts before anything was checked."""
    return opened(unpacked)


@pytest.fixture(scope="module")
def checked(unpacked, opened_at_first, written):
    """Run `course check 04`; the first run says that it is not all solved."""
    done = course(unpacked, "check", "04", "--json")
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def test_lab_opens_the_next_unfinished_lesson(unpacked, opened_at_first, checked):
    """`course lab` composes JupyterLab on lesson 00, and later on the first lesson whose exercise is not solved."""
    later = opened(unpacked)

    assert later[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={unpacked}" in later
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in opened_at_first
    assert "--LabApp.default_url=/lab/tree/notebooks/01_unified_memory.ipynb" in later


def test_progress_says_what_to_do_next(unpacked, checked):
    """`course progress` knows from the check what is solved, and names the next thing to do; others are untouched."""
    done = course(unpacked, "progress", "--no-run", "--json")

    assert done.returncode == 1, done.stderr
    rows = {row["exercise"]: row for row in json.loads(done.stdout)["exercises"]}
    assert (rows[NAME]["solved_tasks"], rows[NAME]["tasks"]) == (1, 4)
    assert "4.2" in rows[NAME]["next"]
    assert all(row["solved_tasks"] == 0 for name, row in rows.items() if name != NAME)


@needs_sandbox
def test_check_says_what_grading_says(unpacked, checked, tmp_path):
    """The file that `course submit` makes gets, check by check, the verdict that `course check` gave."""
    handed_in = course(unpacked, "submit", "04", "--student", "ada")
    assert handed_in.returncode == 1, handed_in.stderr
    files = sorted(path.name for path in (unpacked / "submit").iterdir())
    assert files == [f"{NAME}_ada.ipynb"]

    instructor = copy_course(tmp_path / "instructor", ("course_utils", "notebooks", "exercises", "solutions"))
    done = course(instructor, "grade", "04", "--from", str(unpacked / "submit"), "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    graded = {
        (task["name"], check["title"]): check["passed"]
        for task in result["tasks"]
        for check in task["checks"]
        if not check["hidden"]
    }
    seen = {(task["task"], check["title"]): check["passed"] for task in checked["tasks"] for check in task["checks"]}
    assert result["student"] == "ada"
    assert graded == seen
    assert set(seen.values()) == {True, False}
    assert result["tasks"][0]["points"] == result["tasks"][0]["max_points"]
