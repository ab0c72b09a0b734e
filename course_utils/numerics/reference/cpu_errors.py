"""A bound from the errors that the CPU's own kernels make, computed piece by piece: large models have large gradients.

It has to hold for other orders of adding than the CPU's, such as those of another memory layout, whose errors are as
large and lie elsewhere: where the CPU happens to be right in a whole row, they need not be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from course_utils.numerics.reference.limits import (
    ErrorBound,
    has_slope,
    precision_of,
    prior_variance,
    pulled,
    rounding_of,
    smallest_slope,
)

# always allowed, in steps of the accumulator: the CPU adds a few hundred numbers up without any error in contiguous
# memory, and is 8 steps off in channels_last memory (running means of ResNet-18, torch 2.14.1)
STEPS = 16.0
# a piece of this many numbers stays in the processor's cache
_PIECE = 2**16


def first_look_times(dtype: torch.dtype) -> float:
    """Return how many times the CPU's own error the first look allows.

    In half precision the last rounding is most of an error, and any device rounds as the CPU does. In float32 the CPU
    adds up in blocks and computes functions to the last bit, and honest devices do neither: the model of the second
    look allows them 30 to 120 times the CPU's error there.
    """
    return 4.0 if torch.finfo(dtype).eps > torch.finfo(torch.float32).eps else 24.0


class CpuErrors:
    """What the CPU errs by in one output, and what others may.

    Args:
        reference: the float64 result.
        cpu: the CPU's result in `dtype`, of the same shape.
        dtype: the dtype the device computes in.
    """

    def __init__(self, reference: torch.Tensor, cpu: torch.Tensor, dtype: torch.dtype) -> None:
        self.reference, self.cpu, self.dtype = reference, cpu, dtype
        pieces = list(pieces_of(reference))
        self.largest = max(
            (float(self._size(piece).max()) for piece in pieces if reference[piece].numel()), default=0.0
        )
        # as parts of the largest, float32 holds their squares
        self.squares = torch.empty(reference.shape, dtype=torch.float32)
        for piece in pieces:
            self.squares[piece] = self._size(piece).div_(self.largest or 1.0).square_()
        self.overall = self.squares.mean() if reference.numel() else self.squares.sum()
        dims = [dim for dim, size in enumerate(reference.shape) if size > 1]
        self.factors: list[torch.Tensor] = []
        if len(dims) > 1 and bool(self.overall):
            self.factors = [
                self.squares.mean([d for d in dims if d != dim], keepdim=True) / self.overall for dim in dims
            ]
        self.prior = prior_variance(self.squares, 1)

    def _size(self, piece: slice) -> torch.Tensor:
        return (self.cpu[piece] - self.reference[piece]).abs().double().nan_to_num_(0, 0, 0)

    def bound(self, piece: slice) -> ErrorBound:
        """Return limit and precision of a piece along the first dimension, without a slope."""
        squares, reference = self.squares[piece], self.reference[piece]
        around = pulled(squares, self._of(self.prior, piece), 1)
        typical = torch.maximum(around, self._elsewhere(around, piece)).sqrt_()
        limit = rounding_of(reference, self.dtype)
        limit.mul_(1 + STEPS * torch.finfo(torch.float32).eps / torch.finfo(self.dtype).eps)
        limit.add_(typical, alpha=first_look_times(self.dtype) * self.largest)
        if not has_slope(self.reference):
            return ErrorBound(limit)
        return ErrorBound(limit, None, precision_of(around.double().mul_(self.largest**2), reference, self.dtype))

    def _elsewhere(self, around: torch.Tensor, piece: slice) -> torch.Tensor:
        """Estimate the variance of errors that are as large as known ones and lie elsewhere.

        The larger of two estimates: halfway between the surroundings and the whole, since a whole row of small errors
        may be luck; and the product of what each index has on average, since a weight's gradient errs as its channel
        of inputs and its channel of outputs are large.
        """
        halfway = around.mul(self.overall).sqrt_()
        if not self.factors:
            return halfway
        product = self.overall
        for factor in self.factors:
            product = product * self._of(factor, piece)
        return torch.maximum(halfway, product)

    @staticmethod
    def _of(values: torch.Tensor, piece: slice) -> torch.Tensor:
        return values[piece] if values.dim() and values.shape[0] > 1 else values


def pieces_of(tensor: torch.Tensor) -> Iterator[slice]:
    """Cut a tensor of one dimension or more along the first into pieces of about 65,000 numbers."""
    rows = tensor.shape[0]
    step = max(1, rows * _PIECE // max(1, tensor.numel()))
    for start in range(0, rows, step):
        yield slice(start, start + step)


@dataclass
class _Slopes:
    """Sums over all pieces, from which slopes of errors over the reference follow."""

    size: float = 0.0
    own: float = 0.0
    mine: float = 0.0


def bound_from_cpu(reference: torch.Tensor, cpu: torch.Tensor, dtype: torch.dtype) -> ErrorBound:
    """Compute a whole bound from the CPU's own errors; arguments as for `CpuErrors`."""
    flat = reference.dim() == 0
    errors = CpuErrors(reference.reshape(1) if flat else reference, cpu.reshape(1) if flat else cpu, dtype)
    bound = errors.bound(slice(None))
    if bound.precision is None:
        return ErrorBound(bound.limit.reshape(reference.shape))
    sums = _Slopes()
    _add_up(sums, bound.precision, errors.reference, errors.cpu, None)
    return ErrorBound(bound.limit, _allowed(sums, dtype), bound.precision)


