"""Exercises: solutions pass, starters do not, wrong solutions lose their own points, releases are fresh and clean."""

import functools
import re

import pytest
from support import submissions
from support.found import found
from support.variants import HIDDEN, judge_all, table, variants

from course_utils.grading.assignment import bound_names
from course_utils.grading.releasing.release import generate, source_names

pytestmark = pytest.mark.slow


@functools.cache
def starters(name):
    """Return the untouched code of an exercise's solution cells."""
    cells = submissions.solution_cells(submissions.released_notebook(name))
    return {grade_id: "".join(cell["source"]) for grade_id, cell in cells.items()}


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_solution_passes_every_check(name):
    """The instructor's solution passes all checks, hidden ones included, and no cell raises."""
    judged = judge_all(name)
    failed = [f"{task.task}: {outcome}" for task in judged.solved for outcome in task.outcomes if not outcome.passed]

    assert failed == []
    assert judged.errors == ()
    assert [task.points for task in judged.solved] == [task.max_points for task in judged.solved]
    assert len(judged.solved) == len(submissions.check_cells(submissions.source_notebook(name)))


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_untouched_release_fails_every_task(name):
    """The untouched starter earns nothing: every check of every task fails, hidden ones included."""
    untouched = judge_all(name).untouched

    assert len(untouched) == len(submissions.check_cells(submissions.source_notebook(name)))
    for task in untouched:
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


ALL = [variant for name in submissions.EXERCISES for variant in variants(name)]
# at most this share of an exercise's wrong solutions may pass the visible checks
SHARE_THAT_SLIPS = 0.05


@pytest.mark.parametrize("variant", [one for one in ALL if one.kind == "wrong"], ids=str)
def test_wrong_solution_loses_points(variant):
    """A plausible wrong solution loses points of its task."""
    judged = judge_all(variant.exercise).variants[variant]

    assert not all(outcome.passed for outcome in (*judged.visible, *judged.hidden))


@pytest.mark.parametrize("variant", [one for one in ALL if one.kind == "right"], ids=str)
def test_right_solution_passes_every_check(variant):
    """A right solution in another person's style passes the visible and the hidden checks."""
    judged = judge_all(variant.exercise).variants[variant]

    failed = [outcome for outcome in (*judged.visible, *judged.hidden) if not outcome.passed]
    assert failed == [], "\n".join(map(str, failed))


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_visible_checks_find_what_is_wrong(name):
    """At most one in twenty wrong solutions passes the visible checks, and none the hidden ones."""
    judged = {variant: one for variant, one in judge_all(name).variants.items() if variant.kind == "wrong"}

    slipped = [str(variant) for variant, one in judged.items() if all(outcome.passed for outcome in one.visible)]
    assert len(slipped) <= SHARE_THAT_SLIPS * len(found(judged)), slipped
    unseen = [str(variant) for variant, one in judged.items() if all(outcome.passed for outcome in one.hidden)]
    assert unseen == []


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_variants_touch_no_other_task(name):
    """A kept solution binds what its task binds and what it needs for itself, and breaks no other task."""
    starter = {
        grade_id: bound_names("".join(cell["source"]))
        for grade_id, cell in submissions.solution_cells(submissions.source_notebook(name)).items()
    }
    for variant in found(variants(name)):
        others = set().union(*(names for grade_id, names in starter.items() if grade_id != variant.grade_id))
        bound = set(bound_names(variant.source))
        assert set(starter[variant.grade_id]) <= bound, str(variant)
        assert not others & bound, str(variant)

    assert judge_all(name).broken == ()


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_enough_variants_of_each_task(name):
    """For each task at least six wrong solutions and five right ones are kept."""
    wrong, right = table("wrong", name), table("right", name)

    assert set(wrong) == set(right) == set(submissions.solution_cells(submissions.source_notebook(name)))
    assert [grade_id for grade_id, kept in wrong.items() if len(kept) < 6] == []
    assert [grade_id for grade_id, kept in right.items() if len(kept) < 5] == []


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
