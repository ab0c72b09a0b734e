"""The same values elsewhere in memory: other strides, an offset, steps, one element for many.

Faults of MPS that needed such a tensor: pytorch #118115 (transposed), #161640 (rows with a step), #181133 (permuted
heads), #180984 and #175189 (channels_last), #192212 (a slice of five dimensions), #101507, #105801, #174345 (offset).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.tensors.inputs import Inputs

_MOST_MEMORY = 2**22  # elements; steps in every dimension multiply the memory


def _neighbours(tensor: torch.Tensor) -> torch.Tensor:
    """Return other values of the tensor to lie between its own, so that reading them by mistake shows."""
    return tensor.flatten().roll(1).view(tensor.shape)


def _offset(tensor: torch.Tensor) -> torch.Tensor | None:
    if not tensor.dim():
        return None
    row = _neighbours(tensor).reshape(-1)[:3]
    memory = torch.cat([row, tensor.reshape(-1)])
    return memory[len(row) :].view(tensor.shape)


def _transposed(tensor: torch.Tensor) -> torch.Tensor | None:
    if tensor.dim() < 2:
        return None
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)


def _stepped(tensor: torch.Tensor, dims: range) -> torch.Tensor | None:
    if not tensor.dim() or tensor.numel() * 2 ** len(dims) > max(_MOST_MEMORY, 4 * tensor.numel()):
        return None
    shape = [size * 2 if dim in dims else size for dim, size in enumerate(tensor.shape)]
    every = tuple(slice(None, None, 2 if dim in dims else 1) for dim in range(tensor.dim()))
    repeats = [2 if dim in dims else 1 for dim in range(tensor.dim())]
    memory = _neighbours(tensor).repeat(repeats).view(shape)
    memory[every] = tensor
    return memory[every]


def _permuted(tensor: torch.Tensor) -> torch.Tensor | None:
    if tensor.dim() < 3:
        return None
    order = (0, 2, 1, *range(3, tensor.dim())) if tensor.dim() > 3 else (1, 0, 2)
    return tensor.permute(order).contiguous().permute(order)


def _channels_last(tensor: torch.Tensor) -> torch.Tensor | None:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats[tensor.dim()]) if tensor.dim() in formats else None


def _slice_of_more(tensor: torch.Tensor) -> torch.Tensor | None:
    if tensor.dim() < 2:
        return None
    place = min(2, tensor.dim() - 1)
    other = _neighbours(tensor)
    return torch.stack([other, tensor, other], dim=place).select(place, 1)


def _expanded(dim: int) -> Callable[[torch.Tensor], torch.Tensor | None]:
    def one(tensor: torch.Tensor) -> torch.Tensor | None:
        if tensor.dim() <= dim or tensor.dim() < 2 or tensor.shape[dim] < 2:
            return None
        return tensor.narrow(dim, 0, 1).clone().expand(tensor.shape)

    return one


# name -> how one tensor is laid out so, or None where it cannot be
SAME_VALUES: dict[str, Callable[[torch.Tensor], torch.Tensor | None]] = {
    "storage offset": _offset,
    "transposed": _transposed,
    "sliced": lambda t: _stepped(t, range(t.dim() - 1, t.dim())),
    "sliced rows": lambda t: _stepped(t, range(1)) if t.dim() > 1 else None,
    "sliced everywhere": lambda t: _stepped(t, range(t.dim())) if t.dim() > 1 else None,
    "permuted": _permuted,
    "channels_last": _channels_last,
    "slice of more dimensions": _slice_of_more,
}
# these have other values: one element stands for many
EXPANDED = {f"expanded dimension {dim}": _expanded(dim) for dim in range(4)}
LAYOUTS = {**SAME_VALUES, **EXPANDED}


def lay_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """Lay one tensor out differently; one with too few dimensions or elements for it stays as it is.

    Raises:
        ValueError: for an unknown layout.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; there are {', '.join(LAYOUTS)}")
    if tensor.layout != torch.strided or tensor.numel() < 2:
        return tensor
    laid_out = LAYOUTS[layout](tensor.detach())
    return tensor if laid_out is None else laid_out


def differs_in_memory(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a view with strides or an offset."""
    return bool(not tensor.is_contiguous() or tensor.storage_offset() > 0)


def with_layout(inputs: Inputs, layout: str) -> Inputs | None:
    """Lay every tensor of the inputs out differently in memory.

    Args:
        inputs: tensors, and other values, which stay.
        layout: one of `LAYOUTS`.

    Returns:
        The inputs, or None where no tensor can be laid out so.
    """
    new = tuple(tree_map_only(torch.Tensor, lambda t: lay_out(t, layout), list(inputs)))
    before, after = tree_leaves(list(inputs)), tree_leaves(list(new))
    changed = any(
        isinstance(leaf, torch.Tensor) and leaf is not old and differs_in_memory(leaf)
        for old, leaf in zip(before, after, strict=True)
    )
    return new if changed else None
