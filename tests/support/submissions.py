"""Build submissions from the course's own notebooks: solved, untouched, partly solved, wrong."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from support.paths import ROOT

EXERCISES = sorted(path.name for path in (ROOT / "solutions").glob("[0-9][0-9]_*"))


def source_notebook(name: str) -> dict[str, Any]:
    """Read the instructor's notebook of an exercise, hidden tests included."""
    return json.loads((ROOT / "solutions" / name / f"{name}.ipynb").read_text(encoding="utf-8"))


def released_notebook(name: str) -> dict[str, Any]:
    """Read the student's notebook of an exercise."""
    return json.loads((ROOT / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8"))


def grading_of(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell's nbgrader metadata, empty where there is none."""
    return cell["metadata"].get("nbgrader", {})


def solution_cells(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cells that students write, by grade id."""
    return {grading_of(cell)["grade_id"]: cell for cell in notebook["cells"] if grading_of(cell).get("solution")}


def check_cells(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cells that give points, by grade id."""
    return {grading_of(cell)["grade_id"]: cell for cell in notebook["cells"] if grading_of(cell).get("grade")}


def with_code(notebook: dict[str, Any], code: dict[str, str]) -> dict[str, Any]:
    """Replace the code of solution cells, by grade id."""
    cells = solution_cells(notebook)
    for grade_id, source in code.items():
        cells[grade_id]["source"] = source
    return notebook


def solved(name: str, only: set[str] | None = None) -> dict[str, Any]:
    """Return the released notebook with the instructor's code in all solution cells, or in those of `only`."""
    code = {grade_id: "".join(cell["source"]) for grade_id, cell in solution_cells(source_notebook(name)).items()}
    return with_code(released_notebook(name), {key: text for key, text in code.items() if only is None or key in only})


def wrong_solutions(name: str) -> dict[str, dict[str, str]]:
    """Return the kept wrong solutions of an exercise: grade id -> what is wrong -> code."""
    return importlib.import_module(f"support.wrong_solutions.ex{name[:2]}").WRONG


def right_solution(name: str, task: str, style: str) -> str:
    """Return a kept right solution of a task in another style."""
    return importlib.import_module(f"support.right_solutions.ex{name[:2]}").RIGHT[task][style]


def submit(course: Path, student: str, name: str, notebook: dict[str, Any]) -> None:
    """Put a notebook where nbgrader expects a student's submission."""
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True)
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
