"""Filled copies of lessons: what a reader puts in place of the dots, right and wrong.

A module `lNN` for a lesson has `FILLED`, the source of each cell lNN-turnK and lNN-predictK with a right answer, and
`WRONG`, for each turn at least one plausible source that must not pass its check. Only a lesson's own cells are filled;
what is measured differs by machine, so any number above 0 is a prediction. Where a lesson has it, `SHORTER` says for a
cell that works for long which words of it make it do less: nbval runs it as it is.
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
        shorter: by cell id, words of the cell that stand there once, and what takes their place.
    """

    filled: dict[str, str]
    wrong: dict[str, list[str]]
    shorter: dict[str, tuple[str, str]]

    def shorten(self, cells: dict[str, str]) -> dict[str, str]:
        """Return the cells that do less than the lesson does, by id.

        Raises:
            ValueError: when a cell does not have its words once.
        """
        found = {}
        for name, (words, fewer) in self.shorter.items():
            if cells[name].count(words) != 1:
                raise ValueError(f"{name} has {words!r} {cells[name].count(words)} times, not once")
            found[name] = cells[name].replace(words, fewer)
        return found


def filling(number: str) -> Filling | None:
    """Return what fills the lesson of a number such as "04"; None while there is nothing to fill."""
    if not (FOLDER / f"l{number}.py").is_file():
        return None
    module = importlib.import_module(f"support.filled_lessons.l{number}")
    return Filling(module.FILLED, module.WRONG, getattr(module, "SHORTER", {}))
