"""Exercises: solutions pass, starters do not, wrong solutions lose their own points, releases are fresh and clean."""

import functools
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from support import submissions
from support.found import found

from course_utils.exercises.notebook import read_cells
from course_utils.exercises.runner import PracticeResult, run_checks
from course_utils.grading.releasing.release import generate, source_names

HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", re.DOTALL)
WRONG = [
    (name, grade_id, what)
    for name in submissions.EXERCISES
    for grade_id, variants in submissions.wrong_solutions(name).items()
    for what in variants
]


def run_with_hidden_checks(name, code, folder) -> PracticeResult:
    """Run the instructor's notebook, hidden checks included, with other code in its solution cells."""
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(submissions.with_code(submissions.source_notebook(name), code)), encoding="utf-8")
    return run_checks(name, read_cells(path), folder=folder)


@functools.cache
def starters(name):
    """Return the untouched code of an exercise's solution cells."""
    cells = submissions.solution_cells(submissions.released_notebook(name))
    return {grade_id: "".join(cell["source"]) for grade_id, cell in cells.items()}


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_solution_passes_every_check(name, tmp_path):
    """The instructor's solution passes all checks, hidden ones included, and no cell raises."""
    result = run_with_hidden_checks(name, {}, tmp_path)

    assert result.passed, str(result)
    assert result.warnings == ()
    assert [task.points for task in result.tasks] == [task.max_points for task in result.tasks]


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_untouched_release_fails_every_task(name, tmp_path):
    """The untouched starter earns nothing: every check of every task fails, hidden ones included."""
    result = run_with_hidden_checks(name, starters(name), tmp_path)

    assert len(result.tasks) == len(submissions.check_cells(submissions.source_notebook(name)))
    for task in result.tasks:
        passed = [outcome.title for outcome in task.outcomes if outcome.passed]
        assert passed == [], f"{name}, task {task.task}: the starter passes {passed}; check something it cannot do"
        assert task.points == 0


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_starters_name_their_task(name):
    """Each starter raises NotImplementedError with the task's number, and keeps nothing of the solution."""
    for grade_id, source in found(starters(name).items()):
        task = re.search(r"task(\d+)", grade_id).group(1)
        assert f'NotImplementedError("task {int(name[:2])}.{task}: ' in source, f"{name}, {grade_id}"
        assert "# YOUR CODE HERE" in source, f"{name}, {grade_id}"
        assert "SOLUTION" not in source, f"{name}, {grade_id}"


@functools.cache
def points_with_wrong_solutions(name) -> dict[tuple[str, str], list[tuple[str, bool]]]:
    """Run every wrong solution of an exercise in one process, torch loaded once.

    Returns:
        For (grade id, what is wrong): each check cell's grade id, and whether it kept all its points.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.ipynb"
        path.write_text(json.dumps(submissions.source_notebook(name)), encoding="utf-8")
        base = [cell for cell in read_cells(path) if cell.kind == "code"]
        checks = [cell for cell in base if cell.graded]
        right = {cell.grade_id: cell for cell in base}
        variants = [(grade_id, what) for grade_id, kept in submissions.wrong_solutions(name).items() for what in kept]
        cells = [replace(cell, graded=False) for cell in base]
        for grade_id, what in variants:
            wrong = replace(right[grade_id], source=submissions.wrong_solutions(name)[grade_id][what])
            cells += [wrong, *checks, right[grade_id]]
        numbered = tuple(replace(cell, number=number) for number, cell in enumerate(cells, start=1))
        result = run_checks(name, numbered, folder=Path(folder), timeout_s=600)
    assert len(result.tasks) == len(variants) * len(checks), str(result)
    kept = [task.points == task.max_points for task in result.tasks]
    ids = [cell.grade_id for cell in checks]
    return {
        variant: list(zip(ids, kept[n * len(ids) : (n + 1) * len(ids)], strict=True))
        for n, variant in enumerate(variants)
    }


@pytest.mark.parametrize(("name", "grade_id", "what"), WRONG, ids=[f"{row[1]}: {row[2]}" for row in WRONG])
def test_wrong_solution_loses_its_own_points(name, grade_id, what):
    """A plausible wrong solution loses points of its task, and every other task keeps its own."""
    lost = [check for check, kept in points_with_wrong_solutions(name)[grade_id, what] if not kept]

    assert lost == [f"{grade_id}-check"]


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_at_least_three_wrong_solutions_for_each_task(name):
    """For each task at least three wrong solutions are kept."""
    kept = submissions.wrong_solutions(name)

    assert set(kept) == set(submissions.solution_cells(submissions.source_notebook(name)))
    assert all(len(variants) >= 3 for variants in kept.values())


def test_release_is_fresh(tmp_path):
    """exercises/ equals what nbgrader generates from solutions/ now; `make release` repairs it."""
    generate(submissions.ROOT, source_names(submissions.ROOT), tmp_path)
    fresh = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept_root = submissions.ROOT / "exercises"
    kept = {
        path.relative_to(submissions.ROOT): path.read_bytes()
        for path in kept_root.rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }

    assert sorted(kept) == sorted(fresh), "run `make release`"
    assert [str(path) for path in kept if kept[path] != fresh[path]] == [], "run `make release`"


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_no_hidden_text_is_released(name):
    """No line or title of a hidden check occurs in any released cell, and each task has a hidden check."""
    assert [path.name for path in (submissions.ROOT / "exercises" / name).iterdir()] == [f"{name}.ipynb"]
    released = "\n".join("".join(cell["source"]) for cell in submissions.released_notebook(name)["cells"])
    for grade_id, cell in submissions.check_cells(submissions.source_notebook(name)).items():
        source = "".join(cell["source"])
        hidden = "\n".join(HIDDEN.findall(source))
        visible = HIDDEN.sub("", source)
        assert "task.check(" in hidden, f"{name}, {grade_id} has no hidden check"
        telling = {line.strip() for line in hidden.splitlines() if len(line.strip()) >= 20}
        telling |= set(re.findall(r'task\.check\(\s*("[^"]+")', hidden))
        leaked = [text for text in telling if text in released and text not in visible]
        assert leaked == [], f"{name}, {grade_id}: {leaked}"
    assert "HIDDEN TESTS" not in released


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_each_task_says_what_it_takes(name):
    """Each task states difficulty, minutes and points, and has two folded hints."""
    cells = submissions.source_notebook(name)["cells"]
    for grade_id, cell in found(submissions.check_cells(submissions.source_notebook(name)).items()):
        text_id = grade_id.replace("-check", "-text")
        text = "".join(next(other["source"] for other in cells if other["id"] == text_id))
        points = submissions.grading_of(cell)["points"]
        assert re.search(rf"^\*(easy|medium|hard), \d+ minutes, {points} points?\*$", text, re.MULTILINE), text_id
        assert text.count("<details><summary>Hint") == 2, f"{text_id} needs two folded hints"
