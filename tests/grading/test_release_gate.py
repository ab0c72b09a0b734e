"""The release gate: each way in which an exercise is not fit for students is one finding, with its cell."""

import copy
import json

import pytest
from support import submissions
from support.described_exercise import CHECK, NAME, SOLUTION, exercise

from course_utils.cli import main as cli
from course_utils.grading.releasing.hidden_text import find_secrets, hidden_lines, solution_lines
from course_utils.grading.releasing.release import GenerationError, generate, source_names
from course_utils.grading.releasing.release_gate import examine_release, examine_source
from course_utils.grading.releasing.release_runs import examine


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course whose only exercise is written by the test."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "nbgrader_config.py").write_bytes((submissions.ROOT / "nbgrader_config.py").read_bytes())
    monkeypatch.chdir(tmp_path)

    def write(notebook):
        folder = tmp_path / "solutions" / NAME
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        return tmp_path

    return write


def problems(findings):
    return [finding.problem for finding in findings]


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_the_course_s_own_exercises_are_fit(name):
    """The text of each exercise of the course has no finding."""
    assert examine_source(name, submissions.source_notebook(name)) == ()


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_nothing_secret_is_in_the_own_releases(name):
    """No hidden test and no solution is in a released notebook of the course, and each has some to hide."""
    source = submissions.source_notebook(name)

    assert examine_release(name, source, submissions.released_notebook(name)) == ()
    assert len(hidden_lines(source)) > 10
    assert len(solution_lines(source)) > 5


@pytest.mark.parametrize(
    ("notebook", "problem"),
    [
        (exercise(points=None), "it is graded and has no points"),
        (exercise(check=CHECK.replace("### ", "    ### ")), "is indented; it has to begin in column 0"),
        (
            exercise(
                check=CHECK.replace(
                    "### BEGIN HIDDEN TESTS\n", "for n in range(2):\n    n\n### BEGIN HIDDEN TESTS\n    "
                )
            ),
            "is hidden in part",
        ),
        (exercise(points=True), "it is graded and has no points"),
        (exercise(points=0), "worth 0 points"),
        (exercise(points=3), "its Task has 2 points and nbgrader's metadata says 3"),
        (exercise(check=CHECK.replace("points=2", "points=worth")), "not written as a number"),
        (exercise(check=CHECK + "\nTask('again', points=2)\ntask.score()"), "makes 2 tasks"),
        (exercise(check="assert double(2) == 4"), "makes 0 tasks"),
        (exercise(check=CHECK + ";"), None),
        (exercise(check=CHECK.replace("task.score()", "points = task.score()")), "does not end with task.score()"),
        (exercise(check=CHECK + "\nfloat('nan')"), "does not end with task.score()"),
        (exercise(check=CHECK.replace("HIDDEN", "MORE")), "it has no hidden check"),
        (exercise(check="class Thing: pass\n" + CHECK), "it defines the class Thing"),
        (exercise(check="@in_student_process\ndef count(): return 1\n" + CHECK), "it marks count"),
        (exercise(check=CHECK + "\n### AUTOTEST double(2)\ntask.score()"), "it has an AUTOTEST line"),
        (exercise(check=CHECK + "\n### HASHED AUTOTEST double(2)\ntask.score()"), "it has an AUTOTEST line"),
        (exercise(check="task = ("), "it does not parse (line 1"),
    ],
)
def test_text_findings(notebook, problem):
    """Each flaw that can be read is one finding, at the check cell."""
    findings = examine_source(NAME, notebook)

    if problem is None:
        assert findings == ()
        return
    assert any(problem in text for text in problems(findings)), findings
    assert {finding.cell for finding in findings} == {"ex42-task1-check"}


def test_repeated_ids():
    """An id that is there twice is named once, with how often."""
    notebook = exercise()
    notebook["cells"].append(copy.deepcopy(notebook["cells"][1]))

    (finding,) = examine_source(NAME, notebook)
    assert str(finding) == ("42_doubling, ex42-task1: this id is there 2 times; every grade_id has to be there once")


