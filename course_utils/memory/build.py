"""Make what a trace needs from what a user passes: the model, the call, the batch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course_utils.memory.tracing import tensors_in


def build_model(model: Any) -> tuple[nn.Module, str | None]:
    """Return the model, made on meta where a function makes it; and a warning where that was not possible.

    Raises:
        ValueError: when it is not a model, or has parameters without a shape.
    """
    warning = None
    if not isinstance(model, nn.Module):
        if not callable(model):
            raise ValueError(f"model is a {type(model).__name__}; pass a torch.nn.Module or a function that makes one")
        model, warning = _make(model)
    lazy = [name for name, p in model.named_parameters() if isinstance(p, nn.parameter.UninitializedParameter)]
    if lazy:
        raise ValueError(f"parameter {lazy[0]!r} has no shape yet (a lazy module); run the model once, then estimate")
    return model, warning


def _make(maker: Callable[[], Any]) -> tuple[nn.Module, str | None]:
    warning = None
    try:
        with torch.device("meta"):
            built = maker()
    except (RuntimeError, NotImplementedError) as error:
        warning = f"the model could not be made on meta ({first_line(error)}), so it was made with real weights"
        built = maker()
    if not isinstance(built, nn.Module):
        raise ValueError(f"the function made a {type(built).__name__}; it has to make a torch.nn.Module")
    return built, warning


def as_call(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return inputs as positional arguments and arguments by name."""
    if isinstance(inputs, dict):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)), {}


def batch_of(inputs: Any, dimension: int | None) -> int | None:
    """Return the batch, read from the first input tensor; None where it has none, or an empty one."""
    tensors = tensors_in(inputs)
    if dimension is None or not tensors or tensors[0].dim() <= dimension:
        return None
    return tensors[0].shape[dimension] or None


def describe_tensor(tensor: torch.Tensor, dtype: torch.dtype | None) -> str:
    """Return a tensor's shape and dtype as text, such as "8x64 float32"; `dtype` replaces a floating-point one."""
    chosen = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
    return f"{'x'.join(map(str, tensor.shape)) or 'scalar'} {str(chosen).removeprefix('torch.')}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text that is not empty, without a full stop, else its type."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return textwrap.shorten((lines or [type(error).__name__])[0].rstrip("."), 200, placeholder=" ...")
