"""Outputs as a flat list of named tensors on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import keystr, tree_flatten_with_path


@dataclass(frozen=True)
class OutputLeaf:
    """One tensor of an output.

    Args:
        path: where it was, such as "output[0]".
        tensor: the tensor, on the CPU, cut from the autograd graph.
    """

    path: str
    tensor: torch.Tensor

    @property
    def is_number_with_rounding(self) -> bool:
        """True for floating-point and complex tensors; integers and bool are exact."""
        return self.tensor.is_floating_point() or self.tensor.is_complex()


def flatten(outputs: Any) -> tuple[OutputLeaf, ...]:
    """Flatten whatever a callable returned: tensors and plain numbers in lists, tuples and dicts.

    Returns:
        One leaf for each tensor or number; None, text and other objects are left out.
    """
    pairs, _ = tree_flatten_with_path(outputs)
    del outputs  # where nobody else holds them, each is gone once it is copied, not all together
    pairs.reverse()
    leaves: list[OutputLeaf] = []
    while pairs:
        path, value = pairs.pop()
        tensor = _as_tensor(value)
        if tensor is not None:
            leaves.append(OutputLeaf(_name(path), tensor))
    return tuple(leaves)


def _name(path: Any) -> str:
    # {"output": [a, b]} gives ['output'][0]; shown as output[0]
    text = keystr(path)
    if text.startswith("['"):
        end = text.index("']")
        return text[2:end] + text[end + 2 :]
    return "output" + text


def _as_tensor(value: Any) -> torch.Tensor | None:
    if isinstance(value, torch.Tensor):
        tensor = value.detach()
        # values only: strides of an output are no promise
        return (tensor.to_dense() if tensor.layout != torch.strided else tensor).cpu().clone()
    if isinstance(value, bool | int | float | complex):
        return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
    return None


def same_bits(left: tuple[OutputLeaf, ...], right: tuple[OutputLeaf, ...]) -> bool:
    """Return whether two flat outputs are equal to the last bit, NaN counting as equal to NaN."""
    return len(left) == len(right) and all(
        a.path == b.path and a.tensor.shape == b.tensor.shape and equal_with_nan(a.tensor, b.tensor)
        for a, b in zip(left, right, strict=True)
    )


def equal_with_nan(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return whether two tensors hold the same values, NaN counting as equal to NaN."""
    if torch.equal(left, right):
        return True
    if left.is_floating_point() or left.is_complex():
        return bool(((left == right) | (left.isnan() & right.isnan())).all())
    return False
