"""Predictions: a number before the measurement, a factor after it, and how well the reader predicts over the course.

Nothing here reads or writes a file; `course_utils.exercises.kept_predictions` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from course_utils.exercises.task import plain_value
from course_utils.reporting.results import TableResult, TextResult

CLOSE = 2.0  # a prediction within this factor of the measurement is a good one
UNKNOWN_LESSON = ""


def as_number(value: Any) -> float:
    """Return a predicted or measured value as a float; NumPy's numbers and tensors with one number are accepted.

    Raises:
        ValueError: when it is no finite number, or below 0; the message is one sentence.
    """
    number = plain_value(value)
    if type(number) not in (int, float):
        raise ValueError(f"{value!r} is not a number; give a number alone, the unit comes after it")
    try:
        number = float(number)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise ValueError(f"{value!r} cannot be compared by a factor; give a finite number above 0")
    return number


@dataclass(frozen=True, repr=False)
class _Shown(TextResult):
    """A result whose text was printed by the call that made it, so that a notebook does not show it again."""

    def _ipython_display_(self) -> None:
        return


@dataclass(frozen=True, repr=False)
class Prediction(_Shown):
    """What the reader expects.

    Args:
        name: what is predicted, such as "time of the product".
        value: the number, above 0; None while there are dots in its place.
        unit: the unit, such as "ms"; empty for a count or a factor.
        lesson: the notebook's name, such as "04_measuring_time"; empty where it is not known.
        warnings: why it could not be kept.
    """

    name: str
    value: float | None
    unit: str = ""
    lesson: str = UNKNOWN_LESSON
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, value: Any, unit: str = "", lesson: str = UNKNOWN_LESSON) -> Prediction:
        """Make a prediction from what a reader typed: a number above 0, or dots.

        Raises:
            ValueError: when it is neither; the message is one sentence.
        """
        if value is ...:
            return cls(name, None, unit, lesson)
        number = as_number(value)
        if number == 0:
            raise ValueError("0 cannot be compared by a factor; give a finite number above 0")
        return cls(name, number, unit, lesson)

    def __str__(self) -> str:
        if self.value is None:
            text = f"Your prediction, {self.name}: put a number in place of the dots, then run this cell again."
        else:
            text = f"Your prediction, {self.name}: {with_unit(self.value, self.unit)}."
        return "\n".join([text, *(f"warning: {warning}" for warning in self.warnings)])


@dataclass(frozen=True, repr=False)
class ComparedPrediction(_Shown):
    """A prediction beside what was measured.

    Args:
        name: what was predicted.
        predicted: the reader's number, above 0; None without one.
        measured: the measured number, in the same unit.
        unit: their unit.
        lesson: the notebook's name; empty where it is not known.
        warnings: why it could not be kept, or does not count.
    """

    name: str
    predicted: float | None
    measured: float
    unit: str = ""
    lesson: str = UNKNOWN_LESSON
    warnings: tuple[str, ...] = ()

    @property
    def factor(self) -> float | None:
        """How many times one number is the other, at least 1; infinite where 0 was measured; None without a number."""
        if self.predicted is None:
            return None
        if self.measured == 0:
            return math.inf
        return max(self.predicted / self.measured, self.measured / self.predicted)

    @property
    def is_close(self) -> bool:
        """True when the prediction is within a factor of 2."""
        return self.factor is not None and self.factor <= CLOSE

    def __str__(self) -> str:
        measured = with_unit(self.measured, self.unit)
        if self.predicted is None or self.factor is None:
            text = f"{self.name}: it is {measured} (you made no prediction)."
        else:
            told = f"You said {with_unit(self.predicted, self.unit)}; it is {measured}"
            if math.isinf(self.factor):
                text = f"{told}: no factor leads from one to the other."
            elif self.is_close:
                text = f"{told}: within a factor of {_factor(self.factor)}."
            else:
                text = f"{told}: off by a factor of {_factor(self.factor)}."
        return "\n".join([text, *(f"warning: {warning}" for warning in self.warnings)])


@dataclass(frozen=True, repr=False)
class TrackRecord(TableResult):
    """How well the reader predicts, over the course.

    Args:
        compared: the predictions that were compared with a measurement, in order of the lessons.
        warnings: what could not be read.
    """

    compared: tuple[ComparedPrediction, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    @property
    def close(self) -> int:
        """How many predictions were within a factor of 2."""
        return sum(each.is_close for each in self.compared)

    @property
    def median_factor(self) -> float | None:
        """The median of the factors; None without predictions."""
        return _median(self.compared)

    def title(self) -> str:
        """Return the summary in one sentence."""
        if self.median_factor is None:
            return "No predictions yet: the lessons ask for a number before they measure."
        many = f"{self.close} of {len(self.compared)} predictions within a factor of 2"
        return f"{many}; the median factor is {_factor(self.median_factor)}."

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each lesson: each prediction as a mark, the count, the median factor."""
        rows: list[tuple[str, ...]] = [("predictions in", "each", "within a factor of 2", "median factor")]
        for lesson in dict.fromkeys(each.lesson for each in self.compared):
            here = [each for each in self.compared if each.lesson == lesson]
            marks = "".join("#" if each.is_close else "." for each in here)
            close = f"{sum(each.is_close for each in here)} of {len(here)}"
            rows.append((lesson or "a lesson not known", marks, close, _factor(_median(here) or math.inf)))
        return rows

    def notes(self) -> Sequence[str]:
        """Return what the marks mean."""
        return (
            ["# is a prediction within a factor of 2 of the measurement, . one that was not"] if self.compared else []
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        factor = self.median_factor
        rows = [
            {
                "lesson": each.lesson,
                "name": each.name,
                "predicted": each.predicted,
                "measured": each.measured,
                "unit": each.unit,
            }
            for each in self.compared
        ]
        finite = factor if factor is not None and math.isfinite(factor) else None
        return {"within_factor_2": self.close, "median_factor": finite, "compared": rows}


def _median(compared: Sequence[ComparedPrediction]) -> float | None:
    factors = [each.factor for each in compared if each.factor is not None]
    return median(factors) if factors else None


def with_unit(value: float, unit: str) -> str:
    """Write a number with its unit, as in "5 ms"; three digits, whole numbers below ten million in full."""
    whole = value == int(value) and value < 1e7
    number = f"{value:,.0f}" if whole or 1000 <= value < 1e7 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def _factor(value: float) -> str:
    """Write a factor with two digits, rounded up, so that "within" is true."""
    if math.isinf(value):
        return "infinity"
    digits = 1 if value < 10 else 0
    scale = 10**digits
    return f"{math.ceil(round(value * scale, 6)) / scale:,.{digits}f}".removesuffix(".0")
