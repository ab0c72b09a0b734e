"""Autocast for the emulated device.

torch's own kernels for the AutocastMPS key cast only what C++ finds on an MPS device, so they are replaced
by these, with the same policies (ATen/autocast_mode.cpp, torch 2.9 to 2.15). Which operators take part is
read from the dispatcher; two short lists name those that do not run in float32. Torch also caches the cast
of each weight until the block ends, which changes counts, not results; that cache is not emulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_utils.emulation.call import resolve
from course_utils.emulation.tensor import is_emulated

KEY = "AutocastMPS"
LOWER_PRECISION = frozenset(
    (
        *("_convolution", "_convolution.deprecated", "_mps_convolution", "convolution", "conv_tbc"),
        *("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"),
        *("linear", "matmul", "mm", "mv", "bmm", "baddbmm", "addbmm", "addmm", "addmv", "addr", "einsum"),
        *("chain_matmul", "linalg_multi_dot", "prelu", "scaled_dot_product_attention"),
        *("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"),
    )
)
PROMOTE = frozenset(
    (
        *("addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put"),
        *("tensordot", "scatter_add", "stack", "cat"),
    )
)


def operators() -> list[str]:
    """List the overloads for which this torch has an autocast kernel on MPS."""
    return [
        name.removeprefix("aten::")
        for name in torch._C._dispatch_get_registrations_for_dispatch_key(KEY)
        if name.startswith("aten::")
    ]


def _is_eligible(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and is_emulated(value)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if _is_eligible(value) and value.dtype is not dtype else value
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    return value


def _tensors(values: Any) -> list[torch.Tensor]:
    found = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += _tensors(value)
        elif _is_eligible(value):
            found.append(value)
    return found


def _target(name: str, args: tuple[Any, ...]) -> torch.dtype:
    lower = torch.get_autocast_dtype("mps")
    if name in LOWER_PRECISION:
        return lower
    if name in PROMOTE:
        widths = [tensor.dtype for tensor in _tensors(args)]
        return torch.float32 if torch.float32 in widths else lower
    return torch.float32


def make_kernel(name: str) -> Callable[..., Any] | None:
    """Make the autocast kernel of one overload; None where this torch lacks the overload."""
    operator = resolve(name)
    if operator is None:
        return None
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, KEY))

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction(), torch._C._ExcludeDispatchKeyGuard(keys):
            dtype = _target(name, args)
            cast_kwargs = {key: _cast(value, dtype) for key, value in kwargs.items()}
            return operator(*(_cast(arg, dtype) for arg in args), **cast_kwargs)

    return kernel
