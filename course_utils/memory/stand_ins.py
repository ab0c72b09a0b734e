"""Tensors that stand for a model's real ones while it is traced: fake, meta, or copies on the CPU.

Fake CPU tensors (torch._subclasses, the tensors that torch.compile traces with) follow the CPU's route through the
dispatcher and hold no numbers. StandIn a model mixes in meta tensors of its own, plain meta tensors do; where it reads
numbers, only a real run on copies can tell.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_utils.memory.settings import RouteDevice

StandIn = Literal["fake", "meta", "real"]


@contextlib.contextmanager
def tracing_context(where: StandIn, device: RouteDevice) -> Iterator[None]:
    """Trace with fake tensors if wanted, and along the device's route through attention.

    On MPS training goes through the composite attention that keeps the attention matrix, and encoder layers have no
    fused fast path (torch 2.9-2.14); on the CPU torch chooses as it does in a real run.
    """
    with contextlib.ExitStack() as stack:
        if where == "fake":
            stack.enter_context(_quiet_log())
            stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        if device == "mps":
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            stack.enter_context(_no_encoder_fast_path())
        yield


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    """Keep fake tensors from logging a traceback for an error that is raised as well (torch 2.14)."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


@contextlib.contextmanager
def _no_encoder_fast_path() -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def stand_in(tensor: torch.Tensor, where: StandIn, dtype: torch.dtype | None) -> torch.Tensor:
    """Make a tensor of the same shape and layout; only a "real" one has the same numbers.

    Args:
        tensor: the tensor to stand for, on any device.
        where: what to make.
        dtype: replaces floating-point dtypes; others stay.
    """
    chosen = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
    if where == "real" and tensor.device.type != "meta":
        return tensor.detach().to(device="cpu", dtype=chosen, copy=True)
    if where == "real":
        return torch.zeros(tensor.shape, dtype=chosen, device="cpu")
    device = "cpu" if where == "fake" else "meta"
    # moving to a device keeps strides only where a tensor fills its memory; an expanded one is written out
    span = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    if tensor.numel() and span == tensor.numel():
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=chosen, device=device)
    return torch.empty(tensor.shape, dtype=chosen, device=device)


def stand_in_parameters(model: nn.Module, where: StandIn, dtype: torch.dtype | None) -> dict[str, nn.Parameter]:
    """Make stand-ins of a model's parameters by name; a tied one appears once, and frozen ones stay frozen."""
    return {
        name: nn.Parameter(stand_in(parameter, where, dtype), requires_grad=parameter.requires_grad)
        for name, parameter in model.named_parameters()
    }


def resize_batch(value: Any, dimension: int, old: int, new: int) -> Any:
    """Return a tensor with another batch size, where its size in that dimension is the old batch.

    Returns:
        A meta tensor for a changed batch, else the value itself.
    """
    if not isinstance(value, torch.Tensor) or value.dim() <= dimension or value.shape[dimension] != old:
        return value
    shape = list(value.shape)
    shape[dimension] = new
    return torch.empty(shape, dtype=value.dtype, device="meta", requires_grad=value.requires_grad)