def test_nothing_graded():
    """A notebook without a graded cell is no exercise."""
    notebook = exercise()
    del notebook["cells"][-1]

    assert problems(examine_source(NAME, notebook)) == ["no cell gives points; mark one as an autograded test"]


def test_leaks_are_found_anywhere():
    """A hidden test in an output, or a solution in another cell's text, is found in the release."""
    source = exercise()
    released = exercise(solution="def double(x):\n    raise NotImplementedError", check="task.score()")
    assert examine_release(NAME, source, released) == ()

    released["cells"][0]["outputs"] = [{"text": ['task.check("twice a hundred", yours=...)']}]
    released["cells"][1]["source"] = ["def double(x):\n", "    answer_that_is_right = x + x\n"]
    found = {finding.cell: finding.problem for finding in examine_release(NAME, source, released)}

    assert found == {
        "ex42-task1": "its solution would be released: 'answer_that_is_right = x + x'",
        "ex42-task1-check": "its hidden test would be released: '\"twice a hundred\"'",
    }


def test_marks_without_a_pair_are_found():
    """A mark that is still in the release says that something was not taken out."""
    released = exercise(solution="pass", check="### BEGIN HIDDEN TESTS\ntask.score()")

    assert problems(examine_release(NAME, exercise(), released)) == [
        "the marker 'BEGIN HIDDEN TESTS' would be released; pair the markers"
    ]


