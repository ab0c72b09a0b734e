"""How far each number of a result may be off, and how far all of them together may be scaled wrongly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

# a number may be off by so many times what honest devices are off by there
SIGMAS = 6.0
# a shift of all numbers may be so many times what honest devices shift them by
SLOPES = 8.0
# rounding may be coarser by so much before a jump is taken for one
COARSENESS = 16.0
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


def slope_of(error: torch.Tensor, reference: torch.Tensor, precision: torch.Tensor) -> float:
    """Fit error = slope * reference by least squares, each number weighted by its precision."""
    right = torch.where(torch.isfinite(reference), reference, 0)
    weight = precision * right
    return float((torch.nan_to_num(error, 0, 0, 0) * weight).sum() / (weight * right).sum().clamp_min(1e-300))


def smoothed(variance: torch.Tensor, samples: int) -> torch.Tensor:
    """Pull each variance towards the mean of its row and of its column, which hold many more numbers.

    Args:
        variance: the mean square of a few errors for each number.
        samples: how many errors each is the mean of.
    """
    if variance.dim() < 1 or variance.numel() < 4:
        return variance * (1 + _PRIOR / samples)
    # of a row or column of few numbers the mean is as lucky as they are
    row, column = variance.shape[-1], variance.numel() // variance.shape[-1]
    prior = variance.mean().expand(variance.shape)
    if samples * row >= _ENOUGH:
        prior = variance.mean(-1, keepdim=True).expand(variance.shape)
    if variance.dim() > 1 and samples * column >= _ENOUGH:
        across = variance.flatten(0, -2).mean(0).expand(variance.shape)
        prior = torch.minimum(prior, across)
    return torch.maximum((samples * variance + _PRIOR * prior) / (samples + _PRIOR), variance * 0.5)


def smallest_slope(dtype: torch.dtype) -> float:
    """Return the slope that is always allowed: half-precision numbers share a lattice, and with it an error."""
    eps = torch.finfo(dtype).eps
    return max(8 * min(eps, 2.0**-24), eps / 16 if eps > 1e-5 else 0.0)


def has_slope(reference: torch.Tensor) -> bool:
    """Return whether an output has numbers enough for a slope."""
    return reference.is_floating_point() and reference.numel() >= 16


def _rounding(reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    info = torch.finfo(dtype)
    return (info.eps * reference.abs() + info.smallest_normal * info.eps).nan_to_num(0, 0, 0)


def bound_from_cpu(
    reference: torch.Tensor, cpu: torch.Tensor, dtype: torch.dtype, *, sigmas: float = 4.0
) -> ErrorBound:
    """Compute a bound from the error that the CPU's own kernels make in the device's dtype.

    Args:
        reference: the float64 result.
        cpu: the CPU's result in `dtype`, of the same shape.
        dtype: the dtype the device computes in.
        sigmas: how many times the CPU's typical error around a number is allowed there.
    """
    error = torch.nan_to_num((cpu.to(reference.dtype) - reference).abs().double(), 0, 0, 0)
    variance = smoothed(error.square(), 1)
    limit = _rounding(reference, dtype) + sigmas * variance.sqrt()
    if not has_slope(reference):
        return ErrorBound(limit)
    precision = _precision(variance, reference, dtype)
    signed = cpu.to(reference.dtype) - reference
    spread = 6 / (precision * torch.nan_to_num(reference, 0, 0, 0).square()).sum().sqrt().clamp_min(1e-300)
    allowed = 4 * abs(slope_of(signed, reference, precision)) + float(spread)
    return ErrorBound(limit, allowed + smallest_slope(dtype), precision)


def _precision(variance: torch.Tensor, reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    info = torch.finfo(dtype)
    spread = variance + (info.eps * reference).square() / 12 + (info.smallest_normal * info.eps) ** 2
    return (1 / spread).nan_to_num(0, 0, 0)


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
        self.overflowed = torch.zeros(reference.shape, dtype=torch.bool)
        self.precision: torch.Tensor | None = None
        self.slopes: list[float] = []
        self.count = 0

    def add(self, other: torch.Tensor, *, coarse: bool = False) -> None:
        """Take in one repetition; one of another shape says nothing."""
        reference = self.reference
        if other.shape != reference.shape:
            return
        if not (reference.is_floating_point() or reference.is_complex()):
            moved = (other != reference).double()
            self.coarse = torch.maximum(self.coarse, moved)
            return
        signed = other - reference
        change = torch.nan_to_num(signed.abs().double(), 0, 0, 0)
        if coarse:
            self.coarse = torch.maximum(self.coarse, change)
            return
        self.overflowed |= torch.isfinite(reference) & ~torch.isfinite(other)
        self.count += 1
        self.squares += change.square()
        self.largest = torch.maximum(self.largest, change)
        if has_slope(reference):
            if self.precision is None:
                self.precision = _precision(smoothed(change.square(), 1), reference, self.dtype)
            self.slopes.append(slope_of(signed, reference, self.precision))

    def bound(self, sigmas: float = SIGMAS) -> ErrorBound:
        """Compute the bound from all repetitions."""
        reference = self.reference
        if not (reference.is_floating_point() or reference.is_complex()):
            return ErrorBound(torch.where(self.coarse > 0, math.inf, 0.0))
        eps = torch.finfo(self.dtype).eps
        sigma = smoothed(self.squares / max(1, self.count), max(1, self.count)).sqrt()
        limit = _rounding(reference, self.dtype) + torch.maximum(sigmas * sigma, 2 * self.largest)
        typical = sigma.square().mean().sqrt() if sigma.numel() else torch.zeros(())
        # what moves far more than in proportion to the coarseness has jumped
        steep = 4 * COARSENESS * torch.maximum(sigma, typical) + COARSENESS * eps * reference.abs()
        limit = torch.where(self.coarse > steep, torch.maximum(limit, 1.5 * self.coarse), limit)
        limit = torch.where(self.overflowed, math.inf, limit)
        if not self.slopes:
            return ErrorBound(limit)
        typical_slope = math.sqrt(sum(slope * slope for slope in self.slopes) / len(self.slopes))
        return ErrorBound(limit, SLOPES * typical_slope + smallest_slope(self.dtype), self.precision)
