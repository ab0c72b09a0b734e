"""What an editor left in a notebook's file: which one saved it and when, and which cells lost nbgrader's metadata.

JupyterLab keeps a cell's metadata while the cell is edited, and does not copy it with the text into a new cell. VS Code
does not heed that a cell may not be deleted (TU Wien grader-service #213, 2024); its earlier releases dropped metadata
when a cell ran (vscode-python #9997, 2020) and ids when a file was saved (vscode-jupyter #5933, mended in 2021). Colab
marks its files; a cell's id is also looked for in its metadata, where Colab's files have it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from course_utils.exercises.notebook import Cell

_TASK_CELL = re.compile(r"ex\d\d-task\d+(-[a-z0-9-]+)?")


def editor_of(notebook: Mapping[str, Any]) -> str:
    """Return which editor marked a notebook's file: "Colab", "VS Code", or "" where none did.

    Args:
        notebook: the notebook's JSON.
    """
    cells = [cell.get("metadata") for cell in notebook.get("cells", []) if isinstance(cell, dict)]
    marks = {key for metadata in (notebook.get("metadata"), *cells) if isinstance(metadata, dict) for key in metadata}
    return next((name for mark, name in (("colab", "Colab"), ("vscode", "VS Code")) if mark in marks), "")


def lost_cells(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the cells of tasks that have no metadata of nbgrader's, so that no check counts them.

    A cell is known by its id, or by its code where it lost that as well: a check makes a `Task`.

    Returns:
        Ids such as "ex04-task1-check", or "cell 7" for a cell without one, in their order.
    """
    lost = (cell for cell in cells if cell.kind == "code" and cell.grade_id is None)
    return tuple(
        cell.cell_id if _TASK_CELL.fullmatch(cell.cell_id) else f"cell {cell.number}"
        for cell in lost
        if _TASK_CELL.fullmatch(cell.cell_id) or makes_a_task(cell.source)
    )


def makes_a_task(source: str) -> bool:
    """Return whether code calls `Task` with a name; code that does not parse does not."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Task"), args=[ast.Constant(value=str()), *_]):
                return True
    return False


def about_lost(lost: Sequence[str], editor: str) -> str:
    """Return a sentence about cells without metadata; empty where there is none.

    Args:
        lost: what `lost_cells` found.
        editor: what `editor_of` found.
    """
    if not lost:
        return ""
    number = f"{len(lost)} cells" if len(lost) > 1 else "1 cell"
    who = f"; {editor} saved this file last" if editor else ""
    return (
        f"{number} of tasks lost the metadata by which they are known, such as {lost[0]}, so nothing checks them here"
        f"{who}; copy your answers into a fresh copy of the exercise, which `course start FOLDER` lays out"
    )


def when_saved(path: Path, now_s: float) -> str:
    """Return when a file was last written, as a student asks: at what time, and how long ago.

    Args:
        path: the file.
        now_s: the time now, seconds since 1970.
    """
    saved_s = path.stat().st_mtime
    clock = datetime.fromtimestamp(saved_s).strftime("%H:%M:%S")
    ago_s = max(now_s - saved_s, 0.0)
    if ago_s < 60:
        return f"{clock}, {ago_s:.0f} s ago"
    if ago_s < 3600:
        return f"{clock}, {ago_s / 60:.0f} min ago"
    return f"{datetime.fromtimestamp(saved_s):%Y-%m-%d} {clock}"
