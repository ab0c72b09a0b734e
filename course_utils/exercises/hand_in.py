"""Make the one file that a student hands in: the notebook as it is, without outputs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from course_utils.exercises.notebook import Cell
from course_utils.reporting.files import write_file
from course_utils.reporting.units import format_sizes

FOLDER = "submit"
_STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.@_-]{0,63}")
_WRITTEN = re.compile(r"^%%(?:writefile|file)\s+(?:-a\s+)?(\S+)", re.MULTILINE)
# `from NAME import`, and `import NAME, NAME as OTHER`, whose other names are those of no file
_IMPORTED = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)
# the grader reads files up to this size; without outputs only pasted pictures make one larger
LARGEST_BYTES = 20 * 1024**2


def file_name(exercise: str, student: str | None) -> str:
    """Return the name of the file to hand in, such as 04_measuring_time_ada.ipynb.

    Raises:
        ValueError: when the id could not be part of a file's name everywhere.
    """
    if student is None:
        return f"{exercise}.ipynb"
    if not _STUDENT.fullmatch(student):
        raise ValueError(
            f"{student!r} cannot be part of a file's name; an id has letters, digits, dots, hyphens, underscores or @, "
            "begins with a letter or digit, and has at most 64 characters"
        )
    return f"{exercise}_{student}.ipynb"


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook whose code cells have neither outputs nor run numbers; all else is the student's."""
    cells = [cell | {"outputs": [], "execution_count": None} if _is_code(cell) else cell for cell in notebook["cells"]]
    return notebook | {"cells": cells}


def _is_code(cell: object) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def find_warnings(cells: tuple[Cell, ...], size_bytes: int) -> tuple[str, ...]:
    """Return what a grader may trip over, one sentence each.

    Args:
        cells: the notebook's cells.
        size_bytes: the size of the file to hand in.
    """
    ids = Counter(cell.grade_id for cell in cells if cell.kind == "code")
    warnings = [
        f"the cell {grade_id} is there {times} times, and only one can count; delete the others"
        for grade_id, times in ids.items()
        if grade_id is not None and times > 1
    ]
    if size_bytes > LARGEST_BYTES:
        size, limit = format_sizes(size_bytes, LARGEST_BYTES)
        warnings.append(f"the file has {size}, and graders read at most {limit}; take pasted pictures out")
    return tuple(warnings)


def modules_beside(cells: tuple[Cell, ...], folder: Path) -> tuple[str, ...]:
    """Return what a notebook imports from files beside it, which are not handed in with it.

    A file that a cell writes (`%%writefile helpers.py`) is made anew where the notebook runs.
    """
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    written = set(_WRITTEN.findall(code))
    imported = dict.fromkeys(name for pair in _IMPORTED.findall(code) for name in re.findall(r"\w+", " ".join(pair)))
    beside = [f"{name}.py" for name in imported if (folder / f"{name}.py").is_file()]
    beside += [name for name in imported if (folder / name / "__init__.py").is_file()]
    return tuple(name for name in beside if name not in written)


def write_notebook(notebook: dict[str, Any], path: Path) -> int:
    """Write a notebook at once or not at all.

    Returns:
        The size of the file, bytes.
    """
    data = (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, data)
    return len(data)
