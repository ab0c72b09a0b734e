"""Inputs of a comparison: drawn once on the CPU, cast, copied and moved with their strides.

The same seed gives other numbers on another device (pytorch #84288, #153102), so nothing is ever drawn on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

Inputs = tuple[Any, ...]


def draw(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Draw a tensor of normal numbers on the CPU.

    Args:
        shape: its sizes.
        dtype: a floating-point dtype; the numbers are drawn in float32 and rounded to it.
        seed: the same seed gives the same numbers on every machine.
    """
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


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
    if tensor.layout != torch.strided or covers_its_memory(tensor):
        return change(tensor)
    length = tensor.untyped_storage().nbytes() // tensor.element_size()
    whole = tensor.as_strided((length,), (1,), 0)
    return change(whole).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def covers_its_memory(tensor: torch.Tensor) -> bool:
    """Return whether a strided tensor is contiguous and there is nothing else in its memory."""
    return tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def contiguous(inputs: Inputs) -> Inputs:
    """Return the same values in contiguous memory."""
    return tuple(tree_map_only(torch.Tensor, lambda t: t.contiguous(), list(inputs)))


def elements(inputs: Inputs) -> int:
    """Count the elements of the largest tensor."""
    return max((leaf.numel() for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)), default=0)


def check_inputs(inputs: Any) -> None:
    """Refuse inputs that would be unpacked by mistake.

    Raises:
        TypeError: when `inputs` is one tensor or no sequence.
    """
    if isinstance(inputs, torch.Tensor):
        raise TypeError("inputs is one tensor; pass a tuple of arguments: inputs=(x,)")
    if not isinstance(inputs, Sequence) or isinstance(inputs, str):
        raise TypeError(f"inputs is a {type(inputs).__name__}; pass a tuple of arguments, such as inputs=(x,)")
