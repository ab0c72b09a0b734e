"""Other values for the same shapes: NaN, infinities, -0.0, ties, large ones, ends of integers, rows of a mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.tensors.inputs import Inputs

# float32 holds every integer up to here and none of the odd ones above
EXACT_IN_FLOAT32 = 2**24
_WIDE = (torch.int32, torch.int64)


def _floats(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda t: change(t) if t.is_floating_point() else t


def _with(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Put a value at three places of every floating-point tensor."""

    def one(tensor: torch.Tensor) -> torch.Tensor:
        changed = tensor.clone(memory_format=torch.contiguous_format)
        flat = changed.view(-1)
        flat[: 1 + 2 * (flat.numel() // 3) : max(1, flat.numel() // 3)] = value
        return changed

    return _floats(one)


def _other(tensor: torch.Tensor) -> torch.Tensor:
    """Other values of the same kind: in another order, and numbers smaller."""
    if tensor.dtype == torch.bool:
        return ~tensor
    moved = tensor.contiguous().flatten().roll(1).flip(0).view(tensor.shape)
    return (moved * 0.875).to(tensor.dtype) if tensor.is_floating_point() else moved


def _past_float32(tensor: torch.Tensor) -> torch.Tensor:
    """Odd and even integers next to each other: of a sum of two, at least one is odd."""
    if tensor.dtype not in _WIDE:
        return tensor
    parity = (torch.arange(tensor.numel()) % 2).view(tensor.shape)
    return (tensor // 2 * 2 + EXACT_IN_FLOAT32 + parity).to(tensor.dtype)


def _ends(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool or not tensor.numel():
        return tensor
    info = torch.iinfo(tensor.dtype)
    changed = tensor.clone(memory_format=torch.contiguous_format)
    ends = torch.tensor([info.max, info.min, info.max - 1], dtype=tensor.dtype)
    count = min(3, changed.numel())
    changed.view(-1)[:count] = ends[:count]
    return changed


def _dead_row(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype != torch.bool or tensor.dim() < 2:
        return tensor
    changed = tensor.clone()
    changed[..., 0, :] = False
    return changed


# name -> how one tensor is changed; one that it does not concern is returned as it is
SPECIAL_VALUES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "other values": _other,
    "large numbers": _floats(lambda t: t * 64),
    "small numbers": _floats(lambda t: t * 2.0**-12),
    "ties": _floats(lambda t: (t * 2).round() / 2),
    "-0.0": _with(-0.0),
    "NaN": _with(float("nan")),
    "infinity": _with(float("inf")),
    "-infinity": _with(-float("inf")),
    "integers past 2**24": _past_float32,
    "ends of the integer type": _ends,
    "a mask with an empty row": _dead_row,
}


def with_values(inputs: Inputs, name: str) -> Inputs | None:
    """Change the values of every tensor that one of `SPECIAL_VALUES` concerns; None where it concerns none."""
    new: Inputs = tuple(tree_map_only(torch.Tensor, SPECIAL_VALUES[name], list(inputs)))
    pairs = zip(tree_leaves(list(inputs)), tree_leaves(list(new)), strict=True)
    return new if any(_changed(old, other) for old, other in pairs) else None


def _changed(old: Any, new: Any) -> bool:
    return isinstance(old, torch.Tensor) and old is not new and not torch.equal(old, new)
