"""The verdict on one answer: first a cheap look against the CPU's own errors, then the model of honest devices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import torch

from course_utils.numerics.reference.cpu_errors import STEPS, bound_from_cpu, first_look_times, largest_ratio
from course_utils.numerics.reference.differences import (
    OutputDifference,
    compare_outputs,
    smallest_visible,
    worst_ratio,
)
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.reference.limits import ErrorBound, wider
from course_utils.numerics.running.attempts import Answer, Refusal
from course_utils.numerics.running.observed import GRADIENT
from course_utils.numerics.tensors.leaves import OutputLeaf, equal_with_nan

# beyond this many times what is allowed, an error is a fault; up to there it may be a relu or a tie that flipped
FAULT_FROM = 6.0
_SAMPLE = 2**14
# what no repetition of the reference can explain
_WITHOUT_ROUNDING = ("structure", "shape", "dtype", "overflow")


class NumericsVerdict(Enum):
    """What is known of one answer."""

    AGREES = "agrees"
    UNDECIDED = "undecided"
    FAULT = "fault"


class JudgingRule(Enum):
    """What decided."""

    FIRST_LOOK = (
        f"within {STEPS:.0f} steps of float32 and {first_look_times(torch.float32):.0f} times "
        f"(float16, bfloat16: {first_look_times(torch.float16):.0f} times) "
        "the error of the CPU's own kernels in this dtype"
    )
    MODEL = "within the errors that honest kernels may make, carried through the reference"
    EXACT = "shapes, dtypes, integers and NaN are compared exactly"
    NOTHING = "no number was left to compare"


@dataclass(frozen=True)
class Judgement:
    """The verdict on one answer, and how it came about.

    Args:
        verdict: fault, undecided or agrees.
        rule: what decided.
        differences: what differs; empty when the answer agrees.
        worst: the largest error as a multiple of what is allowed.
        visible: the smallest error that would have been seen in half of the numbers, as a part of their usual size.
        not_compared: how many numbers rounding decides, such as the place of the larger of two nearly equal ones.
    """

    verdict: NumericsVerdict
    rule: JudgingRule
    differences: tuple[OutputDifference, ...] = ()
    worst: float = 0.0
    visible: float | None = None
    not_compared: int = 0


def judge(answer: Answer, expected: Expected, *, forward_only: bool = False) -> Judgement:
    """Compare one answer with the reference.

    Args:
        answer: what the device gave.
        expected: the reference.
        forward_only: whether the answer holds no gradients.
    """
    leaves = expected.forward_leaves if forward_only else expected.leaves
    on_cpu = expected.on_cpu(forward_only=forward_only)
    cpu = None if isinstance(on_cpu, Refusal) else on_cpu
    dtype = expected.call.dtype
    settled = _looked_twice(answer, leaves, expected, cpu, forward_only=forward_only) if cpu is not None else None
    open_places = [place for place in range(len(leaves)) if settled is None or settled[place] is None]
    if settled is not None and not open_places:
        return _agreement(JudgingRule.FIRST_LOOK, [output for output in settled if output is not None])
    if settled is None:
        mine, right, own = answer, leaves, cpu
    else:  # what the first look let go is settled, number by number
        mine, right = (_at(open_places, side) for side in (answer, leaves))
        own = _at(open_places, cpu) if cpu is not None else None
    for surer in (False, True):
        all_bounds = expected.surer_bounds if surer else expected.bounds
        bounds = tuple(all_bounds[place] for place in open_places)
        differences = compare_outputs(mine, right, bounds, dtype=dtype, cpu=own)
        if expected.trace.free_at_ties:
            # which of several equal numbers is meant, and gets the gradient; the operator alone is asked whether it is
            differences = tuple(d for d in differences if d.kind != "integers" and not is_gradient(d))
        if all(difference.kind in _WITHOUT_ROUNDING for difference in differences):
            break
    if not differences:
        return _agreement(JudgingRule.MODEL, [_settle(*three) for three in zip(mine, right, bounds, strict=True)])
    worst = max(difference.excess for difference in differences)
    verdict = NumericsVerdict.FAULT if worst > FAULT_FROM else NumericsVerdict.UNDECIDED
    rule = JudgingRule.MODEL if worst < float("inf") else JudgingRule.EXACT
    return Judgement(verdict, rule, differences, worst, None, _not_compared(bounds))


def _at(places: Sequence[int], leaves: Answer) -> Answer:
    return tuple(leaves[place] for place in places)


def _looked_twice(
    answer: Answer, leaves: Answer, expected: Expected, cpu: Answer, *, forward_only: bool
) -> list[SettledOutput | None] | None:
    """Take the first look; what stays open is held against another set of the CPU's kernels as well."""
    dtype = expected.call.dtype
    settled = first_look(answer, leaves, (cpu,), dtype)
    if settled is None or None not in settled:
        return settled
    other = expected.on_cpu(forward_only=forward_only, other_kernels=True)
    if isinstance(other, Refusal):
        return settled
    places = [place for place, output in enumerate(settled) if output is None]
    both = (_at(places, cpu), _at(places, other))
    again = first_look(_at(places, answer), _at(places, leaves), both, dtype)
    for place, output in zip(places, again or (), strict=False):
        settled[place] = output
    return settled


