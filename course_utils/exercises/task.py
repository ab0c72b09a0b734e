"""The checks of the exercises: yours beside what was expected, shape and dtype first, points in parts.

A check cell makes one `Task`, checks the student's function on several inputs, and ends with `task.score()`. Its value
is what nbgrader takes as partial credit (a float as the last expression of the cell), and what JupyterLab shows as a
table. Nothing raises: a broken function loses its own checks and the notebook goes on.
"""

from __future__ import annotations

import errno
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from course_utils.exercises.cell_line import cell_line, error_text
from course_utils.exercises.outcome import Failure, Outcome, Report
from course_utils.exercises.score import Score, in_kernel

LONGEST_SHOWN = 200
F = TypeVar("F", bound=Callable[..., Any])


def in_student_process(function: F) -> F:
    """Mark a helper of an exercise that has to run in the same process as the student's code.

    In JupyterLab, in `course check` and in plain nbgrader there is only one process, and this changes nothing. The
    course's grader keeps checks and student apart: a check calls the student's functions from outside, with plain
    values. What cannot be done from outside (a gradient, an audit, a count on the emulated device) is a marked helper
    in a locked cell of its own; it runs beside the student's code and returns plain values.
    """
    function.__in_student_process__ = True  # type: ignore[attr-defined]
    return function


# finished tasks of this process, in order; `course check` reads them
reports: list[Report] = []
# called with each outcome as it is found; the grader listens
listeners: list[Callable[[Task, Outcome], None]] = []


class Task:
    """One task of an exercise, with its checks.

    Args:
        name: the task's name, such as "4.1 Median and spread".
        points: what it is worth, at least 0; each check earns an equal part. None for a task of a lesson, which is not
            graded.

    >>> task = Task("0.1 Doubling", points=2)
    >>> task.check("twice two", yours=lambda: 2 * 2, expected=4)
      passed   twice two
    """

    def __init__(self, name: str, *, points: float | None = None) -> None:
        if points is not None and not 0 <= points < math.inf:
            raise ValueError(f"task {name!r} is worth {points} points; it has to be a number, 0 or more")
        self.name = name
        self.points = points
        self.outcomes: list[Outcome] = []

    def check(
        self,
        title: str,
        *,
        yours: Callable[[], Any],
        expected: Any = None,
        raises: type[Exception] | None = None,
        rtol: float = 1e-6,
    ) -> None:
        """Run the student's code once and compare its result; print the outcome, unless a notebook's table shows it.

        Args:
            title: what is checked, as a short phrase.
            yours: calls the student's code.
            expected: the right result: numbers, text, tensors, or lists, tuples and dicts of these.
            raises: the exception the code has to raise, instead of a result.
            rtol: how far numbers may differ, relative to the expected one.
        """
        outcome = _judge(title, yours, expected, raises, rtol)
        self.outcomes.append(outcome)
        for listener in listeners:
            listener(self, outcome)
        if not in_kernel():
            print(outcome)

    def score(self) -> Score:
        """Return the points earned; the last expression of a check cell.

        In a notebook it shows as a table of the outcomes; elsewhere the number of passed checks is printed.

        Raises:
            ValueError: when the task has no check, which would give points for nothing.
        """
        if not self.outcomes:
            raise ValueError(f"task {self.name!r} has no checks, so it has no score")
        passed = sum(outcome.passed for outcome in self.outcomes)
        worth = self.points or 0
        report = Report(self.name, round(worth * passed / len(self.outcomes), 2), worth, tuple(self.outcomes))
        reports.append(report)
        if not in_kernel() and self.points is not None:
            print(f"Task {self.name}: {passed} of {len(self.outcomes)} checks passed")
        return Score(report, graded=self.points is not None)