def test_a_fit_exercise_is_released(course, capsys):
    """A fit exercise: exit 0, the student's notebook has the starter and the visible check only."""
    root = course(exercise())

    assert cli.main(["release"]) == 0
    assert capsys.readouterr().out == f"released: {NAME}\n"
    text = (root / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "YOUR CODE HERE" in text
    assert "twice two" in text
    assert "hundred" not in text
    assert "answer_that_is_right" not in text


@pytest.mark.parametrize(
    ("notebook", "problem"),
    [
        (
            exercise(check=CHECK.replace("double(2), expected=4", "2 + 2, expected=4")),
            "ex42-task1-check: the untouched starter passes 'twice two'; check something that it cannot do",
        ),
        (
            exercise(check=CHECK.replace("expected=200", "expected=201")),
            "ex42-task1-check: the reference solution gets 1 of 2 points; it does not pass 'twice a hundred'",
        ),
        (
            exercise(check="import warnings; warnings.warn('careful')\n" + CHECK),
            "ex42-task1-check: it writes to stderr with the reference solution (",
        ),
        (
            exercise(check="import os; _ = os.write(2, b'from a library')\n" + CHECK),
            "ex42-task1-check: it writes to stderr with the reference solution (from a library)",
        ),
        (exercise(tools="1 / 0"), "ex42-task1-tools: it raises with the reference solution: ZeroDivisionError"),
        (
            exercise(check=CHECK.replace("### END HIDDEN TESTS\n", "")),
            "ex42-task1-check: the marker '### BEGIN HIDDEN TESTS' in line 3 is never ended",
        ),
        (
            exercise(solution=SOLUTION.replace("    ### END SOLUTION\n", "")),
            "ex42-task1: the marker '### BEGIN SOLUTION' in line 3 is never ended",
        ),
    ],
)
def test_an_unfit_exercise_is_refused(course, capsys, notebook, problem):
    """What shows only when it runs is refused with its cell: exit 1, and nothing is written."""
    root = course(notebook)

    assert cli.main(["release", "42"]) == 1
    out = capsys.readouterr().out
    assert f"{NAME}, {problem}" in out
    assert f"refused, its release is as before: {NAME}" in out
    assert not (root / "exercises").exists()


def test_a_refused_exercise_does_not_stop_the_others(course, capsys):
    """One exercise is refused, another one is released, and a release without a source goes away."""
    root = course(exercise(points=7))
    other = root / "solutions" / "43_again"
    other.mkdir()
    (other / "43_again.ipynb").write_text(json.dumps(exercise()), encoding="utf-8")
    (root / "exercises" / "41_gone").mkdir(parents=True)

    assert cli.main(["release"]) == 1
    assert [path.name for path in (root / "exercises").iterdir()] == ["43_again"]
    assert "removed, without a source: 41_gone" in capsys.readouterr().out


def explained(kind="markdown", **metadata):
    """Describe the exercise with a cell that explains its solution."""
    text = "Adding x to itself is right: twice x is x + x, for whole numbers and for text alike."
    cell = {
        "cell_type": kind,
        "id": "ex42-task1-why",
        "metadata": {"tags": ["solution-only"]} | metadata,
        "source": text,
    }
    found = exercise()
    return found | {"cells": [*found["cells"], cell]}


def test_an_explanation_is_left_out(course):
    """What explains a solution is in no release; the settings say so, which plain nbgrader reads too."""
    root = course(explained())
    generate(root, [NAME], root)
    text = (root / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")

    assert "ex42-task1-check" in text
    assert "ex42-task1-why" not in text
    assert "whole numbers" not in text
    assert examine(root, NAME) == ()


def test_an_explanation_that_would_be_released_is_a_finding(course):
    """Where the settings do not leave it out, or another file holds it, the release is refused."""
    root = course(explained())
    settings = (root / "nbgrader_config.py").read_text(encoding="utf-8")
    kept = [line for line in settings.splitlines() if "LeaveOutExplanations]" not in line]
    (root / "nbgrader_config.py").write_text("\n".join(kept), encoding="utf-8")

    assert any("explanation would be released" in problem for problem in problems(examine(root, NAME)))
    beside = {
        "notebooks/01_x.md": b"Adding x to itself is right: twice x is x + x, for whole numbers and for text alike."
    }
    assert len(find_secrets(beside, {NAME: explained()})) == 1


@pytest.mark.parametrize("notebook", [explained("code"), explained(nbgrader={"grade_id": "a", "solution": True})])
def test_an_explanation_is_text_alone(notebook):
    """A tagged cell that runs, or that nbgrader knows, is refused: the release would lack it."""
    assert any("is more than text" in problem for problem in problems(examine_source(NAME, notebook)))


def test_an_unreadable_notebook_is_a_finding(course):
    """A source that is no notebook is refused, not a traceback."""
    root = course(exercise())
    (root / "solutions" / NAME / f"{NAME}.ipynb").write_text("[]", encoding="utf-8")

    (finding,) = examine(root, NAME)
    assert "it cannot be read" in finding.problem


def test_a_file_beside_the_notebook(course, capsys):
    """A page of answers beside the notebook is refused, since nbgrader copies it; a file of data is released."""
    root = course(exercise())
    (root / "solutions" / NAME / "answers.md").write_text("answer_that_is_right = x + x", encoding="utf-8")
    assert cli.main(["release"]) == 1
    assert "exercises/42_doubling/answers.md would give away" in capsys.readouterr().out

    (root / "solutions" / NAME / "answers.md").rename(root / "solutions" / NAME / "data.csv")
    (root / "solutions" / NAME / "data.csv").write_text("1, 2, 3", encoding="utf-8")
    assert cli.main(["release"]) == 0
    assert (root / "exercises" / NAME / "data.csv").is_file()


def test_generation_replaces_all_or_nothing(course):
    """When nbgrader refuses one exercise, no release is replaced."""
    root = course(exercise(solution=SOLUTION.replace("    ### END SOLUTION\n", "")))

    with pytest.raises(GenerationError):
        generate(root, source_names(root), root)
    assert not (root / "exercises").exists()


@pytest.mark.parametrize(
    ("arguments", "word"), [(["99"], "no exercise is called '99'"), (["--timeout", "0"], "--timeout is 0")]
)
def test_wrong_usage(course, capsys, arguments, word):
    """An unknown exercise and a bad limit are one sentence and exit code 2."""
    course(exercise())

    assert cli.main(["release", *arguments]) == 2
    assert word in capsys.readouterr().err
