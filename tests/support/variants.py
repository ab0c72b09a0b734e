"""Run other people's solutions of an exercise, right and wrong ones, each against the checks of its own task."""

from __future__ import annotations

import functools
import importlib
import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.exercises.notebook import Cell, read_cells
from course_utils.exercises.runner import run_checks
from course_utils.exercises.task import Outcome
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

    Args:
        visible: one outcome for each check that students see.
        hidden: one for each check that only grading runs.
    """

    visible: tuple[Outcome, ...]
    hidden: tuple[Outcome, ...]


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


@functools.cache
def judge_all(name: str) -> tuple[dict[Variant, Judged], tuple[str, ...]]:
    """Run every kept solution of an exercise in one process, torch loaded once.

    A solution runs with the course's solutions of the other tasks, and against the checks of its own. At the end the
    course's solutions are back, and all checks run once more.

    Returns:
        For each solution what its checks said; and the checks that failed at the end, which a solution has broken for
        others.
    """
    return judge(name, variants(name))


def judge(name: str, tried: list[Variant]) -> tuple[dict[Variant, Judged], tuple[str, ...]]:
    """Run solutions of an exercise in one process; see `judge_all`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.ipynb"
        path.write_text(json.dumps(submissions.source_notebook(name)), encoding="utf-8")
        base = [cell for cell in read_cells(path) if cell.kind == "code"]
        own = {cell.grade_id: cell for cell in base}
        cells: list[Cell] = [replace(cell, graded=False) for cell in base]
        for variant in tried:
            solution = own[variant.grade_id]
            cells += [replace(solution, source=variant.source), own[f"{variant.grade_id}-check"], solution]
        checks = [cell for cell in base if cell.graded]
        numbered = tuple(replace(cell, number=number) for number, cell in enumerate([*cells, *checks], start=1))
        result = run_checks(name, numbered, folder=Path(folder), timeout_s=600)
    assert len(result.tasks) == len(tried) + len(checks), str(result)
    judged = {}
    for variant, report in zip(tried, result.tasks, strict=False):
        seen = HIDDEN.sub("", own[f"{variant.grade_id}-check"].source).count("task.check(")
        judged[variant] = Judged(report.outcomes[:seen], report.outcomes[seen:])
    at_the_end = result.tasks[len(tried) :]
    broken = [f"{task.task}: {one.title}" for task in at_the_end for one in task.outcomes if not one.passed]
    return judged, tuple(broken)
