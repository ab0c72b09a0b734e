"""How far an honest device may be from the reference: a bound that grows like sqrt(K)*eps, stated in words."""

from __future__ import annotations

from dataclasses import dataclass

import torch

# honest kernels stay within twice the measured rounding; four leaves room for other orders of adding
SAFETY = 4.0


@dataclass(frozen=True)
class Tolerance:
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
            f"{_short(self.dtype)}: |device - reference| <= eps*|reference| + {SAFETY:g}*rounding, eps = {self.eps:.3g}; "
            f"rounding is how far the {_short(self.reference_dtype)} reference moves when every operator rounds as "
            f"{_short(self.dtype)} does and a sum of K terms of size |x| errs by sqrt(K)*eps*|x| in "
            f"{_short(self.accumulator)}; longest sum: K = {self.length} ({self.length_source})"
        )


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def bound_for(
    reference: torch.Tensor,
    moved: list[torch.Tensor],
    jumped: list[torch.Tensor],
    *,
    dtype: torch.dtype,
    coarseness: float,
) -> torch.Tensor:
    """Compute how far each number may be from the reference.

    Args:
        reference: the exact result.
        moved: results of the reference under random rounding, of the same shape.
        jumped: the same with rounding coarser by `coarseness`: where a number moves there far more than `coarseness`
            times as much, the function has a jump, and no small tolerance can judge it.
        dtype: the dtype the device computes in.
        coarseness: how much coarser.

    Returns:
        A tensor of the reference's shape in a real dtype, never negative.
    """
    info = torch.finfo(dtype)
    changes = torch.stack([_change(other, reference) for other in moved])
    noise = changes.square().mean(0).sqrt()
    coarse = torch.stack([_change(other, reference) for other in jumped]).amax(0)
    usual = coarseness * torch.maximum(noise, _rms(noise))
    smooth = info.eps * reference.abs() + SAFETY * noise
    bound = torch.where(coarse > 4 * usual + coarseness * info.eps * reference.abs(), torch.maximum(smooth, coarse), smooth)
    return torch.nan_to_num(bound, 0.0, 0.0, 0.0) + info.smallest_normal * info.eps


def _change(other: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num((other - reference).abs(), 0.0, 0.0, 0.0)


def _rms(noise: torch.Tensor) -> torch.Tensor:
    return noise.square().mean().sqrt() if noise.numel() else noise.sum()
