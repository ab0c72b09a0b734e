"""Inputs of a comparison: drawn once on the CPU, in other strides with the same values, at other sizes, on a device.

The same seed gives other numbers on another device (pytorch #84288, #153102), so nothing is ever drawn on a device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

Inputs = tuple[Any, ...]
# about half of MPS's published silent errors need a tensor that is not contiguous (pytorch #118115, #124834, #150967,
# #161640, #163597, #175187, #181133, #192212)
LAYOUTS = ("transposed", "sliced", "expanded")
# float32 holds every integer up to here and none of the odd ones above
EXACT_IN_FLOAT32 = 2**24


def draw(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Draw a tensor of normal numbers on the CPU.

    Args:
        shape: its sizes.
        dtype: a floating-point dtype; the numbers are drawn in float32 and rounded to it.
        seed: the same seed gives the same numbers on every machine.
    """
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Give a floating-point tensor the dtype, a complex one its complex partner, and leave integers and bool alone."""
    if tensor.is_floating_point():
        return tensor.to(dtype)
    if tensor.is_complex():
        return tensor.to(torch.complex128 if dtype == torch.float64 else torch.complex64)
    return tensor


def cast_inputs(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """Cast every tensor of nested inputs, strides kept."""
    return tuple(tree_map_only(torch.Tensor, lambda t: _keep_strides(t, lambda flat: cast(flat, dtype)), list(inputs)))


def fresh(inputs: Inputs) -> Inputs:
    """Copy every tensor with its strides, so that a callable may write into what it gets."""
    return tuple(tree_map_only(torch.Tensor, lambda t: _keep_strides(t, torch.clone), list(inputs)))


def move(tensor: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """Copy a tensor to a device with its strides.

    `Tensor.to` alone makes sliced and expanded tensors contiguous on the way (torch 2.9-2.14), which would hide
    every fault that needs strides. The copy waits: `non_blocking=True` loses data on MPS (pytorch #139550, #189690).
    """
    return _keep_strides(tensor, lambda flat: flat.to(device, copy=True))


def _keep_strides(tensor: torch.Tensor, change: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Apply `change` to all memory behind a tensor and look at the result in the tensor's way."""
    tensor = tensor.detach()
    if tensor.is_contiguous() or tensor.layout != torch.strided:
        return change(tensor)
    length = tensor.untyped_storage().nbytes() // tensor.element_size()
    whole = tensor.as_strided((length,), (1,), 0)
    return change(whole).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def with_layout(inputs: Inputs, layout: str) -> Inputs | None:
    """Lay every tensor of the inputs out differently in memory.

    Args:
        inputs: contiguous tensors, and other values, which stay.
        layout: "transposed" (the last two dimensions swapped in memory), "sliced" (every second element of a wider
            tensor) or "expanded" (the first row repeated with stride 0: other values, so it needs its own reference).

    Returns:
        The inputs, or None where no tensor can be laid out so.

    Raises:
        ValueError: for an unknown layout.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; there are {', '.join(LAYOUTS)}")
    new = tuple(tree_map_only(torch.Tensor, lambda t: lay_out(t, layout), list(inputs)))
    changed = any(
        isinstance(leaf, torch.Tensor) and not leaf.is_contiguous() for leaf in tree_leaves(list(new))
    )  # fmt: skip
    return new if changed else None


def lay_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """Lay one tensor out differently; one with too few dimensions or elements for it stays as it is."""
    if tensor.layout != torch.strided or tensor.numel() < 2:
        return tensor
    if layout == "transposed" and tensor.dim() >= 2:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "sliced" and tensor.dim() >= 1:
        # the neighbours hold other values of the tensor, so that reading them by mistake shows
        wide = torch.stack([tensor, tensor.flatten().roll(1).view(tensor.shape)], dim=-1).flatten(-2)
        return wide[..., ::2]
    if layout == "expanded" and tensor.dim() >= 2 and tensor.shape[0] >= 2:
        return tensor[:1].clone().expand(tensor.shape)
    return tensor


def contiguous(inputs: Inputs) -> Inputs:
    """Return the same values in contiguous memory."""
    return tuple(tree_map_only(torch.Tensor, lambda t: t.contiguous(), list(inputs)))


def leading_size(inputs: Inputs) -> int | None:
    """Return the first size that the tensors share, or None where there is none to vary."""
    sizes = {leaf.shape[0] for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor) and leaf.dim() > 0}
    return max(sizes) if sizes and max(sizes) > 0 else None


def resize(inputs: Inputs, size: int) -> Inputs:
    """Cut or repeat every tensor that has the leading size, so that it has the size asked for.

    Args:
        inputs: tensors and other values; tensors of another leading size (weights, masks) stay as they are.
        size: the new leading size, at least 1.
    """
    old = leading_size(inputs)

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.dim() == 0 or leaf.shape[0] != old:
            return leaf
        repeats = (math.ceil(size / leaf.shape[0]),) + (1,) * (leaf.dim() - 1)
        return _vary(leaf.repeat(repeats)[:size].contiguous(), leaf.shape[0])

    return tuple(tree_map(one, list(inputs)))


def _vary(repeated: torch.Tensor, given: int) -> torch.Tensor:
    """Make repeated numbers a little smaller at random: equal ones round alike, and their errors add up steeply."""
    if not repeated.is_floating_point() or repeated.shape[0] <= given:
        return repeated
    factors = 0.75 + 0.25 * torch.rand(repeated.shape, generator=torch.Generator().manual_seed(given))
    factors[:given] = 1.0
    return (repeated * factors).to(repeated.dtype)


def elements(inputs: Inputs) -> int:
    """Count the elements of the largest tensor."""
    return max((leaf.numel() for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)), default=0)


def past_float32(inputs: Inputs) -> Inputs | None:
    """Move integer inputs past 2**24, where float32 holds no odd integers; None where there are no such inputs."""
    wide = (torch.int32, torch.int64)
    found = [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor) and leaf.dtype in wide]
    if not found:
        return None

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in wide:
            return tensor
        # odd and even ones next to each other: of a sum of two, at least one is odd
        parity = (torch.arange(tensor.numel()) % 2).view(tensor.shape)
        return (tensor // 2 * 2 + EXACT_IN_FLOAT32 + parity).to(tensor.dtype)

    return tuple(tree_map_only(torch.Tensor, one, list(inputs)))


def check_inputs(inputs: Any) -> None:
    """Refuse inputs that would be unpacked by mistake.

    Raises:
        TypeError: when `inputs` is one tensor or no sequence.
    """
    if isinstance(inputs, torch.Tensor):
        raise TypeError("inputs is one tensor; pass a tuple of arguments: inputs=(x,)")
    if not isinstance(inputs, Sequence) or isinstance(inputs, str):
        raise TypeError(f"inputs is a {type(inputs).__name__}; pass a tuple of arguments, such as inputs=(x,)")
