"""What a check found, and a task after its checks: plain data that JSON carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Failure(StrEnum):
    """Why a check did not pass; decided by what the code did, never by a text."""

    DIFFERENT = "different"  # it returned something else than expected
    RAISED = "raised"  # it raised
    NOT_WRITTEN = "not written"  # an untouched exercise: it raised NotImplementedError, or dots are left
    OUT_OF_MEMORY = "out of memory"  # it raised Python's, torch's or the system's error of that kind


@dataclass(frozen=True)
class Outcome:
    """One check of a task.

    Args:
        title: what was checked.
        passed: whether it held.
        yours: what the student's code gave, as text; empty when it passed.
        expected: what was expected, as text; empty when it passed.
        failure: why it did not pass; None when it passed.
    """

    title: str
    passed: bool
    yours: str = ""
    expected: str = ""
    failure: Failure | None = None

    def __str__(self) -> str:
        if self.passed:
            return f"  passed   {self.title}"
        return f"  not yet  {self.title}\n           yours:    {self.yours}\n           expected: {self.expected}"


@dataclass(frozen=True)
class Report:
    """A task after its checks.

    Args:
        task: the task's name.
        points: points earned.
        max_points: points the task is worth; 0 for an ungraded one.
        outcomes: one for each check, in order.
    """

    task: str
    points: float
    max_points: float
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """True when every check of the task passed."""
        return all(outcome.passed for outcome in self.outcomes)


def read_report(row: Mapping[str, Any]) -> Report:
    """Read a report that `dataclasses.asdict` wrote and JSON carried.

    Raises:
        KeyError, TypeError, ValueError: when it is not one.
    """
    outcomes = [
        Outcome(**(each | {"failure": each["failure"] and Failure(each["failure"])})) for each in row["outcomes"]
    ]
    return Report(**(dict(row) | {"outcomes": tuple(outcomes)}))
