"""Whether code that cannot be parsed may be written for a newer Python than the one that runs it.

A notebook's kernel writes its Python's version into the file (nbformat 4, `language_info`). Syntax grows: `type X =
int` and `def f[T](x)` came with Python 3.12, and an older one says of them no more than "invalid syntax".
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from course_utils.exercises.notebook import Cell

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.|\D|$)")


def python_of(notebook: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the Python of the kernel that ran a notebook last, such as (3, 13); None where the file does not say.

    Args:
        notebook: the notebook's JSON.
    """
    metadata = notebook.get("metadata")
    language = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = language.get("version") if isinstance(language, dict) and language.get("name") == "python" else None
    found = _VERSION.match(version) if isinstance(version, str) else None
    return None if found is None else (int(found[1]), int(found[2]))


def about_newer_python(
    notebook: Mapping[str, Any], unread: Iterable[Cell], here: tuple[int, int] = sys.version_info[:2]
) -> str:
    """Return a sentence about cells that only a newer Python may be able to parse; empty where that explains nothing.

    Args:
        notebook: the notebook's JSON.
        unread: the cells that do not parse here; looked at only where the notebook ran with a newer Python.
        here: the Python that runs the code now.
    """
    theirs = python_of(notebook)
    if theirs is None or theirs <= here:
        return ""
    named = [f"cell {cell.number}" + f" ({cell.grade_id})" * bool(cell.grade_id) for cell in unread]
    if not named:
        return ""
    older, newer = (f"Python {major}.{minor}" for major, minor in (here, theirs))
    more = f" and {len(named) - 1} more" if len(named) > 1 else ""
    return (
        f"{older}, which runs the checks here, cannot parse {named[0]}{more}, and the notebook last ran with {newer}; "
        f"if it runs for you, it uses syntax that {older} does not have yet: write it in the older form"
    )


def unread_cells(cells: Sequence[Cell]) -> Iterator[Cell]:
    """List the cells of code that do not parse here, IPython's commands allowed; IPython loads with the first."""
    from IPython.core.inputtransformer2 import TransformerManager

    manager = TransformerManager()  # type: ignore[no-untyped-call]
    yield from (cell for cell in cells if cell.kind == "code" and not _parses(cell.source, manager.transform_cell))


def _parses(source: str, in_python: Callable[[str], str]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as one about "\\d" in a string
        try:
            ast.parse(in_python(source))
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True
