"""Compare a device's outputs with the reference: shape, dtype, non-finite, integers, error; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from course_utils.numerics.reference.limits import ErrorBound, slope_of
from course_utils.numerics.tensors.leaves import OutputLeaf


@dataclass(frozen=True)
class OutputDifference:
    """One way in which an output is not the reference's.

    Args:
        kind: a kind of `findings.KINDS`.
        sentence: what differs, with the numbers.
        where: the output.
        index: the place of the worst number, or None.
        on_device: the device's number there, or None.
        expected: the reference's number there, or None.
        bound: how far apart they may be, or None.
        excess: the error as a multiple of what is allowed; infinite where rounding explains nothing.
    """

    kind: str
    sentence: str
    where: str = ""
    index: tuple[int, ...] | None = None
    on_device: float | None = None
    expected: float | None = None
    bound: float | None = None
    excess: float = math.inf


def compare_outputs(
    device: Sequence[OutputLeaf],
    reference: Sequence[OutputLeaf],
    bounds: Sequence[ErrorBound],
    *,
    dtype: torch.dtype,
    cpu: Sequence[OutputLeaf] | None = None,
) -> tuple[OutputDifference, ...]:
    """Compare flat outputs, leaf by leaf.

    Args:
        device: what the device gave.
        reference: the exact answers.
        bounds: how far each number may be off, one tensor for each reference leaf.
        dtype: the dtype the device computed in; it decides what overflows.
        cpu: the CPU's outputs in that dtype, where it runs there; they say which dtypes to expect.

    Returns:
        The differences; empty when the outputs agree.
    """
    mine, right = [leaf.path for leaf in device], [leaf.path for leaf in reference]
    if mine != right:
        missing = [path for path in right if path not in mine]
        extra = [path for path in mine if path not in right]
        text = f"the device returns {len(mine)} outputs, the reference {len(right)}"
        text += f"; missing: {', '.join(missing)}" if missing else ""
        text += f"; extra: {', '.join(extra)}" if extra else ""
        return (OutputDifference("structure", text),)
    expected = [leaf.tensor.dtype for leaf in cpu] if cpu is not None and len(cpu) == len(right) else None
    found: list[OutputDifference] = []
    for place, (leaf, exact, bound) in enumerate(zip(device, reference, bounds, strict=True)):
        if leaf.tensor.shape != exact.tensor.shape:
            found.append(
                OutputDifference(
                    "shape",
                    f"{leaf.path} has shape {tuple(leaf.tensor.shape)}, the reference {tuple(exact.tensor.shape)}",
                    leaf.path,
                )
            )
            continue
        if expected is not None and leaf.tensor.dtype != expected[place]:
            found.append(
                OutputDifference(
                    "dtype", f"{leaf.path} has dtype {leaf.tensor.dtype}, on the CPU {expected[place]}", leaf.path
                )
            )
        if leaf.tensor.numel():
            found += _compare_values(leaf, exact, bound, dtype)
    return tuple(found)


@dataclass(frozen=True)
class _Pair:
    """One output beside the reference's, in a dtype wide enough for both."""

    path: str
    yours: torch.Tensor
    right: torch.Tensor
    bound: ErrorBound

    def difference(
        self, kind: str, sentence: str, index: tuple[int, ...], excess: float = math.inf
    ) -> OutputDifference:
        yours, right = _number(self.yours[index]), _number(self.right[index])
        return OutputDifference(kind, sentence, self.path, index, yours, right, float(self.bound.limit[index]), excess)


def _compare_values(
    leaf: OutputLeaf, exact: OutputLeaf, bound: ErrorBound, dtype: torch.dtype
) -> list[OutputDifference]:
    if not exact.is_number_with_rounding:
        return _compare_integers(leaf, exact, bound)
    if plain_ratio(leaf, exact, bound) is not None:
        return []
    wide = torch.complex128 if exact.tensor.is_complex() or leaf.tensor.is_complex() else torch.float64
    pair = _Pair(leaf.path, leaf.tensor.to(wide), exact.tensor.to(wide), bound)
    held = leaf.tensor.dtype if leaf.is_number_with_rounding else dtype
    finite_limit = torch.where(bound.limit.isfinite(), bound.limit, 0)
    too_large = pair.right.isfinite() & (pair.right.abs() - finite_limit > torch.finfo(held).max)
    return [*_overflow(pair, too_large, held), *_non_finite(pair, held), *_error(pair, too_large)]