@dataclass(frozen=True)
class SettledOutput:
    """One output that agrees; its tensors are gone.

    Args:
        numbers: how many it has.
        worst: the largest error as a multiple of what is allowed.
        visible: the error that would have been seen, as for `Judgement`; None where nothing rounds.
        not_compared: how many numbers rounding decides.
    """

    numbers: int
    worst: float
    visible: float | None
    not_compared: int


def first_look(
    answer: Answer, leaves: Answer, cpus: Sequence[Answer], dtype: torch.dtype
) -> list[SettledOutput | None] | None:
    """Compare an answer with the CPU's own errors, which is cheap.

    Args:
        answer: what the device gave.
        leaves: the exact results.
        cpus: what the CPU gives in the device's dtype, with one or more sets of kernels.
        dtype: that dtype.

    Returns:
        For each output how far off it is, of a part of it where the device gives the CPU's own bits, or None where it
        is further off than this can tell; None where the outputs are not the same ones.
    """
    paths = [leaf.path for leaf in leaves]
    if any([leaf.path for leaf in other] != paths for other in (answer, *cpus)):
        return None
    return [_settled(mine, exact, own, dtype) for mine, exact, *own in zip(answer, leaves, *cpus, strict=True)]


def _settled(
    mine: OutputLeaf, exact: OutputLeaf, cpus: Sequence[OutputLeaf], dtype: torch.dtype
) -> SettledOutput | None:
    if any(own.tensor.shape != exact.tensor.shape or not _as_finite(own.tensor, exact.tensor) for own in cpus):
        return None  # a CPU that is far off itself tells nothing about others
    own = cpus[0]
    alike = mine.tensor.dtype == own.tensor.dtype and mine.tensor.shape == own.tensor.shape
    if alike and equal_with_nan(mine.tensor, own.tensor):
        mine, exact, own = (_sample(leaf) for leaf in (mine, exact, own))
        return _settle(mine, exact, _bound(exact, own, dtype))
    if alike and exact.tensor.is_floating_point() and own.tensor.is_floating_point():
        worst = largest_ratio(mine.tensor, exact.tensor, [other.tensor for other in cpus], dtype)
        if worst is not None and worst > 1:
            return None
        if worst is not None:
            few, like, own = (_sample(leaf) for leaf in (mine, exact, own))
            return replace(_settle(few, like, _bound(like, own, dtype)), numbers=exact.tensor.numel(), worst=worst)
    bound = functools.reduce(wider, [_bound(exact, other, dtype) for other in cpus])
    if compare_outputs((mine,), (exact,), (bound,), dtype=dtype, cpu=(own,)):
        return None
    return _settle(mine, exact, bound)


def _settle(mine: OutputLeaf, exact: OutputLeaf, bound: ErrorBound) -> SettledOutput:
    few = [_sample(leaf) for leaf in (mine, exact, OutputLeaf(exact.path, bound.limit))]
    visible = smallest_visible((few[1],), (ErrorBound(few[2].tensor),))
    worst = worst_ratio((mine,), (exact,), (bound,))
    return SettledOutput(exact.tensor.numel(), worst, visible, _not_compared((bound,)))


def _bound(exact: OutputLeaf, own: OutputLeaf, dtype: torch.dtype) -> ErrorBound:
    if exact.is_number_with_rounding:
        return bound_from_cpu(exact.tensor, own.tensor, dtype)
    return ErrorBound(torch.zeros(exact.tensor.shape))


def _sample(leaf: OutputLeaf) -> OutputLeaf:
    """Take a part of a large output, enough to say how large errors are."""
    step = max(1, leaf.tensor.numel() // _SAMPLE)
    return leaf if step == 1 else OutputLeaf(leaf.path, leaf.tensor.reshape(-1)[::step])


def _as_finite(own: torch.Tensor, exact: torch.Tensor) -> bool:
    """Return whether two tensors are finite in the same places."""
    if not (own.is_floating_point() or own.is_complex()) or not own.numel():
        return True
    if bool(own.sum().isfinite()) and bool(exact.sum().isfinite()):
        return True
    return torch.equal(own.isfinite(), exact.isfinite())


def _agreement(rule: JudgingRule, outputs: Sequence[SettledOutput]) -> Judgement:
    visible = max((output.visible for output in outputs if output.visible is not None), default=None)
    if visible is None:
        rule = JudgingRule.EXACT if any(output.numbers for output in outputs) else JudgingRule.NOTHING
    worst = max((output.worst for output in outputs), default=0.0)
    not_compared = sum(output.not_compared for output in outputs)
    return Judgement(NumericsVerdict.AGREES, rule, (), worst, visible, not_compared)


def _not_compared(bounds: Sequence[ErrorBound]) -> int:
    return sum(int(bound.limit.isinf().sum()) for bound in bounds)


def is_gradient(difference: OutputDifference) -> bool:
    """Return whether a difference lies in a gradient and not in an output."""
    return difference.where.startswith(GRADIENT)
