"""Filled copies of lessons: what a reader puts in place of the dots, right and wrong.

A module `lNN` for a lesson has `FILLED`, the source of each cell lNN-turnK and lNN-predictK with a right answer, and
`WRONG`, for each turn at least one plausible source that must not pass its check. Only a lesson's own cells are filled;
what is measured differs by machine, so any number above 0 is a prediction.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Filling:
    """What fills a lesson.

    Args:
        filled: the right source by cell id.
        wrong: wrong sources by cell id.
    """

    filled: dict[str, str]
    wrong: dict[str, list[str]]


def filling(number: str) -> Filling | None:
    """Return what fills the lesson of a number such as "04"; None while there is nothing to fill."""
    if not (FOLDER / f"l{number}.py").is_file():
        return None
    module = importlib.import_module(f"support.filled_lessons.l{number}")
    return Filling(module.FILLED, module.WRONG)
