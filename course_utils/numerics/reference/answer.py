"""The reference: the callable on the CPU in higher precision, with the error an honest device may make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from course_utils.numerics.reference.rounding import RandomRounding
from course_utils.numerics.reference.tolerance import ErrorBound, ToleranceRule, bound_for, change_of
from course_utils.numerics.reference.trace import OperatorTrace, traced
from course_utils.numerics.running.runners import Fn, at_dtype, run_on_cpu
from course_utils.numerics.tensors.inputs import Inputs, cast_inputs
from course_utils.numerics.tensors.leaves import OutputLeaf, equal_with_nan, flatten

REPLICAS = 8
COARSENESS = 16.0


@dataclass(frozen=True)
class ReferenceOptions:
    """What every comparison of a run shares.

    Args:
        accumulator: the dtype in which an honest kernel adds up.
        reduction_length: K where the caller knows it; None: found by tracing.
        seed: of everything that is drawn.
        replicas: how often the reference is repeated with random rounding.
    """

    accumulator: torch.dtype = torch.float32
    reduction_length: int | None = None
    seed: int = 0
    replicas: int = REPLICAS


@dataclass(frozen=True)
class Reference:
    """The right answer, and how far from it an honest one may be.

    Args:
        leaves: the exact results.
        bounds: one for each leaf: how far each number may be off; for integers 0, or infinite where rounding decides.
        trace: what the callable does.
        tolerance: the rule in words.
        inputs: the inputs, in the reference's dtype.
        fn: the callable in the reference's dtype.
    """

    leaves: tuple[OutputLeaf, ...]
    bounds: tuple[ErrorBound, ...]
    trace: OperatorTrace
    tolerance: ToleranceRule
    inputs: Inputs
    fn: Fn


class NoReferenceError(ValueError):
    """The callable does not run on the CPU in any precision, so there is nothing to compare with."""


def reference_dtype(fn: Fn, inputs: Inputs, dtype: torch.dtype) -> torch.dtype:
    """Find the highest precision in which the callable runs on the CPU: float64, float32, or its own dtype.

    Raises:
        NoReferenceError: when it runs in none; the message holds the first line of what it raised.
    """
    first: Exception | None = None
    for candidate in dict.fromkeys((torch.float64, torch.float32, dtype)):
        try:
            run_on_cpu(at_dtype(at_dtype(fn, dtype), candidate), cast_inputs(inputs, candidate))
        except Exception as error:  # whatever a callable may raise
            first = first or error
        else:
            return candidate
    line = (str(first).splitlines() or [""])[0]
    raise NoReferenceError(
        f"the callable does not run on the CPU ({type(first).__name__}: {line}), so there is nothing to compare with"
    ) from first


def draws_random_numbers(fn: Fn, inputs: Inputs) -> bool:
    """Return whether two seeds give two results on the CPU."""
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        results.append(flatten(run_on_cpu(fn, inputs)))
    return any(
        a.tensor.shape != b.tensor.shape or not equal_with_nan(a.tensor, b.tensor)
        for a, b in zip(*results, strict=False)
    )


def make_reference(
    fn: Fn, inputs: Inputs, dtype: torch.dtype, options: ReferenceOptions, precision: torch.dtype
) -> Reference:
    """Compute the right answer and its bounds.

    Args:
        fn: a callable, or a module, on the CPU.
        inputs: its inputs in the dtype that the device gets; their exact values are used.
        dtype: the dtype the device computes in.
        options: see `ReferenceOptions`.
        precision: the reference's dtype, as `reference_dtype` found it.
    """
    exact_fn, exact_inputs = at_dtype(at_dtype(fn, dtype), precision), cast_inputs(inputs, precision)
    outputs, trace = traced(_seeded(exact_fn, exact_inputs, options.seed))
    leaves = flatten(outputs)
    changes: list[list[torch.Tensor]] = [[] for _ in leaves]
    for run in _repeat(exact_fn, exact_inputs, dtype, options, 1.0):
        for place, change in _changes(run, leaves):
            changes[place].append(change)
    coarse = [torch.zeros(leaf.tensor.shape) for leaf in leaves]
    for run in _repeat(exact_fn, exact_inputs, dtype, options, COARSENESS):
        for place, change in _changes(run, leaves):
            coarse[place] = torch.maximum(coarse[place], change)
    bounds = tuple(
        _bound(leaf, changed, most, dtype) for leaf, changed, most in zip(leaves, changes, coarse, strict=True)
    )
    given = options.reduction_length
    tolerance = ToleranceRule(
        dtype=dtype,
        eps=torch.finfo(dtype).eps,
        accumulator=options.accumulator,
        length=given or trace.longest,
        length_source="given"
        if given
        else f"found at {trace.longest_operator}"
        if trace.longest > 1
        else "no sum found",
        reference_dtype=precision,
    )
    return Reference(leaves, bounds, trace, tolerance, exact_inputs, exact_fn)


def _seeded(fn: Fn, inputs: Inputs, seed: int) -> Callable[[], Any]:
    def call() -> Any:
        torch.manual_seed(seed)
        return run_on_cpu(fn, inputs)

    return call


def _repeat(
    fn: Fn, inputs: Inputs, dtype: torch.dtype, options: ReferenceOptions, amplitude: float
) -> Iterator[tuple[OutputLeaf, ...]]:
    """Repeat the reference with random rounding; coarse rounding, which only looks for jumps, half as often."""
    for replica in range(options.replicas if amplitude == 1 else max(1, options.replicas // 2)):
        call = _seeded(fn, inputs, options.seed)
        try:
            with RandomRounding(
                dtype,
                accumulator=options.accumulator,
                amplitude=amplitude,
                reduction_length=options.reduction_length,
                seed=options.seed + replica + round(100 * amplitude),
            ):
                outputs = call()
        except Exception:  # a check on values inside the callable may refuse what rounding made of them
            outputs = call()
        yield flatten(outputs)


def _changes(run: tuple[OutputLeaf, ...], leaves: tuple[OutputLeaf, ...]) -> Iterator[tuple[int, torch.Tensor]]:
    """Compare one repetition with the reference, output by output; an output of another shape says nothing."""
    for place, (other, leaf) in enumerate(zip(run, leaves, strict=False)):
        if other.tensor.shape != leaf.tensor.shape:
            continue
        if leaf.is_number_with_rounding:
            yield place, change_of(other.tensor, leaf.tensor)
        else:
            yield place, (other.tensor != leaf.tensor).float()


def _bound(leaf: OutputLeaf, changes: list[torch.Tensor], coarse: torch.Tensor, dtype: torch.dtype) -> ErrorBound:
    if leaf.is_number_with_rounding:
        usable = changes or [torch.zeros(leaf.tensor.shape)]
        return bound_for(leaf.tensor, usable, coarse, dtype=dtype, coarseness=COARSENESS)
    # an integer that depends on rounding, such as the place of the larger of two nearly equal numbers, is undecided
    undecided = coarse > 0
    for change in changes:
        undecided |= change > 0
    return ErrorBound(torch.where(undecided, torch.inf, 0.0))
