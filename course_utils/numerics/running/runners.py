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


def copied(fn: Fn) -> Fn:
    """Copy a module whose parameters share the given ones' memory, and with it their strides; buffers are copied.

    `copy.deepcopy` alone would make sliced parameters contiguous, and hide every fault that needs them. A plain
    callable stays as it is.
    """
    if not isinstance(fn, nn.Module):
        return fn
    shared = {id(p): nn.Parameter(p.detach(), p.requires_grad) for p in fn.parameters() if type(p) is nn.Parameter}
    module: Fn = copy.deepcopy(fn, shared)
    return module


def on(fn: Fn, device: torch.device | str) -> Fn:
    """Copy a module to a device with the strides of its parameters; a plain callable stays as it is."""
    there = copied(fn)
    if isinstance(there, nn.Module) and torch.device(device).type != "cpu":
        with torch.no_grad():
            moved: Fn = there._apply(lambda tensor: move(tensor, device))  # type: ignore[no-untyped-call]
        return moved
    return there


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


class LookedAt(nn.Module):
    """Calls another callable while a mode is active, inside of whatever the device does around it.

    Args:
        fn: the callable.
        mode: a context manager, such as a dispatch mode.
    """

    def __init__(self, fn: Fn, mode: Any) -> None:
        super().__init__()
        self.fn = fn
        self._mode = [mode]  # not copied with the module

    def __deepcopy__(self, memo: dict[int, Any]) -> LookedAt:
        """Copy the callable and keep the mode."""
        return LookedAt(copied(self.fn), self._mode[0])

    def forward(self, *inputs: Any) -> Any:
        """Call under the mode."""
        with self._mode[0]:
            return self.fn(*inputs)