def plain_ratio(leaf: OutputLeaf, exact: OutputLeaf, bound: ErrorBound) -> float | None:
    """Return the largest error over what is allowed where an output is plainly right, which is the usual case.

    Returns:
        At most 1 where every number is finite and within its limit, and all together are not scaled; else None.
    """
    if not leaf.is_number_with_rounding or not exact.is_number_with_rounding:
        return None
    if leaf.tensor.shape != exact.tensor.shape or not leaf.tensor.numel():
        return None
    signed = leaf.tensor.to(torch.promote_types(leaf.tensor.dtype, exact.tensor.dtype)) - exact.tensor
    worst = float((signed.abs() / bound.limit).max())
    if not worst <= 1 or bool(bound.limit.isinf().any()):
        return None  # NaN and infinities are here too
    return worst if signed.is_complex() or bound.tilt(signed, exact.tensor) <= 1 else None


def _overflow(pair: _Pair, too_large: torch.Tensor, dtype: torch.dtype) -> list[OutputDifference]:
    if not bool(too_large.any()):
        return _overflow_inside(pair, dtype)
    index = _index(pair.right.abs().where(too_large, torch.tensor(-1.0).double()))
    text = (
        f"{int(too_large.sum())} numbers of {pair.path} are larger than {dtype}'s largest, {torch.finfo(dtype).max:g}: "
        f"the reference has {_at(pair.right, index):.4g} at {index}; no device can hold that"
    )
    return [pair.difference("overflow", text, index)]


def _overflow_inside(pair: _Pair, dtype: torch.dtype) -> list[OutputDifference]:
    """Report numbers that are not finite because honest kernels leave the dtype's range on the way to them."""
    lost = pair.right.isfinite() & ~pair.yours.isfinite() & pair.bound.limit.isinf()
    if not bool(lost.any()):
        return []
    text = (
        f"{int(lost.sum())} numbers of {pair.path} are not finite, as on any device in {dtype}: a number on the way to "
        "them is larger than its largest"
    )
    return [pair.difference("overflow", text, _index(lost.double()))]


def _non_finite(pair: _Pair, dtype: torch.dtype) -> list[OutputDifference]:
    yours, right = pair.yours, pair.right
    both_nan = yours.isnan() & right.isnan()
    mismatch = (~yours.isfinite() | ~right.isfinite()) & ~both_nan & (yours != right)
    # next to the largest number, honest rounding may already give infinity
    mismatch &= ~(right.isfinite() & (right.abs() + pair.bound.limit >= torch.finfo(dtype).max))
    if not bool(mismatch.any()):
        return []
    index = _index(mismatch.double())
    text = (
        f"{int(mismatch.sum())} of {mismatch.numel()} numbers of {pair.path} are not finite as the reference's are "
        f"(or the reverse), first at {index}: {_at(yours, index)} on the device, {_at(right, index)} expected"
    )
    return [pair.difference("non-finite", text, index)]


def _error(pair: _Pair, too_large: torch.Tensor) -> list[OutputDifference]:
    both = pair.yours.isfinite() & pair.right.isfinite() & ~too_large
    signed = (pair.yours - pair.right).where(both, torch.zeros((), dtype=pair.right.dtype))
    error, limit = signed.abs(), pair.bound.limit
    wrong = error > limit
    scaled = _scaled(pair, signed) if not signed.is_complex() else []
    if not bool(wrong.any()):
        return scaled
    ratio = (error / limit.clamp_min(1e-300)).where(wrong, torch.tensor(-1.0).double())
    index = _index(ratio)
    text = (
        f"{int(wrong.sum())} of {wrong.numel()} numbers of {pair.path} are off by more than rounding explains; "
        f"worst at {index}: {_at(pair.yours, index):.6g} on the device, {_at(pair.right, index):.6g} expected, "
        f"{float(error[index]):.3g} apart where {float(limit[index]):.3g} is allowed"
    )
    excess = max([float(ratio[index]), *(difference.excess for difference in scaled)])
    return [pair.difference("error", text, index, excess)]