def _judge(title: str, yours: Callable[[], Any], expected: Any, raises: type[Exception] | None, rtol: float) -> Outcome:
    """Run the student's code once and return the outcome of its check."""

    def wanted() -> str:
        return f"a {raises.__name__}" if raises is not None else _shown(expected)

    try:
        result = yours()
        if result is ...:
            return Outcome(title, False, "not written yet", wanted(), Failure.NOT_WRITTEN)
    except NotImplementedError as error:
        return Outcome(title, False, f"not written yet ({error})", wanted(), Failure.NOT_WRITTEN)
    except Exception as error:  # whatever a student's code may raise is an answer, not a crash
        if raises is not None and isinstance(error, raises):
            return Outcome(title, True)
        where = getattr(error, "cell_line", "") or cell_line(error, skip=getattr(yours, "__code__", None))
        shown = f"{type(error).__name__}: {error_text(error)}"[:LONGEST_SHOWN] + (f" ({where})" if where else "")
        failure = Failure.OUT_OF_MEMORY if is_out_of_memory(error) else Failure.RAISED
        return Outcome(title, False, shown, wanted(), failure)
    if raises is not None:
        return Outcome(title, False, f"returned {_shown(result)}", wanted(), Failure.DIFFERENT)
    try:
        difference = find_difference(result, expected, rtol=rtol)
    except UnsupportedExpectedError:
        raise
    except Exception as error:  # a value at which comparing raises fails this check, and no other
        difference = (f"{_shown(result)}, which cannot be compared ({type(error).__name__})", wanted())
    return Outcome(title, True) if difference is None else Outcome(title, False, *difference, Failure.DIFFERENT)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is Python's, the system's or torch's for memory that is not there, by its class.

    torch's CPU allocator raises a plain RuntimeError (torch 2.14), which is not told from others.
    """
    torch = sys.modules.get("torch")
    kinds = (MemoryError,) if torch is None else (MemoryError, torch.OutOfMemoryError)
    return isinstance(error, kinds) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


class UnsupportedExpectedError(TypeError):
    """A check compares with something that it cannot compare with: the exercise's mistake, not an answer."""


def find_difference(yours: Any, expected: Any, *, rtol: float = 1e-6) -> tuple[str, str] | None:
    """Compare a result with the expected one; the expected value decides how, never `yours.__eq__`.

    What means the same counts as the same: an OrderedDict as a dict, a named tuple as a tuple, an IntEnum, a NumPy
    scalar or a tensor without dimensions as its number.

    Returns:
        None when they agree, else what to show as yours and as expected.

    Raises:
        UnsupportedExpectedError: when the expected value is not a number, text, tensor, list, tuple or dict.
    """
    tensor = _tensor_type()
    if tensor is not None and isinstance(expected, tensor):
        return _tensor_difference(yours, expected, rtol)
    if expected is None:
        return None if yours is None else (_shown(yours), "None")
    if isinstance(expected, bool | str | int | float):
        return _scalar_difference(yours, expected, rtol)
    if isinstance(expected, Mapping):
        return _mapping_difference(yours, expected, rtol)
    if isinstance(expected, Sequence):
        return _sequence_difference(yours, expected, rtol)
    raise UnsupportedExpectedError(
        f"a check cannot compare with a {type(expected).__name__}; expected plain values or tensors"
    )


def _scalar_difference(yours: Any, expected: bool | str | float, rtol: float) -> tuple[str, str] | None:
    mine = plain_value(yours)
    if isinstance(expected, bool | str):
        same = type(mine) is type(expected) and mine == expected
        return None if same else (_shown(yours), _shown(expected))
    if mine is None:
        return "None, which is no number", f"{expected!r}, a number"
    if type(mine) not in (int, float):
        return f"{_shown(yours)}, of type {type(yours).__name__}", f"{expected!r}, a number"
    try:
        close = mine == expected or math.isclose(mine, expected, rel_tol=rtol, abs_tol=1e-12)
    except OverflowError:  # an int beyond every float
        close = False
    both_nan = isinstance(mine, float) and isinstance(expected, float) and math.isnan(mine) and math.isnan(expected)
    return None if close or both_nan else (_shown(yours), _shown(expected))


