"""Where a callable runs: a torch device, or anything else with a name and a `run`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from course_utils.devices import probe as device_probe
from course_utils.numerics.tensors.inputs import Inputs, cast, fresh, move

Fn = Callable[..., Any]


@runtime_checkable
class DeviceRunner(Protocol):
    """Something that computes: a torch device, or a device with a planted fault."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def run(self, fn: Fn, inputs: Inputs) -> Any:
        """Call `fn(*inputs)` there.

        Args:
            fn: a callable, or a module on the CPU, which must not be changed.
            inputs: tensors on the CPU whose strides matter, and other values.

        Returns:
            What `fn` returns; tensors may be on any device.
        """


class TorchDevice:
    """A device that torch knows.

    Args:
        device: its name, such as "mps"; it has to work here.
    """

    def __init__(self, device: str | torch.device) -> None:
        self.device = device_probe.require_usable(device)

    @property
    def name(self) -> str:
        """The device's name."""
        return str(self.device)

    def run(self, fn: Fn, inputs: Inputs) -> Any:
        """Copy a module and the inputs to the device, call, and wait."""
        there = tuple(tree_map_only(torch.Tensor, lambda t: move(t, self.device), list(inputs)))
        outputs = on(fn, self.device)(*there)
        device_probe.synchronize(self.device)
        return outputs


def on(fn: Fn, device: torch.device | str) -> Fn:
    """Copy a module to a device; a plain callable stays as it is."""
    return copy.deepcopy(fn).to(device) if isinstance(fn, nn.Module) else fn


def at_dtype(fn: Fn, dtype: torch.dtype) -> Fn:
    """Copy a module with its floating-point numbers in the dtype; a plain callable stays as it is."""
    if not isinstance(fn, nn.Module):
        return fn
    with torch.no_grad():
        lower: Fn = copy.deepcopy(fn)._apply(lambda tensor: cast(tensor, dtype))  # type: ignore[no-untyped-call]
    return lower


def run_on_cpu(fn: Fn, inputs: Inputs) -> Any:
    """Call a copy of a module, or the callable, with copies of the inputs on the CPU."""
    return on(fn, "cpu")(*fresh(inputs))


class _ObservedModule(nn.Module):
    def __init__(self, fn: nn.Module) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *inputs: Any) -> dict[str, Any]:
        output = self.fn(*inputs)
        buffers = {f"buffer {name}": buffer for name, buffer in self.fn.named_buffers()}
        return {"output": output, **_after(inputs), **buffers}


def observed(fn: Fn) -> Fn:
    """Wrap a callable so that what it wrote into its inputs and buffers comes back beside its output."""
    if isinstance(fn, nn.Module):
        return _ObservedModule(fn)
    return lambda *inputs: {"output": fn(*inputs), **_after(inputs)}


def _after(inputs: Inputs) -> dict[str, Any]:
    return {f"input {place} after the call": value for place, value in enumerate(inputs)}
