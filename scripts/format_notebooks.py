"""Bring notebooks into the one form that the repository keeps; with --check, only say which are not.

The form: nbformat 4.5, kernelspec python3, sorted keys, one space of indentation, outputs and execution counts
cleared except in cells tagged nbval-check-output (nbval compares those), no metadata but tags and nbgrader's, and as
the second cell of a lesson the one that says what to install (`installed_cell`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a file, it does not find the module beside it

from course_utils.data.repository import read_repository  # noqa: E402
from scripts.installed_cell import NAME, installed_cell  # noqa: E402
from scripts.write_or_check import only_checks, write_or_check  # noqa: E402

FOLDERS = ("notebooks", "solutions")  # exercises/ is written by nbgrader
KEEP_OUTPUTS = "nbval-check-output"
KEPT_CELL_METADATA = ("nbgrader", "tags")
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def canonical(notebook: dict[str, Any], stem: str) -> dict[str, Any]:
    """Return a notebook in canonical form.

    Args:
        notebook: the notebook's JSON, nbformat 4.
        stem: the file's name without suffix; its number begins the ids of cells that have none.
    """
    cells = [_canonical_cell(cell, position, stem) for position, cell in enumerate(notebook["cells"])]
    number = stem[:2]
    if any(cell["id"].startswith(f"l{number}-") for cell in cells):  # a lesson; ids of exercises begin with ex
        cells = [cell for cell in cells if cell["id"] != f"l{number}-{NAME}"]
        cells.insert(1, installed_cell(number, read_repository(ROOT)))
    return {"cells": cells, "metadata": NOTEBOOK_METADATA, "nbformat": 4, "nbformat_minor": 5}


def _canonical_cell(cell: dict[str, Any], position: int, stem: str) -> dict[str, Any]:
    metadata = {key: cell["metadata"][key] for key in KEPT_CELL_METADATA if cell.get("metadata", {}).get(key)}
    found = {
        "cell_type": cell["cell_type"],
        "id": cell.get("id") or f"{stem[:2]}-cell-{position + 1}",
        "metadata": metadata,
        "source": _lines(cell["source"]),
    }
    if cell["cell_type"] == "code":
        kept = cell.get("outputs", []) if KEEP_OUTPUTS in metadata.get("tags", []) else []
        # nbval 0.11 refuses stored outputs of a cell that was never run, so a kept output counts as the first run
        found["execution_count"] = 1 if kept else None
        found["outputs"] = [_canonical_output(output) for output in kept]
    return found


def _canonical_output(output: dict[str, Any]) -> dict[str, Any]:
    return output | ({"execution_count": 1} if "execution_count" in output else {})


def _lines(source: str | list[str]) -> list[str]:
    text = "".join(source) if isinstance(source, list) else source
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n").splitlines(keepends=True)


def as_text(notebook: dict[str, Any]) -> str:
    """Return a notebook as nbformat writes it: one space, sorted keys, a final newline."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def notebook_files(root: Path) -> list[Path]:
    """List the notebooks that people write."""
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*.ipynb")]
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def main(arguments: list[str] | None = None) -> int:
    """Format or check; exit code 0 when all are (now) in form, 1 when --check found one that is not."""
    check = only_checks(arguments, "Bring notebooks into canonical form.")
    files = notebook_files(ROOT)
    if not check:
        # ruff formats the code in notebooks' cells
        subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", *map(str, files)], check=True, cwd=ROOT)
    return write_or_check(files, lambda path, text: as_text(canonical(json.loads(text), path.stem)), ROOT, check=check)


if __name__ == "__main__":
    sys.exit(main())