def plain_value(value: Any) -> Any:
    """Return a value of Python's own types where one means the same; other values as they are.

    Subclasses are read by the methods of the types that they extend, so that no method of theirs decides.
    """
    plain = getattr(type(value), "__plain_value__", None)  # what the grader holds in place of a student's object
    if plain is not None:
        return plain(value)
    torch = sys.modules.get("torch")  # where nobody imported torch, nobody can hold a tensor
    if torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter):
        is_number = value.dim() == 0 and value.device.type != "meta"
        return value.detach().item() if is_number else value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic) and not isinstance(value, float | str):
        return value.item() if value.dtype.kind in "biuf" else value
    readers: tuple[tuple[type, Callable[[Any], Any]], ...] = (
        (int, int.__int__),
        (float, float.__float__),
        (str, str.__str__),
        (dict, lambda found: dict(dict.items(found))),
        (tuple, lambda found: tuple(tuple.__iter__(found))),
        (list, lambda found: list(list.__iter__(found))),
    )
    if type(value) in (bool, *(kind for kind, _ in readers)):
        return value
    return next((read(value) for kind, read in readers if isinstance(value, kind)), value)


def _tensor_type() -> type | None:
    torch = sys.modules.get("torch")  # where nobody imported torch, nobody can hold a tensor
    return torch.Tensor if torch is not None else None


def _tensor_difference(yours: Any, expected: Any, rtol: float) -> tuple[str, str] | None:
    import torch

    if type(yours) not in (torch.Tensor, torch.nn.Parameter):
        return f"a {type(yours).__name__}", "a tensor"
    if yours.shape != expected.shape:
        return f"a tensor of shape {tuple(yours.shape)}", f"shape {tuple(expected.shape)}"
    if yours.dtype != expected.dtype:
        return f"a tensor of dtype {yours.dtype}", f"dtype {expected.dtype}"
    if yours.device.type == "meta":
        return "a tensor on the device meta, which holds no numbers", "a tensor with numbers"
    mine, right = yours.detach().cpu(), expected.detach().cpu()
    if mine.is_complex():
        mine, right = torch.view_as_real(mine.resolve_conj()), torch.view_as_real(right.resolve_conj())
    differs = ~torch.isclose(mine.double(), right.double(), rtol=rtol, atol=1e-8, equal_nan=True)
    if not differs.any():
        return None
    first = int(differs.flatten().int().argmax())
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(first), mine.shape))
    one, other = f"{mine.flatten()[first].item():.6g}", f"{right.flatten()[first].item():.6g}"
    many = f", the first of {int(differs.sum())} places that differ" if differs.sum() > 1 else ""
    # a tensor without dimensions has no place
    return (f"{one} at {place}{many}", f"{other} there") if place else (one, other)


def _mapping_difference(yours: Any, expected: Mapping[Any, Any], rtol: float) -> tuple[str, str] | None:
    mine = plain_value(yours)
    if type(mine) is not dict:
        return f"a {type(yours).__name__}", f"a dict with {', '.join(map(repr, expected))}"
    found = {plain_value(key): value for key, value in mine.items()}
    if set(found) != set(expected):
        return f"keys {sorted(map(_shown, found))}", f"keys {sorted(map(_shown, expected))}"
    for key, right in expected.items():
        difference = find_difference(found[key], right, rtol=rtol)
        if difference is not None:
            return f"[{key!r}] {difference[0]}", f"[{key!r}] {difference[1]}"
    return None


def _sequence_difference(yours: Any, expected: Sequence[Any], rtol: float) -> tuple[str, str] | None:
    mine = plain_value(yours)
    if type(mine) not in (list, tuple):
        return f"a {type(yours).__name__}", f"a list or tuple: {_shown(expected)}"
    if len(mine) != len(expected):
        return f"{_shown(yours)}, {len(mine)} long", f"{_shown(expected)}, {len(expected)} long"
    for place, (one, right) in enumerate(zip(mine, expected, strict=True)):
        difference = find_difference(one, right, rtol=rtol)
        if difference is not None:
            return f"{_shown(yours)} (differs at [{place}])", _shown(expected)
    return None


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:  # an int of 5,000 digits has none, and a student's __repr__ may raise
        return f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
