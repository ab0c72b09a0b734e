"""The right answer to one question, in higher precision, and how far from it an honest device may be."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_utils.numerics.reference.limits import COARSENESS, ErrorBound, Spread
from course_utils.numerics.reference.rounding import RoundingModel
from course_utils.numerics.reference.trace import OperatorTrace, traced
from course_utils.numerics.running.attempts import Answer, Refusal, attempt
from course_utils.numerics.running.kernels import without_onednn
from course_utils.numerics.running.observed import GRADIENT, ObservedCall
from course_utils.numerics.running.runners import Fn, at_dtype, run_on_cpu
from course_utils.numerics.running.seeds import set_seed
from course_utils.numerics.tensors.inputs import Inputs, cast_inputs, fresh
from course_utils.numerics.tensors.leaves import equal_with_nan, flatten

REPLICAS = 8
COARSE_REPLICAS = 4


@dataclass(frozen=True)
class CpuCall:
    """One callable with inputs, as the CPU computes it in any precision.

    Args:
        fn: the callable; a module holds its numbers in `dtype`.
        inputs: in `dtype`.
        dtype: the dtype the device computes in.
        precision: the reference's dtype.
        gradients: whether backward runs too.
        seed: set before every call.
    """

    fn: Fn
    inputs: Inputs
    dtype: torch.dtype
    precision: torch.dtype
    gradients: bool
    seed: int

    def observed(self, fn: Fn) -> ObservedCall:
        """Wrap a callable so that everything it computes and writes comes back."""
        return ObservedCall(fn, len(self.inputs), gradients=self.gradients, dtype=self.dtype, seed=self.seed)

    def run(self, fn: Fn, inputs: Inputs) -> Any:
        """Run on the CPU, the seed set before."""
        set_seed(self.seed)
        return run_on_cpu(fn, inputs)


class Expected:
    """The reference for one question; bounds are computed when they are asked for.

    Args:
        call: what is computed.
        leaves: the exact results.
        trace: the operators that the callable runs.
        arguments: inputs and cotangents, in the device's dtype.
        exact: the callable in the reference's precision, observed.
    """

    def __init__(
        self, call: CpuCall, leaves: Answer, trace: OperatorTrace, arguments: Inputs, exact: ObservedCall
    ) -> None:
        self.call, self.leaves, self.trace, self.arguments, self.exact = call, leaves, trace, arguments, exact
        # answers that were judged already, by whether they are forward only
        self.judged: dict[bool, tuple[Answer, Any]] = {}
        self._on_cpu: dict[tuple[bool, bool], Answer | Refusal] = {}

    @property
    def forward_leaves(self) -> Answer:
        """The results without the gradients."""
        return tuple(leaf for leaf in self.leaves if not leaf.path.startswith(GRADIENT))

    @property
    def inputs(self) -> Inputs:
        """The inputs in the reference's precision."""
        return cast_inputs(self.call.inputs, self.call.precision)

    def on_cpu(self, *, forward_only: bool, other_kernels: bool = False) -> Answer | Refusal:
        """Return what the CPU gives in the device's dtype, or what it raises.

        Args:
            forward_only: whether without gradients, where torch may take other kernels.
            other_kernels: whether without oneDNN, which adds in another order.
        """
        asked = (forward_only, other_kernels)
        if asked not in self._on_cpu:
            call = self.call if not forward_only else replace(self.call, gradients=False)
            lower = call.observed(call.fn)
            arguments = call.inputs if forward_only else self.arguments
            with without_onednn() if other_kernels else contextlib.nullcontext():
                self._on_cpu[asked] = attempt(lambda: call.run(lower, arguments))
        return self._on_cpu[asked]

    @cached_property
    def bounds(self) -> tuple[ErrorBound, ...]:
        """Bounds of the second look: the reference repeated with the errors of honest kernels."""
        spreads = [Spread(leaf.tensor, self.call.dtype) for leaf in self.leaves]
        for other, coarse in self._replicas():
            for place, leaf in enumerate(other[: len(spreads)]):
                spreads[place].add(leaf.tensor, coarse=coarse)
        return tuple(spread.bound() for spread in spreads)

    def _replicas(self) -> Any:
        arguments = cast_inputs(self.arguments, self.call.precision)
        for number in range(COARSE_REPLICAS + REPLICAS):
            coarse = number < COARSE_REPLICAS
            seed = self.call.seed + (1000 + number if coarse else number - COARSE_REPLICAS)
            model = RoundingModel(self.call.dtype, seed, coarseness=COARSENESS if coarse else 1.0)
            math = coarse or number % 4 < 2  # fused and math attention in turn
            backends = [SDPBackend.MATH] if math else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
            repeat = _under(model, backends, lambda: self.call.run(self.exact, arguments))
            answer = attempt(repeat)
            if isinstance(answer, Refusal) and not isinstance(answer.error, ValueError | RuntimeError):
                raise answer.error
            if not isinstance(answer, Refusal):
                yield answer, coarse


def _under(model: RoundingModel, backends: list[SDPBackend], call: Callable[[], Any]) -> Callable[[], Any]:
    def repeat() -> Any:
        with sdpa_kernel(backends), model:
            return call()

    return repeat


def expect(call: CpuCall, exact_fn: Fn) -> Expected | Refusal:
    """Compute the right answer on the CPU.

    Args:
        call: what is computed.
        exact_fn: the callable with its numbers in the reference's precision.

    Returns:
        The reference; what the callable raised where it refuses these inputs.
    """
    exact = call.observed(exact_fn)
    inputs = cast_inputs(call.inputs, call.precision)
    answer: dict[str, Any] = {}

    def run() -> Any:
        set_seed(call.seed)
        outputs, answer["trace"] = traced(lambda: _run_and_draw(exact, inputs, answer))
        return outputs

    leaves = attempt(run)
    if isinstance(leaves, Refusal):
        return leaves
    drawn = tuple(t.to(call.dtype) for t in answer["cotangents"])
    return Expected(call, leaves, answer["trace"], (*call.inputs, *drawn), exact)


def _run_and_draw(exact: ObservedCall, inputs: Inputs, answer: dict[str, Any]) -> Any:
    called = copy.deepcopy(exact)
    outputs = called(*fresh(inputs))
    answer["cotangents"] = called.cotangents
    return outputs


class NoReferenceError(ValueError):
    """The callable does not run on the CPU in any precision, so there is nothing to compare with."""


def reference_dtype(fn: Fn, inputs: Inputs, dtype: torch.dtype) -> torch.dtype:
    """Find the highest precision in which the callable runs on the CPU: float64, float32, or its own dtype.

    Raises:
        NoReferenceError: when it runs in none; the message holds the first line of what it raised.
    """
    first: Refusal | None = None
    for candidate in dict.fromkeys((torch.float64, torch.float32, dtype)):
        lower = at_dtype(at_dtype(fn, dtype), candidate)
        answer = attempt(functools.partial(run_on_cpu, lower, cast_inputs(inputs, candidate)))
        if not isinstance(answer, Refusal):
            return candidate
        first = first or answer
    raise NoReferenceError(f"the callable does not run on the CPU ({first}), so there is nothing to compare with")


def draws_random_numbers(fn: Fn, inputs: Inputs) -> bool:
    """Return whether two seeds give two results on the CPU."""
    results = []
    for seed in (1, 2):
        set_seed(seed)
        results.append(flatten(run_on_cpu(fn, inputs)))
    return any(
        a.tensor.shape != b.tensor.shape or not equal_with_nan(a.tensor, b.tensor)
        for a, b in zip(*results, strict=False)
    )
