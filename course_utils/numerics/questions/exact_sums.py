"""Sums in which nothing can round: every number is 1 or -1, so that one missing term shows in any dtype.

In bfloat16 a random term of a sum of 4096 hides behind the rounding of the result. Of numbers 1 and -1 the sum is a
small integer, which every dtype holds: it has to come out exactly, in whatever order a kernel adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.questions.session import ComparisonRecord, FailingInputs
from course_utils.numerics.running.attempts import Answer, Refusal, attempt
from course_utils.numerics.running.observed import ObservedCall
from course_utils.numerics.running.runners import DeviceRunner, Fn, at_dtype, run_on_cpu
from course_utils.numerics.running.seeds import set_seed
from course_utils.numerics.tensors.inputs import Inputs, cast_inputs

MOST_PARTS = 64
FINEST = 2.0**-20


@dataclass(frozen=True)
class MissingTerm:
    """A sum that came out wrong although nothing could round.

    Args:
        terms: how many terms the sums had at most.
        on_device: a wrong sum.
        expected: the right one.
        index: the place in the first floating-point input of the term that is left out, or None where no single one is.
    """

    terms: int
    on_device: float
    expected: float
    index: tuple[int, ...] | None

    def __str__(self) -> str:
        text = f"a sum of {self.terms} numbers 1 and -1 gives {self.on_device:g} instead of {self.expected:g}"
        if self.index is None:
            return text + ", where no rounding can happen"
        return f"{text}, where no rounding can happen: the input's element {self.index} is left out"


class _RoundsError(ValueError):
    """An intermediate number is no multiple of a power of two that the dtype holds."""


class _Watch(DispatchMode):
    """Records whether every intermediate number is a multiple of a power of two that the dtype holds."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.limit, self.grain = 2 / torch.finfo(dtype).eps, 1.0
        self.exact = True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for output in tree_leaves(result):
            if self.exact and isinstance(output, torch.Tensor) and output.is_floating_point() and output.numel():
                self._look_at(output)
        if not self.exact:
            raise _RoundsError  # the rest need not be computed
        return result

    def _look_at(self, numbers: torch.Tensor) -> None:
        if not bool(numbers.isfinite().all()):
            self.exact = False
            return
        while self.grain >= FINEST and not bool((numbers / self.grain == (numbers / self.grain).round()).all()):
            self.grain /= 2
        self.exact = self.grain >= FINEST and float(numbers.abs().max()) / self.grain <= self.limit


