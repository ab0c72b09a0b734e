"""Cache of check results, keyed by a hash of the notebook's code cells and of the versions that run them.

It lies in the course's hidden folder .course/, one file for each exercise. After another torch, another macOS or a
change of the course's own tools nothing is found, so the checks run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from course_utils.exercises.course import Exercise
from course_utils.exercises.notebook import Cell
from course_utils.exercises.outcome import read_report
from course_utils.exercises.runner import PracticeResult, run_checks
from course_utils.exercises.versions import RuntimeVersions, runtime_versions
from course_utils.reporting.files import write_file

FOLDER = ".course"


def content_digest(cells: tuple[Cell, ...], versions: RuntimeVersions | None = None) -> str:
    """Return the hash of everything that can change the outcome of a notebook's checks.

    Args:
        cells: the notebook's cells.
        versions: what runs them; this process's when None.
    """
    rows = [[cell.grade_id, cell.graded, cell.points, cell.source] for cell in cells if cell.kind == "code"]
    return hashlib.sha256(json.dumps([asdict(versions or runtime_versions()), rows]).encode()).hexdigest()


def recall(root: Path, exercise: str, cells: tuple[Cell, ...]) -> PracticeResult | None:
    """Return what the checks said of exactly these cells, or None when that is not known.

    Args:
        root: the course's root.
        exercise: the exercise's name.
        cells: the cells of the student's notebook as it is now.
    """
    try:
        kept = json.loads(_file(root, exercise).read_text(encoding="utf-8"))
        if kept["digest"] != content_digest(cells):
            return None
        return _read_result(kept["result"])
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        return None  # nothing kept, or something that is not ours: then nothing is known


def remember(root: Path, exercise: str, cells: tuple[Cell, ...], result: PracticeResult) -> bool:
    """Keep a result, unless the run ended early, which another run may not do.

    Returns:
        Whether it was kept; False too where the folder cannot be written.
    """
    if result.stopped is not None:
        return False
    path = _file(root, exercise)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json.dumps({"digest": content_digest(cells), "result": asdict(result)}))
    except OSError:
        return False
    return True


def check_and_remember(
    root: Path,
    exercise: Exercise,
    cells: tuple[Cell, ...],
    *,
    timeout_s: float,
    on_cell: Callable[[], object] = lambda: None,
) -> PracticeResult:
    """Run the checks of a student's own notebook and keep the result."""
    folder = exercise.released.parent
    result = run_checks(exercise.name, cells, folder=folder, timeout_s=timeout_s, on_cell=on_cell)
    remember(root, exercise.name, cells, result)
    return result


def _file(root: Path, exercise: str) -> Path:
    return root / FOLDER / f"{exercise}.json"


def _read_result(row: dict[str, Any]) -> PracticeResult:
    tasks = tuple(read_report(task) for task in row["tasks"])
    return PracticeResult(
        exercise=row["exercise"],
        tasks=tasks,
        errors=tuple((number, error) for number, error in row["errors"]),
        stopped=None,
        unchecked=tuple(row["unchecked"]),
        stderr=tuple((number, text) for number, text in row["stderr"]),
    )
