"""The right answer to one question, in higher precision, and how far from it an honest device may be."""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves

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
COARSE_REPLICAS = 4  # in pairs of opposite errors
# before a device is blamed, the reference is repeated so many times as often
SURER = 3


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

    def release(self, *, forward: bool = True) -> None:
        """Forget gradients, and the outputs too: of a large model they take several times its memory.

        Args:
            forward: whether outputs too; the arguments stay.
        """
        self.leaves = () if forward else self.forward_leaves
        self.judged = {} if forward else {only: known for only, known in self.judged.items() if only}
        self._on_cpu = {} if forward else {asked: known for asked, known in self._on_cpu.items() if asked[0]}
        for name in ("bounds", "surer_bounds", "_spreads"):
            self.__dict__.pop(name, None)

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
        self._repeat(range(1))
        return tuple(spread.bound() for spread in self._spreads)

    @cached_property
    def surer_bounds(self) -> tuple[ErrorBound, ...]:
        """Bounds after more repetitions, for an answer that would be blamed: a rare jump may not have come up yet."""
        if not self.bounds:
            return ()
        self._repeat(range(1, SURER))
        return tuple(spread.bound() for spread in self._spreads)

    @cached_property
    def _spreads(self) -> list[Spread]:
        return [Spread(leaf.tensor, self.call.dtype) for leaf in self.leaves]

    def _repeat(self, rounds: range) -> None:
        """Repeat the reference and take in how far each number moves."""
        for turn in rounds:
            for number in range(0, COARSE_REPLICAS, 2):
                seed = 1000 + 2 * self.call.seed + COARSE_REPLICAS * turn + number
                pair = [self._moved(seed + sign, coarseness=COARSENESS) for sign in (0, 1)]
                for spread, *both in zip(self._spreads, *(answer for answer in pair if answer), strict=False):
                    if len(both) == 2:
                        spread.add_pair(both[0].tensor, both[1].tensor)
            for number in range(REPLICAS):
                other = self._moved(self.call.seed + REPLICAS * turn + number, fused=number % 4 > 1)
                for spread, leaf in zip(self._spreads, other or (), strict=False):
                    spread.add(leaf.tensor)

    def _moved(self, seed: int, *, coarseness: float = 1.0, fused: bool = False) -> Answer | None:
        """Repeat the reference with the errors of honest kernels; None where it cannot be computed with them."""
        arguments = cast_inputs(self.arguments, self.call.precision)
        model = RoundingModel(self.call.dtype, seed, coarseness=coarseness)
        backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH] if fused else [SDPBackend.MATH]
        answer = attempt(_under(model, backends, lambda: self.call.run(self.exact, arguments)))
        if not isinstance(answer, Refusal):
            return answer
        if not isinstance(answer.error, ValueError | RuntimeError):
            raise answer.error
        return None


def _under(model: RoundingModel, backends: list[SDPBackend], call: Callable[[], Any]) -> Callable[[], Any]:
    def repeat() -> Any:
        with sdpa_kernel(backends), model:
            return call()

    return repeat


def expect(call: CpuCall, exact_fn: Fn) -> Expected | Refusal:
    """Compute the right answer on the CPU, or take it from `shared_references`.

    Args:
        call: what is computed.
        exact_fn: the callable with its numbers in the reference's precision.

    Returns:
        The reference; what the callable raised where it refuses these inputs.
    """
    known = _KNOWN.get()
    if known is None:
        return _expect(call, exact_fn)
    key = _key(call)
    if key not in known:
        known[key] = _expect(call, exact_fn)
    return known[key]


_KNOWN: ContextVar[dict[Any, Expected | Refusal] | None] = ContextVar("shared references", default=None)


@contextlib.contextmanager
def shared_references() -> Iterator[None]:
    """Compute each reference once while the context is open, for comparisons of one callable with many devices.

    Modules count as the same where class, mode and all numbers are; plain callables where they are the same object.
    """
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def sharing_references() -> bool:
    """Return whether other comparisons may ask for the references of this one."""
    return _KNOWN.get() is not None


def _key(call: CpuCall) -> Any:
    tensors = [leaf for leaf in tree_leaves(list(call.inputs)) if isinstance(leaf, torch.Tensor)]
    fn: Any = call.fn
    if isinstance(fn, nn.Module):
        tensors += [*fn.parameters(), *fn.buffers()]
        fn = tuple((type(module), module.training) for module in fn.modules())
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    others = tuple(repr(leaf) for leaf in tree_leaves(list(call.inputs)) if not isinstance(leaf, torch.Tensor))
    return fn, digest.digest(), others, call.dtype, call.precision, call.gradients, call.seed


def _expect(call: CpuCall, exact_fn: Fn) -> Expected | Refusal:
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
