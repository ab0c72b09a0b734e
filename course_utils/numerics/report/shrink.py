"""Make failing inputs smaller: cut one size after the other as long as the fault stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.tensors.inputs import Inputs

MOST_TRIES = 60


def shrink(inputs: Inputs, still_fails: Callable[[Inputs], bool]) -> Inputs:
    """Cut inputs greedily.

    Args:
        inputs: failing inputs, contiguous.
        still_fails: says whether smaller ones fail too; False for what the callable does not take.

    Returns:
        The smallest failing inputs found, after at most 60 tries.
    """
    tries = 0
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(inputs):
            tries += 1
            if tries > MOST_TRIES:
                return inputs
            if still_fails(candidate):
                inputs, progress = candidate, True
                break
    return inputs


def _smaller(inputs: Inputs) -> Iterator[Inputs]:
    """Yield cut inputs, the smallest first: one dimension of all tensors, then one size wherever it occurs."""
    tensors = [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)]
    pairs = sorted({(dim, size) for t in tensors for dim, size in enumerate(t.shape) if size > 1}, key=lambda p: -p[1])
    for dim, old in pairs:
        for new in _sizes_below(old):
            yield _cut(inputs, old, new, (dim,))
    for old in sorted({size for _, size in pairs}, reverse=True):
        for new in _sizes_below(old):
            yield _cut(inputs, old, new, None)


def _sizes_below(old: int) -> list[int]:
    return [size for size in (1, 2, 3, 4, 8, 16, 64, 256, 1024) if size < old]


def _cut(inputs: Inputs, old: int, new: int, dims: tuple[int, ...] | None) -> Inputs:
    def one(tensor: torch.Tensor) -> torch.Tensor:
        for dim in dims if dims is not None else range(tensor.dim()):
            if dim < tensor.dim() and tensor.shape[dim] == old:
                tensor = tensor.narrow(dim, 0, new)
        return tensor.contiguous()

    return tuple(tree_map_only(torch.Tensor, one, list(inputs)))
