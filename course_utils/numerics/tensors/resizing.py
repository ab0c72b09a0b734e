"""The same inputs at other sizes: one dimension shorter or longer wherever it has the same size."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from course_utils.numerics.tensors.inputs import Inputs


def size_along(inputs: Inputs, dim: int) -> int | None:
    """Return the first tensor's size in a dimension, or None where there is none to vary.

    Args:
        inputs: tensors and other values.
        dim: from the front (0 or more) or from the end (negative).
    """
    sizes = [
        leaf.shape[dim]
        for leaf in tree_leaves(list(inputs))
        if isinstance(leaf, torch.Tensor) and leaf.dim() > (dim if dim >= 0 else -dim - 1)
    ]
    return sizes[0] if sizes and sizes[0] > 0 else None


def leading_size(inputs: Inputs) -> int | None:
    """Return the first tensor's first size, or None where there is none to vary."""
    return size_along(inputs, 0)


def resize(inputs: Inputs, size: int, dim: int = 0) -> Inputs:
    """Cut or repeat every tensor that has the dimension's size, so that it has the size asked for.

    Args:
        inputs: tensors and other values; tensors of another size there (weights, masks) stay as they are.
        size: the new size, at least 0.
        dim: which dimension.
    """
    old = size_along(inputs, dim)

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.dim() <= (dim if dim >= 0 else -dim - 1):
            return leaf
        if leaf.shape[dim] != old:
            return leaf
        front = leaf.transpose(0, dim)
        repeats = (max(1, math.ceil(size / front.shape[0])),) + (1,) * (leaf.dim() - 1)
        longer = _vary(front.repeat(repeats)[:size].contiguous(), front.shape[0])
        return longer.transpose(0, dim).contiguous()

    return tuple(tree_map(one, list(inputs)))


def _vary(repeated: torch.Tensor, given: int) -> torch.Tensor:
    """Make repeated numbers a little smaller at random: equal ones round alike, and their errors add up steeply."""
    if not repeated.is_floating_point() or repeated.shape[0] <= given:
        return repeated
    factors = 0.75 + 0.25 * torch.rand(repeated.shape, generator=torch.Generator().manual_seed(given))
    factors[:given] = 1.0
    return (repeated * factors).to(repeated.dtype)


def rows_from(inputs: Inputs, first: int, count: int) -> Inputs:
    """Take rows from the middle of every tensor that has the leading size."""
    old = leading_size(inputs)

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.dim() == 0 or leaf.shape[0] != old:
            return leaf
        return leaf[first : first + count].contiguous()

    return tuple(tree_map(one, list(inputs)))
