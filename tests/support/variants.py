"""Run an exercise's notebook as it can look in one process: untouched, solved, and with other people's solutions.

Right and wrong solutions each run against the checks of their own task.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course_utils.exercises.notebook import Cell, read_cells
from course_utils.exercises.outcome import Outcome, Report
from course_utils.exercises.runner import run_checks
from support import submissions

HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", re.DOTALL)
FOLDERS = {"wrong": "wrong_solutions", "right": "right_solutions"}
TABLES = {"wrong": "WRONG", "right": "RIGHT"}


@dataclass(frozen=True)
class Variant:
    """One solution of one task.

    Args:
        exercise: the exercise's name.
        kind: "wrong" or "right".
        grade_id: the cell that it stands in.
        title: what is wrong, or whose style it is.
        source: the cell's code.
    """

    exercise: str
    kind: str
    grade_id: str
    title: str
    source: str

    def __str__(self) -> str:
        return f"{self.grade_id}, {self.kind}: {self.title}"


@dataclass(frozen=True)
class Judged:
    """What the checks of its own task said of a variant.

    Of a wrong variant the checks stop at the first that fails, visible and hidden ones each for themselves.

    Args:
        visible: one outcome for each check that students see, as far as they ran.
        hidden: one for each check that only grading runs, as far as they ran.
    """

    visible: tuple[Outcome, ...]
    hidden: tuple[Outcome, ...]


@dataclass(frozen=True)
class Judgement:
    """What the checks said of everything that is kept of an exercise.

    Args:
        untouched: one report for each task of the notebook as students get it, hidden checks included.
        solved: the same of the course's own solutions.
        errors: of the solved notebook, what its cells raised, by cell number.
        variants: what was said of each kept solution.
        broken: checks that failed at the end, when the course's solutions were back: a variant has broken another task.
    """

    untouched: tuple[Report, ...]
    solved: tuple[Report, ...]
    errors: tuple[tuple[int, str], ...]
    variants: dict[Variant, Judged]
    broken: tuple[str, ...]


def table(kind: str, name: str) -> dict[str, dict[str, str]]:
    """Return the kept solutions of a kind, grade id -> title -> code; empty where an exercise has none."""
    if not (submissions.ROOT / f"tests/support/{FOLDERS[kind]}/ex{name[:2]}.py").exists():
        return {}
    module = importlib.import_module(f"support.{FOLDERS[kind]}.ex{name[:2]}")
    return getattr(module, TABLES[kind])


def variants(name: str) -> list[Variant]:
    """Return all kept solutions of an exercise."""
    return [
        Variant(name, kind, grade_id, title, source)
        for kind in FOLDERS
        for grade_id, kept in table(kind, name).items()
        for title, source in kept.items()
    ]


def until_one_fails(source: str) -> str:
    """Rewrite a check cell so that its visible checks stop at the first failure, and so do its hidden ones."""
    visible, hidden, end = HIDDEN.split(source)
    return "\n".join(
        [_guarded(visible, "0"), "_visible = len(task.outcomes)", _guarded(hidden, "_visible"), _guarded(end, "0")]
    )


def _guarded(source: str, first: str) -> str:
    """Let each check run only where all before it passed, from the outcome with the number `first` on."""

    class Guard(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.stmt:
            if not ast.unparse(node).startswith("task.check("):
                return node
            passed = ast.parse(f"all(one.passed for one in task.outcomes[{first}:])", mode="eval").body
            return ast.If(passed, [node], [])

    return ast.unparse(ast.fix_missing_locations(Guard().visit(ast.parse(source))))


def split_outcomes(outcomes: tuple[Outcome, ...], seen: int, *, stops: bool) -> Judged:
    """Tell visible from hidden outcomes.

    Args:
        outcomes: those of a task, in order.
        seen: how many of its checks are visible.
        stops: whether the visible ones ended at the first failure.
    """
    failures = (place for place, outcome in enumerate(outcomes[:seen], start=1) if stops and not outcome.passed)
    ran = next(failures, seen)
    return Judged(outcomes[:ran], outcomes[ran:])


@functools.cache
def judge_all(name: str) -> Judgement:
    """Run everything that is kept of an exercise in one process, torch loaded once."""
    return judge(name, variants(name))


def judge(name: str, tried: list[Variant]) -> Judgement:
    """Run the untouched notebook, the solved one, and then each given solution against the checks of its own task.

    A solution runs with the course's solutions of the other tasks. At the end the course's solutions are back, and all
    checks run once more.
    """
    base = _code_cells(submissions.source_notebook(name))
    starters = {
        cell.grade_id: cell.source for cell in _code_cells(submissions.released_notebook(name)) if cell.solution
    }
    own = {cell.grade_id: cell for cell in base}
    checks = [cell for cell in base if cell.graded]
    seen = {cell.grade_id: HIDDEN.sub("", cell.source).count("task.check(") for cell in checks}
    cells = [replace(cell, source=starters.get(cell.grade_id, cell.source)) for cell in base] + base
    for variant in tried:
        solution, check = own[variant.grade_id], own[f"{variant.grade_id}-check"]
        if variant.kind == "wrong":
            check = replace(check, source=until_one_fails(check.source))
        cells += [replace(solution, source=variant.source), check, solution]
    numbered = tuple(replace(cell, number=number) for number, cell in enumerate([*cells, *checks], start=1))
    with tempfile.TemporaryDirectory() as folder:
        result = run_checks(name, numbered, folder=Path(folder), timeout_s=600)
    assert len(result.tasks) == 3 * len(checks) + len(tried), str(result)
    untouched, solved = result.tasks[: len(checks)], result.tasks[len(checks) : 2 * len(checks)]
    of_variants, at_the_end = result.tasks[2 * len(checks) : -len(checks)], result.tasks[-len(checks) :]
    judged = {
        variant: split_outcomes(report.outcomes, seen[f"{variant.grade_id}-check"], stops=variant.kind == "wrong")
        for variant, report in zip(tried, of_variants, strict=True)
    }
    broken = [f"{task.task}: {one.title}" for task in at_the_end for one in task.outcomes if not one.passed]
    errors = tuple((number, error) for number, error in result.errors if len(base) < number <= 2 * len(base))
    return Judgement(untouched, solved, errors, judged, tuple(broken))


def _code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """Return a notebook's code cells as `course check` reads them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notebook.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return [cell for cell in read_cells(path) if cell.kind == "code"]