class _Probe:
    """One callable with all numbers 1 or -1, asked for a part of its first input at a time."""

    def __init__(self, runner: DeviceRunner, fn: Fn, inputs: Inputs, dtype: torch.dtype, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.runner, self.dtype = runner, dtype
        self.fn = at_dtype(fn, dtype)
        if isinstance(self.fn, nn.Module):
            for parameter in self.fn.parameters():
                parameter.data = _signs(parameter.data, generator)
        self.exact_fn = at_dtype(self.fn, torch.float64)
        self.asked = ObservedCall(self.fn, len(inputs), gradients=False, dtype=dtype)
        self.answered = ObservedCall(self.exact_fn, len(inputs), gradients=False, dtype=dtype)
        self.inputs = tuple(tree_map_only(torch.Tensor, lambda t: _signs(t, generator), list(inputs)))
        self.first = next(leaf for leaf in tree_leaves(list(self.inputs)) if _is_float(leaf))

    def masked(self, keep: torch.Tensor) -> Inputs:
        """Return the inputs with zeros in the first one wherever `keep` is False."""
        zeroed = torch.where(keep, self.first, torch.zeros_like(self.first))
        return tuple(tree_map_only(torch.Tensor, lambda t: zeroed if t is self.first else t, list(self.inputs)))

    def ask(self, keep: torch.Tensor) -> tuple[float, float] | None:
        """Compare one part: (on device, expected) where they differ, None where they agree or nothing can be said.

        Nothing can be said where the CPU raises in the device's dtype, too.
        """
        inputs = self.masked(keep)
        right = self._exact(inputs)
        if right is None:
            return None
        leaves, grain = right
        yours = attempt(lambda: self.runner.run(self.asked, inputs))
        if isinstance(yours, Refusal):
            if isinstance(attempt(lambda: run_on_cpu(self.asked, inputs)), Refusal):
                return None
            raise _DeviceRefusedError(yours)
        for mine, exact in zip(yours, leaves, strict=False):
            if not exact.path.startswith("output") or not exact.tensor.is_floating_point():
                continue
            if mine.tensor.shape != exact.tensor.shape:
                continue
            if mine.tensor.is_complex():
                continue
            wrong = ~((mine.tensor.double() - exact.tensor.double()).abs() < grain / 2)
            if bool(wrong.any()):
                return float(mine.tensor[wrong][0]), float(exact.tensor[wrong][0])
        return None

    def leaves_out(self, keep: torch.Tensor, place: int) -> bool:
        """Return whether the device's answer is exactly the right one without this element."""
        without = keep.clone().view(-1)
        without[place] = False
        whole, right = self._exact(self.masked(keep)), self._exact(self.masked(without.view(keep.shape)))
        yours = attempt(lambda: self.runner.run(self.asked, self.masked(keep)))
        if whole is None or right is None or isinstance(yours, Refusal):
            return False
        grain = min(whole[1], right[1])
        pairs = [
            (a.tensor, b.tensor)
            for a, b in zip(yours, right[0], strict=False)
            if a.is_number_with_rounding and a.path[:6] == "output"
        ]
        return all(a.shape == b.shape and bool(((a.double() - b.double()).abs() < grain / 2).all()) for a, b in pairs)

    def _exact(self, inputs: Inputs) -> tuple[Answer, float] | None:
        """Return the right answer and the finest step in it, or None where the callable rounds or refuses."""
        with _Watch(self.dtype) as watch:
            right = attempt(lambda: run_on_cpu(self.answered, cast_inputs(inputs, torch.float64)))
        if isinstance(right, Refusal) or not watch.exact:
            return None
        return right, watch.grain


class _DeviceRefusedError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def missing_term(runner: DeviceRunner, fn: Fn, inputs: Inputs, dtype: torch.dtype, *, seed: int) -> MissingTerm | None:
    """Look for a sum that comes out wrong although nothing can round.

    Args:
        runner: the device.
        fn: the callable; a module's parameters become 1 and -1 in a copy.
        inputs: its inputs; their floating-point numbers become 1 and -1.
        dtype: the dtype the device computes in.
        seed: of the signs.

    Returns:
        What is wrong, or None: all sums came out right, or the callable does more than add up, so that it rounds.
    """
    if not any(_is_float(leaf) for leaf in tree_leaves(list(inputs))):
        return None
    probe = _Probe(runner, fn, inputs, dtype, seed)
    length = probe.first.numel()
    # eight standard deviations of a sum of this many signs stay below the largest exact integer
    at_once = max(1.0, (2 / torch.finfo(dtype).eps / 8) ** 2)
    parts = min(MOST_PARTS, math.ceil(length / at_once))
    places = torch.arange(length).view(probe.first.shape)
    for part in range(parts):
        keep = places % parts == part
        answer = probe.ask(keep)
        if answer is not None:
            return MissingTerm(math.ceil(length / parts), *answer, _narrow_down(probe, keep))
    return None


def check_exact_sums(record: ComparisonRecord, inputs: Inputs, *, explained: bool = False) -> bool:
    """Ask for sums of 1 and -1, in which nothing rounds; return whether one is wrong.

    Args:
        record: where it is written down.
        inputs: whose numbers become 1 and -1.
        explained: whether only a sum counts in which one missing term explains everything.
    """
    setting = record.setting
    set_seed(setting.seed)
    record.progress("exact sums")
    try:
        missing = missing_term(setting.runner, setting.lower, inputs, setting.dtype, seed=setting.seed)
    except _DeviceRefusedError as error:
        record.find("refused", f"the device raises {error.refusal} for numbers 1 and -1", "exact sums")
        return True
    record.values["1 and -1"] = None
    if missing is None or (explained and missing.index is None):
        return False
    kind = "drops a term of a reduction" if missing.index is not None else "error"
    record.find(
        kind,
        str(missing),
        "exact sums",
        index=missing.index,
        on_device=missing.on_device,
        expected=missing.expected,
    )
    record.shown.append(FailingInputs(sign_inputs(inputs, setting.seed)))
    return True


def sign_inputs(inputs: Inputs, seed: int) -> Inputs:
    """Replace the numbers of floating-point inputs by 1 and -1."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(tree_map_only(torch.Tensor, lambda t: _signs(t, generator), list(inputs)))


def _narrow_down(probe: _Probe, keep: torch.Tensor) -> tuple[int, ...] | None:
    """Halve the part that gives a wrong sum until one element is left; None where no single one explains it."""
    places = keep.flatten().nonzero().flatten()
    while len(places) > 1:
        for half in (places[: len(places) // 2], places[len(places) // 2 :]):
            if probe.ask(_only(keep, half)) is not None:
                places = half
                break
        else:
            return None
    if not len(places) or not probe.leaves_out(_only(keep, places), int(places[0])):
        return None
    return tuple(int(i) for i in torch.unravel_index(places[0], keep.shape))


def _only(keep: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    chosen = torch.zeros(keep.numel(), dtype=torch.bool)
    chosen[places] = True
    return chosen.view(keep.shape)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _signs(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if not _is_float(tensor):
        return tensor
    signs = torch.randint(0, 2, tensor.shape, generator=generator, dtype=torch.int8)
    return signs.mul_(2).sub_(1).to(tensor.dtype)
