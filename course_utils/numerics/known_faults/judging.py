"""Whether what a device computed is right: exactly, or within the reproducer's tolerance."""

from __future__ import annotations

from typing import Any

import torch


def difference(got: Any, right: Any, tolerance: float) -> str | None:
    """Compare what a device returned with what is right.

    Args:
        got: a tensor, a number, or a tuple or list of these.
        right: the same structure; a number stands for a tensor full of it. NaN equals NaN.
        tolerance: the largest absolute difference that counts as none.

    Returns:
        None where they agree, else how they differ, in one line.
    """
    if isinstance(right, tuple):
        found = (difference(mine, other, tolerance) for mine, other in zip(got, right, strict=True))
        return next((line for line in found if line is not None), None)
    mine, other = _values(got), _values(right)
    if other.ndim == 0:
        other = other.expand(mine.shape)
    if mine.shape != other.shape:
        return f"the shape is {tuple(mine.shape)} instead of {tuple(other.shape)}"
    wrong = ~_equal(mine, other, tolerance)
    if not wrong.any():
        return None
    first, instead = (_show(values[wrong][0].item()) for values in (mine, other))
    return f"{int(wrong.sum())} of {mine.numel()} values differ; the first is {first} instead of {instead}"


def _show(value: float | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _values(value: Any) -> torch.Tensor:
    """Return values on the CPU as a real tensor: complex numbers as pairs, lists of tensors stacked."""
    if isinstance(value, (list, tuple)) and any(isinstance(part, torch.Tensor) for part in value):
        value = torch.stack([_values(part) for part in value])
    tensor = value.detach().cpu() if isinstance(value, torch.Tensor) else torch.tensor(value)
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor.resolve_neg()


def _equal(mine: torch.Tensor, other: torch.Tensor, tolerance: float) -> torch.Tensor:
    if not (mine.is_floating_point() or other.is_floating_point()):
        return mine == other  # float64 would lose integers beyond 2**53
    mine, other = mine.double(), other.double()
    return (mine == other) | ((mine - other).abs() <= tolerance) | (mine.isnan() & other.isnan())
