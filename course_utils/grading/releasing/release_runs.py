"""Run an instructor's notebook with the reference solution and with the untouched starters, hidden checks included."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from course_utils.exercises.notebook import read_cells
from course_utils.exercises.runner import PracticeResult, run_checks
from course_utils.grading.releasing.hidden_text import find_secrets
from course_utils.grading.releasing.release import GenerationError, generate
from course_utils.grading.releasing.release_gate import (
    ReleaseProblem,
    examine_release,
    examine_source,
    judge_reference,
    judge_starters,
)


def examine(root: Path, name: str, *, timeout_s: float = 300.0) -> tuple[ReleaseProblem, ...]:
    """Examine an exercise in every way: its text, what would be released, and two runs.

    Args:
        root: the course's root.
        name: the exercise's name.
        timeout_s: wall time of each run, seconds.

    Returns:
        The findings, none when it may be released; runs are left out where the text is wrong already.
    """
    path = root / "solutions" / name / f"{name}.ipynb"
    try:
        source = json.loads(path.read_text(encoding="utf-8"))
        findings = examine_source(name, source)
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        return (ReleaseProblem(name, "the notebook", f"it cannot be read: {error!r}"),)
    if findings:
        return findings
    with tempfile.TemporaryDirectory(prefix="course-release-") as scratch:
        try:
            generate(root, [name], Path(scratch))
        except GenerationError as error:
            return (ReleaseProblem(name, "the notebook", f"nbgrader does not make a release of it: {error}"),)
        made = Path(scratch) / "exercises" / name
        released = json.loads((made / f"{name}.ipynb").read_text(encoding="utf-8"))
        # nbgrader copies whatever else stands beside the notebook
        beside = {
            path.relative_to(scratch).as_posix(): path.read_bytes()
            for path in made.rglob("*")
            if path.is_file() and path.name != f"{name}.ipynb"
        }
    findings = examine_release(name, source, released)
    findings += tuple(
        ReleaseProblem(name, "a file beside it", secret) for secret in find_secrets(beside, {name: source})
    )
    for notebook, judge in ((source, judge_reference), (with_starters(source, released), judge_starters)):
        with tempfile.TemporaryDirectory(prefix="course-release-") as scratch:
            folder = Path(scratch) / name
            shutil.copytree(path.parent, folder, ignore=shutil.ignore_patterns(".*", "*.ipynb"))
            cells, result = _run(name, notebook, folder, timeout_s)
        findings += judge(name, cells, result)
    return findings


def with_starters(source: dict[str, Any], released: dict[str, Any]) -> dict[str, Any]:
    """Put the released starters into a copy of the instructor's notebook."""
    starters = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in released["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    notebook = copy.deepcopy(source)
    for cell in notebook["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        if grading.get("solution"):
            cell["source"] = starters[grading["grade_id"]]
    return notebook


def _run(name: str, notebook: dict[str, Any], folder: Path, timeout_s: float) -> tuple[Any, PracticeResult]:
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    cells = read_cells(path)
    return cells, run_checks(name, cells, folder=folder, timeout_s=timeout_s)
