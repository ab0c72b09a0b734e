"""Progress: which exercises are solved and what comes next; what is known is not run again."""

import json
from dataclasses import replace

import pytest
from support import submissions
from support.described_exercise import NAME, SOLUTION, exercise

from course_utils.cli import lab
from course_utils.cli import main as cli
from course_utils.cli.usage import UsageError
from course_utils.exercises.outcome import Failure, Outcome, Report
from course_utils.exercises.progress import ExerciseProgress, Progress, next_lesson
from course_utils.exercises.runner import PracticeResult
from course_utils.exercises.versions import runtime_versions

LESSONS = ("00_start_here", "02_first", "03_second", "04_third")


def result(*passed, stopped=None, unchecked=(), yours="3", failure=Failure.DIFFERENT):
    """Describe a run: for each task, whether its second check passed."""
    tasks = tuple(
        Report(
            f"{number} Doubling",
            2.0 if good else 1.0,
            2.0,
            (
                Outcome("twice two", True),
                Outcome("twice ten", True) if good else Outcome("twice ten", False, yours, "20", failure),
            ),
        )
        for number, good in enumerate(passed, start=1)
    )
    return PracticeResult("x", tasks, (), stopped, tuple(unchecked))


def row(name, known=None, **options):
    return ExerciseProgress(name, 2, 4.0, known, **options)


@pytest.mark.parametrize(
    ("known", "step"),
    [
        (None, "find out: course check 02"),
        (result(True, True), "solved; hand it in: course submit 02"),
        (result(True, False), "task 2 Doubling: twice ten"),
        (result(False, failure=Failure.NOT_WRITTEN), "task 1 Doubling: not written yet"),
        (result(False, yours="not written yet (todo)"), "task 1 Doubling: twice ten"),
        (result(True, stopped="not finished within 8 s at cell 3", unchecked=["b"]), "not finished within 8 s"),
        (result(True, unchecked=["ex02-task2-check"]), "run again the cell ex02-task2-check"),
    ],
)
def test_next_step(known, step):
    """The next step is the first check that does not pass, or how to find out, or how to hand in."""
    assert row("02_first", known).next_step.startswith(step)


def test_table():
    """The table has tasks and points of the visible checks; what is not known is a question mark."""
    progress = Progress((row("02_first", result(True, False)), row("03_second")))

    assert str(progress).splitlines() == [
        "exercise   tasks   points  next",
        "02_first   1 of 2  3 of 4  task 2 Doubling: twice ten",
        "03_second  ? of 2  ? of 4  find out: course check 03",
        "",
        "0 of 2 exercises solved.",
        "Points are those of the visible checks; grading runs hidden checks too.",
        "",
        "No predictions yet: the lessons ask for a number before they measure.",
    ]
    assert ">02_first</td>" in progress._repr_html_()
    assert progress.warnings == ("not known: 03",)


@pytest.mark.parametrize(
    ("known", "lesson"),
    [
        ((None, None, None), "00_start_here"),
        ((result(False), None, None), "02_first"),
        ((result(True), None, None), "03_second"),
        ((None, result(True), None), "02_first"),
        ((result(True), result(True), result(True)), "00_start_here"),
    ],
)
def test_next_lesson(known, lesson):
    """The first lesson whose exercise is not solved; lesson 00 while nothing is known and when all is solved."""
    progress = Progress(tuple(row(name, one) for name, one in zip(LESSONS[1:], known, strict=True)))

    assert next_lesson(LESSONS, progress) == lesson


def test_an_unreadable_notebook_is_a_row():
    """A notebook that cannot be read is shown with its reason, and is not solved."""
    progress = Progress((row("02_first", problem="it is not JSON"),))

    assert not progress.solved
    assert "it is not JSON" in str(progress)
    assert progress.warnings == ("02_first: it is not JSON",)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course with two small exercises of a student, the first solved; count the runs in a file."""
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "notebooks").mkdir()
    for lesson in ("00_start_here", NAME, "43_again"):
        (tmp_path / "notebooks" / f"{lesson}.ipynb").write_text('{"cells": []}')
    monkeypatch.chdir(tmp_path)
    write(tmp_path, NAME, SOLUTION)
    write(tmp_path, "43_again", "def double(x):\n    return 4")
    return tmp_path


def write(root, name, solution):
    """Write a student's notebook whose set-up leaves a mark each time that it runs."""
    notebook = exercise(solution=solution)
    notebook["cells"][0]["source"] += f"\nopen('{root}/runs', 'a').write('{name}\\n')"
    folder = root / "exercises" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def runs(root):
    path = root / "runs"
    return path.read_text().split() if path.exists() else []


def test_what_is_known_does_not_run_again(course, capsys):
    """The first call runs every exercise, the second none, and a changed notebook runs alone."""
    assert cli.main(["progress"]) == 1
    assert runs(course) == [NAME, "43_again"]
    first = capsys.readouterr().out
    assert "1 of 2 exercises solved." in first
    assert "task 42.1 Doubling: twice a hundred" in first

    assert cli.main(["progress"]) == 1
    assert runs(course) == [NAME, "43_again"]
    assert capsys.readouterr().out == first

    write(course, "43_again", SOLUTION)
    assert cli.main(["progress"]) == 0
    assert runs(course) == [NAME, "43_again", "43_again"]
    assert "2 of 2 exercises solved." in capsys.readouterr().out


