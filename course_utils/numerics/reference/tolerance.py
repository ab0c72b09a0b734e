"""How far an honest device may be from the reference: a bound that grows like sqrt(K)*eps, stated in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

# the honest kernels of torch.nn on the CPU stay within about three; the rest is room for other orders of adding
SAFETY = 5.0


@dataclass(frozen=True)
class ToleranceRule:
    """The rule by which errors are judged in one dtype.

    Args:
        dtype: the dtype the device computes in.
        eps: the distance from 1 to the next number of that dtype.
        accumulator: the dtype in which sums are taken to be added up.
        length: K, the longest reduction.
        length_source: how K is known: the operator it was found at, or "given".
        reference_dtype: the dtype of the reference.
    """

    dtype: torch.dtype
    eps: float
    accumulator: torch.dtype
    length: int
    length_source: str
    reference_dtype: torch.dtype

    def __str__(self) -> str:
        return (
            f"{_short(self.dtype)}: |device - reference| <= eps*|reference| + {SAFETY:g}*rounding, eps {self.eps:.3g}; "
            f"rounding is how far the {_short(self.reference_dtype)} reference moves when every operator rounds as "
            f"{_short(self.dtype)} does and a sum of K terms of size |x| errs by sqrt(K)*eps*|x| in "
            f"{_short(self.accumulator)}; longest sum: K = {self.length} ({self.length_source})"
        )


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class ErrorBound:
    """How far the numbers of one output may be from the reference.

    Args:
        limit: how far each number may be, of the output's shape; infinite where nothing can be said.
        spare: how many numbers may be further away, because honest rounding makes so many jump (relu next to zero).
        spare_limit: how far those few may be.
    """

    limit: torch.Tensor
    spare: int = 0
    spare_limit: float = 0.0

    def exceeded(self, error: torch.Tensor) -> torch.Tensor:
        """Say which errors are too large; those within the spare are not.

        Args:
            error: absolute errors, of the limit's shape.
        """
        wrong = error > self.limit
        few = int(wrong.sum()) <= self.spare
        return wrong & (error > self.spare_limit) if few else wrong


def bound_for(
    reference: torch.Tensor,
    changes: Sequence[torch.Tensor],
    coarse: torch.Tensor,
    *,
    dtype: torch.dtype,
    coarseness: float,
) -> ErrorBound:
    """Compute how far each number may be from the reference.

    Args:
        reference: the exact result.
        changes: how far it moved under random rounding, one tensor for each repetition.
        coarse: how far it moved at most with rounding coarser by `coarseness`: where that is far more than `coarseness`
            times as much, the function has a jump, and no small tolerance can judge it.
        dtype: the dtype the device computes in.
        coarseness: how much coarser.
    """
    info = torch.finfo(dtype)
    # in float64, and one after the other: a model's parameters would fill the memory several times
    total = torch.zeros(reference.shape, dtype=torch.float64)
    for change in changes:
        total += change.double().square()
    noise = (total / len(changes)).sqrt()
    rounding = info.eps * reference.abs() + info.smallest_normal * info.eps
    steep = 4 * coarseness * torch.maximum(noise, _rms(noise)) + coarseness * info.eps * reference.abs()
    limit = rounding + SAFETY * noise
    limit = torch.where(coarse > steep, torch.maximum(limit, coarse.double()), limit).nan_to_num(0.0, 0.0, 0.0)
    # an honest result judged by the others: as many jumps as it makes, an honest device may make
    jumps, largest = 0, 0.0
    for change in changes:
        others = ((total - change.double().square()) / max(1, len(changes) - 1)).clamp_min(0).sqrt()
        jumps = max(jumps, int((change > rounding + SAFETY * others).sum()))
        largest = max(largest, float(change.max()) if change.numel() else 0.0)
    return ErrorBound(limit, 3 * jumps, 2 * largest)


def change_of(other: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Compute how far each number moved, 0 where it is not finite; in float32, which is enough for a distance."""
    return torch.nan_to_num((other - reference).abs(), 0.0, 0.0, 0.0).float()


def _rms(noise: torch.Tensor) -> torch.Tensor:
    return noise.square().mean().sqrt() if noise.numel() else noise.sum()
