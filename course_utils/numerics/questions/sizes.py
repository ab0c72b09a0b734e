"""Other sizes than the given ones: batch 1, doubling beyond, the last dimension, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves

from course_utils.numerics.questions.session import (
    ComparisonRecord,
    FailingInputs,
    NumericsQuestion,
    QuestionOutcome,
)
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.reference.judge import is_gradient
from course_utils.numerics.running.attempts import Refusal
from course_utils.numerics.tensors.inputs import Inputs, elements
from course_utils.numerics.tensors.resizing import resize, rows_from, size_along

# a question computes at most so many numbers, the given one times the growth
MOST_PRODUCED = 2**23
_LAST_DIMENSION = 2**13
_BY_ROWS = 4  # sizes below say nothing: a repeated index or a variance of one row is no size


@dataclass(frozen=True)
class SizeSearch:
    """What a search over sizes found.

    Args:
        passed: the largest size below `failed` that was right, or None where no smaller one was.
        failed: the smallest size that was wrong, or None where all were right.
        tried: how many sizes were tried.
    """

    passed: int | None
    failed: int | None
    tried: int


def doubled(smallest: int, largest: int) -> tuple[int, ...]:
    """List sizes from the smallest to the largest, each twice the one before; the largest is among them."""
    sizes = []
    size = max(1, smallest)
    while size < largest:
        sizes.append(size)
        size *= 2
    return (*sizes, largest) if largest >= 1 else ()


def smallest_failing(fails: Callable[[int], bool | None], sizes: tuple[int, ...]) -> SizeSearch:
    """Find the smallest failing size, taking it that whatever fails at one size fails at all larger ones.

    Args:
        fails: returns whether a size is wrong; None where it cannot be tried.
        sizes: rising sizes to try first.

    Returns:
        The search's result; between a right and a wrong size, the gap is halved until they are neighbours.
    """
    passed: int | None = None
    failed: int | None = None
    tried = 0
    for size in sizes:
        verdict = fails(size)
        tried += 1
        if verdict is None:
            continue
        if verdict:
            failed = size
            break
        passed = size
    if failed is None:
        return SizeSearch(passed, None, tried)
    low = passed if passed is not None else failed - 1
    while failed - low > 1:
        middle = (low + failed) // 2
        verdict = fails(middle)
        tried += 1
        if verdict is None:
            break
        low, failed = (low, middle) if verdict else (middle, failed)
        passed = low
    return SizeSearch(passed, failed, tried)


@dataclass(frozen=True)
class _Axis:
    """One dimension that is varied.

    Args:
        name: such as "leading size".
        dim: the dimension.
        inputs: what is resized.
    """

    name: str
    dim: int
    inputs: Inputs

    def at(self, size: int) -> Inputs:
        return resize(self.inputs, size, self.dim)


def check_sizes(record: ComparisonRecord, inputs: Inputs, expected: Expected, largest_elements: int) -> None:
    """Ask at other sizes: the first dimension, the last, and those between, up to so many elements.

    Args:
        record: where it is written down.
        inputs: the given inputs.
        expected: the right answer to them.
        largest_elements: of the largest input; twice the given size is tried in any case.
    """
    for axis in _axes(inputs):
        given = size_along(axis.inputs, axis.dim)
        if given is None:
            continue
        sizes = _sizes(record, axis, given, expected, largest_elements)
        for size in sizes:
            wrong = _wrong_at(record, axis, size, gradients=expected.call.gradients)
            if wrong is not None:
                _name(record, axis, given, size, wrong)
                return


def _axes(inputs: Inputs) -> list[_Axis]:
    most = max((leaf.dim() for leaf in _tensors(inputs)), default=0)
    if not most:
        return []
    axes = [_Axis("leading size", 0, inputs)]
    if most >= 2:
        axes.append(_Axis("last size", -1, resize(inputs, 2) if (size_along(inputs, 0) or 0) > 2 else inputs))
    axes += [_Axis(f"size of dimension {dim}", dim, inputs) for dim in range(1, most - 1)]
    return axes


def _tensors(inputs: Inputs) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)]


def _sizes(
    record: ComparisonRecord, axis: _Axis, given: int, expected: Expected, largest_elements: int
) -> tuple[int, ...]:
    count, work = elements(axis.inputs), max(1, expected.trace.produced)
    if not count:
        return ()
    ratio = count / max(1, elements(expected.call.inputs))  # of what was measured
    work = max(1, int(work * ratio))
    by_work = max(0, given * MOST_PRODUCED // work)
    if axis.dim not in (0, -1):
        wanted = {2 * given + 1}  # attention grows with the square of these
    else:
        largest = min(given * largest_elements // count, 2**16 if axis.dim == 0 else _LAST_DIMENSION + 1)
        largest = largest // 2 * 2 + 1 if largest > 2 else largest  # odd sizes have a remainder in vectors
        wanted = {1, 2, 2 * given + 1, *([largest] if largest > 2 * given + 1 else [])}
        if largest > 16 * given:
            wanted.add(max(2 * given + 2, int((2 * given * largest) ** 0.5)))
    if largest_elements == 0:
        wanted = {size for size in wanted if size <= given}
    wanted.discard(given)
    small = work * 4 <= 2 * MOST_PRODUCED
    fits = {size for size in wanted if size <= max(by_work, 0) or (small and size <= 2 * given + 1)}
    for size in sorted(wanted - fits):
        text = f"about {work * size // given / 1e6:.0f} million numbers would be computed"
        record.skip(f"{axis.name} {size}", text)
    return tuple(sorted(fits))


def _wrong_at(record: ComparisonRecord, axis: _Axis, size: int, *, gradients: bool) -> QuestionOutcome | None:
    """Ask at one size; return what was wrong, and keep nothing that was right."""
    outcome = _try(record, axis, size, gradients=gradients)
    return None if outcome is None or outcome.right else outcome


def _try(
    record: ComparisonRecord, axis: _Axis, size: int, *, gradients: bool, quiet: bool = False
) -> QuestionOutcome | None:
    inputs = axis.at(size)
    own = record.expect(inputs, gradients=gradients)
    if isinstance(own, Refusal):
        return None  # other sizes than the given ones need not be valid
    if not quiet:
        record.sizes.setdefault(axis.name, set()).add(size)
    question = NumericsQuestion(
        f"{axis.name} {size}", own, record.setting.lower, inputs, False, FailingInputs(inputs)
    )  # fmt: skip
    return record.ask_both(question, quiet=quiet)


def _name(record: ComparisonRecord, axis: _Axis, given: int, size: int, outcome: QuestionOutcome) -> None:
    if not record.is_repeatable(outcome):
        record.find("not repeatable", f"the same question gets other answers: {outcome.sentence}", outcome)
        return
    what = "refused" if isinstance(outcome.answer, Refusal) else ""
    if size < given:
        text = f"right at the given {axis.name} {given}, wrong at {size}: {outcome.sentence}"
        record.find(what or "wrong at a size", text, outcome)
        return
    unsure = [finding for finding in record.undecided if finding.case in ("as given", "gradient")]
    difference = outcome.first_difference
    if unsure and difference is not None and difference.kind == "error":
        kind = "gradient" if is_gradient(difference) else "error"
        record.find(kind, f"undecided as given, and wrong at {axis.name} {size}: {outcome.sentence}", outcome)
        return
    known: dict[int, QuestionOutcome] = {size: outcome}

    def fails(middle: int) -> bool | None:
        if middle == given:
            return False
        tried = _try(record, axis, middle, gradients=outcome.question.expected.call.gradients, quiet=True)
        if tried is None:
            return None
        known[middle] = tried
        return not tried.agrees

    found = smallest_failing(lambda middle: middle == size or fails(middle), (given, size))
    _report(record, axis, found, known, what)


def _report(
    record: ComparisonRecord, axis: _Axis, found: SizeSearch, known: dict[int, QuestionOutcome], kind: str = ""
) -> None:
    """Write down from which size on the callable is wrong."""
    if found.failed is None or found.passed is None:
        return
    wrong, right = known[found.failed], axis.at(found.passed)
    record.find(
        kind or "wrong above a size",
        f"right up to {axis.name} {found.passed} ({elements(right)} elements in the largest input), wrong from "
        f"{found.failed} on ({elements(wrong.question.inputs)} elements): {wrong.sentence}",
        wrong,
    )
    record.shown.insert(0, record.shown.pop())


def explain_by_size(record: ComparisonRecord, inputs: Inputs, *, gradients: bool) -> bool:
    """Look for a smaller size that is right where the given one is wrong; return whether that explains it.

    A size explains a fault only when the rows that are wrong are right in a smaller batch: a NaN or a repeated index
    goes wrong with its row, however many rows there are.
    """
    axis = _Axis("leading size", 0, inputs)
    given = size_along(inputs, 0)
    if given is None or given <= _BY_ROWS:
        return False
    known: dict[int, QuestionOutcome] = {}

    def fails(size: int) -> bool | None:
        outcome = _try(record, axis, size, gradients=gradients, quiet=True)
        if outcome is None:
            return None
        known[size] = outcome
        return not outcome.right

    found = smallest_failing(fails, doubled(1, given))
    if found.failed is None or found.passed is None or found.passed < _BY_ROWS or found.failed not in known:
        return False
    # the row that made it fail, in a batch of a right size
    rows = rows_from(inputs, found.failed - found.passed, found.passed)
    alone = _try(record, _Axis("leading size", 0, rows), found.passed, gradients=gradients, quiet=True)
    if alone is None or not alone.right:
        return False
    _report(record, axis, found, known)
    return True
