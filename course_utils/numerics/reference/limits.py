"""How far each number of a result may be off, and how far all of them together may be scaled wrongly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

# a number may be off by so many times what honest devices are off by there
SIGMAS = 6.0
# a shift of all numbers may be so many times what honest devices shift them by
SLOPES = 8.0
# errors so many times as large show where a result jumps; much larger ones would find jumps that no device makes
COARSENESS = 4.0
# a jump may be so many times one that was seen: several may come together
JUMPS = 1.5
_PRIOR = 8.0
_ENOUGH = 16


@dataclass(frozen=True)
class ErrorBound:
    """How far one output may be from the reference.

    Args:
        limit: how far each number may be, of the output's shape; infinite where nothing can be said.
        slope: the allowed slope, or None where the output has too few numbers for one.
        precision: one over the variance of each number, for the slope; None with `slope`.
    """

    limit: torch.Tensor
    slope: float | None = None
    precision: torch.Tensor | None = None

    def worst(self, error: torch.Tensor) -> float:
        """Return the largest error as a multiple of what is allowed."""
        return float((error / self.limit).nan_to_num(0, 0, 0).max()) if error.numel() else 0.0

    def tilt(self, error: torch.Tensor, reference: torch.Tensor) -> float:
        """Return the slope of signed errors over the reference, as a multiple of what is allowed.

        A result that is 1.001 times too large has a slope of 0.001: too little for any single float16 number, and
        plain over all of them.
        """
        if self.slope is None or self.precision is None:
            return 0.0
        return abs(slope_of(error, reference, self.precision)) / self.slope


def wider(one: ErrorBound, other: ErrorBound) -> ErrorBound:
    """Combine two bounds of one output: an error may be as large as either allows."""
    slope = None if one.slope is None or other.slope is None else max(one.slope, other.slope)
    return ErrorBound(torch.maximum(one.limit, other.limit), slope, one.precision)


def slope_of(error: torch.Tensor, reference: torch.Tensor, precision: torch.Tensor) -> float:
    """Fit error = slope * reference by least squares, each number weighted by its precision."""
    weight = precision * reference
    along, across = _dot(error, weight), _dot(weight, reference)
    if not math.isfinite(along) or not math.isfinite(across):
        right = torch.where(torch.isfinite(reference), reference, 0)
        weight = torch.nan_to_num(precision, 0, 0, 0) * right
        along, across = _dot(torch.nan_to_num(error, 0, 0, 0), weight), _dot(weight, right)
    return along / max(across, 1e-300)


def _dot(left: torch.Tensor, right: torch.Tensor) -> float:
    return float(torch.dot(left.reshape(-1), right.reshape(-1)))


def smoothed(variance: torch.Tensor, samples: int) -> torch.Tensor:
    """Pull each variance towards the mean of its row and of its column, which hold many more numbers.

    Args:
        variance: the mean square of a few errors for each number.
        samples: how many errors each is the mean of.
    """
    return pulled(variance, prior_variance(variance, samples), samples)


def prior_variance(variance: torch.Tensor, samples: int) -> torch.Tensor:
    """Return what a variance is pulled towards, of a shape that broadcasts; arguments as for `smoothed`."""
    if variance.dim() < 1 or variance.numel() < 4:
        # there is nobody to ask: so much that (1 + _PRIOR / samples) times the variance comes out
        return variance * (((samples + _PRIOR) ** 2 / samples - samples) / _PRIOR)
    # of a row or column of few numbers the mean is as lucky as they are
    row, column = variance.shape[-1], variance.numel() // variance.shape[-1]
    prior = variance.mean()
    if samples * row >= _ENOUGH:
        prior = variance.mean(-1, keepdim=True)
    if variance.dim() > 1 and samples * column >= _ENOUGH:
        prior = torch.minimum(prior, variance.flatten(0, -2).mean(0).reshape([1] * (variance.dim() - 1) + [row]))
    return prior


def pulled(variance: torch.Tensor, prior: torch.Tensor, samples: int) -> torch.Tensor:
    """Pull variances of so many samples towards their prior."""
    mixed = (variance * (samples / (samples + _PRIOR))) + prior * (_PRIOR / (samples + _PRIOR))
    return torch.maximum(mixed, variance * 0.5)


def smallest_slope(dtype: torch.dtype) -> float:
    """Return the slope that is always allowed: half-precision numbers share a lattice, and with it an error."""
    eps = torch.finfo(dtype).eps
    return max(8 * min(eps, 2.0**-24), eps / 16 if eps > 1e-5 else 0.0)


def has_slope(reference: torch.Tensor) -> bool:
    """Return whether an output has numbers enough for a slope."""
    return reference.is_floating_point() and reference.numel() >= 16


def rounding_of(reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the step of the dtype at each number."""
    info = torch.finfo(dtype)
    return reference.abs().mul_(info.eps).add_(info.smallest_normal * info.eps).nan_to_num_(0, 0, 0)