def _scaled(pair: _Pair, signed: torch.Tensor) -> list[OutputDifference]:
    """Report a result that is off by the same factor everywhere, too little to show in any single number."""
    bound = pair.bound
    tilt = bound.tilt(signed, pair.right)
    if tilt <= 1 or bound.precision is None or bound.slope is None:
        return []
    slope = slope_of(signed, pair.right, bound.precision)
    text = (
        f"the numbers of {pair.path} are together {1 + slope:.8g} times what they should be, and rounding explains "
        f"a factor from {1 - bound.slope:.8g} to {1 + bound.slope:.8g}"
    )
    # an error is a fault from 6 times what is allowed on, a slope from 1.5 times
    return [pair.difference("error", text, _index(pair.right.abs()), 4 * tilt)]


def _compare_integers(leaf: OutputLeaf, exact: OutputLeaf, bound: ErrorBound) -> list[OutputDifference]:
    yours, right = leaf.tensor, exact.tensor
    # through int64, never through a float: above 2**53 even float64 loses integers
    if not leaf.is_number_with_rounding:
        yours, right = yours.to(torch.int64), right.to(torch.int64)
    pair = _Pair(leaf.path, yours, right, bound)
    wrong = (yours != right) & (bound.limit == 0)
    if not bool(wrong.any()):
        return []
    index = _index(wrong.double())
    text = (
        f"{int(wrong.sum())} of {wrong.numel()} integers of {leaf.path} differ, first at {index}: "
        f"{yours[index].item()} on the device, {right[index].item()} expected"
    )
    through = _float_in_between(yours[wrong], right[wrong])
    if through is None:
        return [pair.difference("integers", text, index)]
    text += f"; that is what rounding through {through} makes of it (it holds every integer up to {_HOLDS[through]})"
    return [pair.difference("integers through float", text, index)]


_HOLDS = {"float32": "2**24", "float16": "2**11", "bfloat16": "2**8"}


def _float_in_between(yours: torch.Tensor, right: torch.Tensor) -> str | None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if torch.equal(right.to(dtype).to(torch.int64), yours.to(torch.int64)):
            return str(dtype).removeprefix("torch.")
    return None


def _index(badness: torch.Tensor) -> tuple[int, ...]:
    flat = int(badness.argmax())
    return tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), badness.shape))


def _at(tensor: torch.Tensor, index: tuple[int, ...]) -> float | complex:
    value: float | complex = tensor[index].item()
    return value


def _number(value: torch.Tensor) -> float:
    return float(abs(value.item()) if value.is_complex() else value.item())


def worst_ratio(device: Sequence[OutputLeaf], reference: Sequence[OutputLeaf], bounds: Sequence[ErrorBound]) -> float:
    """Compute the largest error over what is allowed: at most 1 for outputs that agree, 0 where none has rounding."""
    worst = 0.0
    for leaf, exact, bound in zip(device, reference, bounds, strict=False):
        if exact.is_number_with_rounding and leaf.tensor.shape == exact.tensor.shape and leaf.tensor.numel():
            wide = torch.complex128 if exact.tensor.is_complex() or leaf.tensor.is_complex() else torch.float64
            worst = max(worst, bound.worst((leaf.tensor.to(wide) - exact.tensor.to(wide)).abs()))
    return worst


def smallest_visible(reference: Sequence[OutputLeaf], bounds: Sequence[ErrorBound]) -> float | None:
    """Compute the error that would have been seen in half of the numbers, as a part of the numbers' usual size.

    Returns:
        The largest such part over all outputs, or None where no output rounds.
    """
    parts = []
    for exact, bound in zip(reference, bounds, strict=False):
        if exact.is_number_with_rounding and exact.tensor.numel() and exact.path.startswith(("output", "gradient")):
            usual = exact.tensor.abs().nan_to_num(0, 0, 0).double().square().mean().sqrt()
            if usual > 0:
                parts.append(float(bound.limit.median() / usual))
    return max(parts, default=None)
