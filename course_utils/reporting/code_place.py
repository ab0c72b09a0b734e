"""How a line of code is named to its reader: by its file, or by the number that the notebook shows beside the cell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# a cell whose number nobody sees
A_CELL = "a cell"


def code_place(file: str, line: int) -> str:
    """Return where a line stands, such as "train.py:12", or "cell [3], line 5" in a notebook.

    Args:
        file: the file as Python reports it; in a notebook the name that IPython gave the cell.
        line: the line's number, counted from 1.
    """
    cell = cell_of(file)
    return f"{cell}, line {line}" if cell else f"{Path(file).name}:{line}"


def cell_of(file: str) -> str:
    """Return which cell a file name stands for: "cell [3]" by the number beside it, "a cell"; "" for a file.

    The number is that of the cell's last run. Only a kernel shows one, and Colab's IPython 7 does not tell it.
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        named = getattr(shell.compile, "format_code_name", lambda _: None)(file)
        if named is not None:
            return f"cell {named[1].removeprefix('In')}"
    is_cell = file.startswith("<ipython-input") or "/ipykernel_" in file.replace("\\", "/")
    return A_CELL if is_cell else ""