def precision_of(variance: torch.Tensor, reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return one over the variance of each number, its last rounding included."""
    info = torch.finfo(dtype)
    rounded = reference.square().mul_(info.eps**2 / 12).add_((info.smallest_normal * info.eps) ** 2)
    return rounded.add_(variance).reciprocal_().nan_to_num_(0, 0, 0)


def _size(change: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(change.abs().double(), 0, 0, 0)


class Spread:
    """How far one output moves under honest rounding, added up repetition by repetition.

    Args:
        reference: the float64 result.
        dtype: the dtype the device computes in.
        first: one over the variance of each number as first known, for the slopes; None: taken from the first
            repetition.
    """

    def __init__(self, reference: torch.Tensor, dtype: torch.dtype) -> None:
        self.reference, self.dtype = reference, dtype
        self.squares = torch.zeros(reference.shape, dtype=torch.float64)
        self.largest = torch.zeros(reference.shape, dtype=torch.float64)
        self.coarse = torch.zeros(reference.shape, dtype=torch.float64)
        self.jumps = torch.zeros(reference.shape, dtype=torch.float64)
        self.overflowed = torch.zeros(reference.shape, dtype=torch.bool)
        self.precision: torch.Tensor | None = None
        self.slopes: list[float] = []
        self.count = 0

    def add_pair(self, one: torch.Tensor, other: torch.Tensor) -> None:
        """Take in two coarse repetitions with opposite errors.

        What is smooth moves as far in one as it moves back in the other; what is left of the sum has jumped in one of
        them, such as a relu next to 0, and may do so under errors of the usual size.
        """
        changes = [self._change(side) for side in (one, other) if side.shape == self.reference.shape]
        for change in changes:
            self.coarse = torch.maximum(self.coarse, _size(change))
        if len(changes) == 2 and self._rounds:
            self.jumps = torch.maximum(self.jumps, _size(changes[0] + changes[1]))

    @property
    def _rounds(self) -> bool:
        return self.reference.is_floating_point() or self.reference.is_complex()

    def _change(self, other: torch.Tensor) -> torch.Tensor:
        return other - self.reference if self._rounds else (other != self.reference).double()

    def add(self, other: torch.Tensor) -> None:
        """Take in one repetition; one of another shape says nothing."""
        reference = self.reference
        if other.shape != reference.shape:
            return
        signed = self._change(other)
        change = _size(signed)
        if not self._rounds:
            self.coarse = torch.maximum(self.coarse, change)
            return
        self.overflowed |= torch.isfinite(reference) & ~torch.isfinite(other)
        self.count += 1
        self.squares += change.square()
        self.largest = torch.maximum(self.largest, change)
        if has_slope(reference):
            if self.precision is None:
                self.precision = precision_of(smoothed(change.square(), 1), reference, self.dtype)
            self.slopes.append(slope_of(signed, reference, self.precision))

    def bound(self, sigmas: float = SIGMAS) -> ErrorBound:
        """Compute the bound from all repetitions."""
        reference = self.reference
        if not self._rounds:
            return ErrorBound(torch.where(self.coarse > 0, math.inf, 0.0))
        eps = torch.finfo(self.dtype).eps
        sigma = smoothed(self.squares / max(1, self.count), max(1, self.count)).sqrt()
        limit = rounding_of(reference, self.dtype) + torch.maximum(sigmas * sigma, 2 * self.largest)
        # what moves far more than in proportion to the coarseness has jumped: in proportion to its own movements, since
        # those of its surroundings hold the jumps of others
        own = (self.squares / max(1, self.count)).sqrt()
        typical = own.median() / 8 if own.numel() else torch.zeros(())
        steep = 4 * COARSENESS * torch.maximum(own, typical) + COARSENESS * eps * reference.abs()
        smooth = limit
        limit = torch.where(self.coarse > steep, torch.maximum(limit, JUMPS * self.coarse), limit)
        limit = torch.maximum(limit, JUMPS * self.jumps)
        limit = torch.where(self.overflowed, math.inf, limit)
        if not self.slopes or self.precision is None:
            return ErrorBound(limit)
        typical_slope = math.sqrt(sum(slope * slope for slope in self.slopes) / len(self.slopes))
        # what jumped says nothing about a factor
        precision = torch.where(limit > smooth, 0, self.precision)
        return ErrorBound(limit, SLOPES * typical_slope + smallest_slope(self.dtype), precision)