def test_a_changed_check_runs_again(course):
    """Another check makes a result unknown, as another solution does."""
    cli.main(["progress"])
    path = course / "exercises" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("expected=4", "expected=5"), encoding="utf-8")

    assert cli.main(["progress"]) == 1
    assert runs(course) == [NAME, "43_again", NAME]


@pytest.mark.parametrize("field", ["torch", "course", "system", "python"])
def test_other_versions_run_again(course, monkeypatch, field):
    """After another torch, another macOS or an edited tool yesterday's verdict is not shown."""
    cli.main(["progress"])
    other = replace(runtime_versions(), **{field: "another"})
    monkeypatch.setattr("course_utils.exercises.known_results.runtime_versions", lambda: other)
    cli.main(["progress"])

    assert runs(course) == [NAME, "43_again"] * 2


def test_outputs_and_text_do_not_count(course):
    """Running a notebook in JupyterLab changes outputs and numbers, and its result stays known."""
    cli.main(["progress"])
    path = course / "exercises" / NAME / f"{NAME}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0] |= {
        "execution_count": 7,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "x"}],
    }
    notebook["cells"].append({"cell_type": "markdown", "id": "note", "metadata": {}, "source": "my note"})
    path.write_text(json.dumps(notebook), encoding="utf-8")
    cli.main(["progress"])

    assert runs(course) == [NAME, "43_again"]


def test_no_run(course, capsys):
    """--no-run runs nothing; what `course check` found out is known."""
    assert cli.main(["progress", "--no-run"]) == 1
    assert runs(course) == []
    cli.main(["check", "42"])
    capsys.readouterr()

    assert cli.main(["progress", "--no-run", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["exercises"]
    assert (first["solved"], first["points"], second["points"]) == (True, 2.0, None)
    assert runs(course) == [NAME]


def test_checking_another_file_is_not_kept(course):
    """`course check --notebook` says nothing about the student's own notebook."""
    other = course / "other.ipynb"
    other.write_bytes((course / "exercises" / NAME / f"{NAME}.ipynb").read_bytes())
    cli.main(["check", "42", "--notebook", str(other)])

    assert not (course / ".course").exists()


def test_a_run_that_ended_early_is_not_kept(course):
    """A notebook that ends its process, as one that runs too long does, is run again next time."""
    write(course, NAME, "import os; os._exit(0)")
    cli.main(["progress"])
    cli.main(["progress"])

    assert runs(course).count(NAME) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"digest": 1}', "\udcff"])
def test_a_broken_cache_is_no_cache(course, content):
    """Whatever stands in the cache, progress is found out anew."""
    cli.main(["progress"])
    (course / ".course" / f"{NAME}.json").write_bytes(content.encode("utf-8", "surrogateescape"))

    assert cli.main(["progress"]) == 1
    assert runs(course) == [NAME, "43_again", NAME]


def test_a_course_that_cannot_be_written(course, capsys):
    """Where nothing can be kept, progress is shown all the same."""
    (course / ".course").write_text("a file in place of the folder")

    assert cli.main(["progress"]) == 1
    assert "1 of 2 exercises solved." in capsys.readouterr().out


def test_an_unreadable_notebook_does_not_stop_the_others(course, capsys):
    """Merge marks in one notebook leave the other ones' rows."""
    (course / "exercises" / NAME / f"{NAME}.ipynb").write_text("<<<<<<< HEAD\n")

    assert cli.main(["progress"]) == 1
    out = capsys.readouterr().out
    assert "merge-conflict marks" in out
    assert "43_again" in out


def test_no_exercises(course, capsys):
    """A course without released exercises is wrong usage, with what to do."""
    for name in (NAME, "43_again"):
        (course / "exercises" / name / f"{name}.ipynb").unlink()

    assert cli.main(["progress"]) == 2
    assert "course release" in capsys.readouterr().err


def test_lab_opens_the_next_unfinished_lesson(course):
    """`course lab` runs nothing: lesson 00 at first, later the first lesson whose exercise is not solved."""
    assert lab.choose_lesson(course, None).stem == "00_start_here"
    assert runs(course) == []
    cli.main(["progress"])

    assert lab.choose_lesson(course, None).stem == "43_again"
    assert lab.choose_lesson(course, "42").stem == NAME
    write(course, "43_again", SOLUTION)
    cli.main(["progress"])
    assert lab.choose_lesson(course, None).stem == "00_start_here"


def test_lab_without_lessons(course):
    """A course without lessons is one sentence."""
    for path in (course / "notebooks").iterdir():
        path.unlink()

    with pytest.raises(UsageError, match="there is no lesson"):
        lab.choose_lesson(course, None)


def test_lab_survives_broken_notebooks(course):
    """A notebook that cannot be read does not keep JupyterLab from opening, where it can be repaired."""
    cli.main(["progress"])
    (course / "exercises" / NAME / f"{NAME}.ipynb").write_text("[")

    assert lab.choose_lesson(course, None).stem == NAME


def test_a_real_exercise(tmp_path, monkeypatch, capsys):
    """The course's own exercise 02, with one task solved: 1 of 5, and the next task is named."""
    name = "02_installing_mps"
    folder = tmp_path / "exercises" / name
    folder.mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "nbgrader_config.py").touch()
    notebook = submissions.solved(name, only={"ex02-task1"})
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert cli.main(["progress", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["exercises"]
    assert (found["solved_tasks"], found["tasks"], found["points"], found["max_points"]) == (1, 5, 4.0, 18.0)
    assert found["next"] == "task 2.2 Choose the torch for a macOS: not written yet"