def largest_ratio(
    mine: torch.Tensor, reference: torch.Tensor, cpus: Sequence[torch.Tensor], dtype: torch.dtype
) -> float | None:
    """Compare a device's numbers with the CPU's own errors, piece by piece, up to the first that is too far off.

    Args:
        mine: what the device gave, of the reference's shape.
        reference: the float64 result.
        cpus: what one or more sets of the CPU's kernels give.
        dtype: the dtype the device computes in.

    Returns:
        The largest error over what is allowed, at most 1 where all numbers are right; infinity where they are scaled
        together; None where one of them is not finite, which says nothing yet.
    """
    if not reference.dim() or not reference.numel():
        return None
    errors = [CpuErrors(reference, cpu, dtype) for cpu in cpus]
    sums = [_Slopes() for _ in errors]
    worst = 0.0
    for piece in pieces_of(reference):
        bounds = [one.bound(piece) for one in errors]
        limit = bounds[0].limit
        for bound in bounds[1:]:
            limit = torch.maximum(limit, bound.limit)
        ratio = float(((mine[piece] - reference[piece]).abs() / limit).max())
        if ratio > 1 or math.isnan(ratio):
            return ratio if math.isfinite(ratio) else None
        worst = max(worst, ratio)
        for one, bound, sum_ in zip(errors, bounds, sums, strict=True):
            if bound.precision is not None:
                _add_up(sum_, bound.precision, reference[piece], one.cpu[piece], mine[piece])
    if not has_slope(reference):
        return worst
    allowed = max(_allowed(sum_, dtype) for sum_ in sums)
    tilt = abs(sums[0].mine) / max(sums[0].size, 1e-300)
    return worst if tilt <= allowed else math.inf


def _add_up(
    sums: _Slopes, precision: torch.Tensor, reference: torch.Tensor, cpu: torch.Tensor, mine: torch.Tensor | None
) -> None:
    right = reference if bool(reference.sum().isfinite()) else torch.where(torch.isfinite(reference), reference, 0)
    weight = (precision * right).reshape(-1)
    sums.size += float(torch.dot(weight, right.reshape(-1)))
    sums.own += float(torch.dot(weight, (cpu - reference).nan_to_num(0, 0, 0).reshape(-1)))
    if mine is not None:
        sums.mine += float(torch.dot(weight, (mine - reference).reshape(-1)))


def _allowed(sums: _Slopes, dtype: torch.dtype) -> float:
    """Return the slope that is allowed: a few times the CPU's own, and what chance gives."""
    size = max(sums.size, 0.0)
    return 4 * abs(sums.own) / max(size, 1e-300) + 6 / max(math.sqrt(size), 1e-300) + smallest_slope(dtype)
