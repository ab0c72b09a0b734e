"""The function mode of the emulated device: it completes "mps" to "mps:0" and notes what the caller called.

C++ looks up the index of a device given without one, asks a device guard for it, and aborts the call with
"PyTorch is not linked with support for mps devices". With an index it never asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device as default_device
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from course_utils.emulation.dispatch_counter import tensors_in
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import DENSE_ONLY, DEVICE, UNSUPPORTED, is_emulated, is_really_meta

_WITHOUT_INDEX = torch.device("mps")
_MPS = ("mps", "mps:0")
# these build on the CPU and copy, on a Mac too, and their C++ wants a device guard even with an index
_FROM_DATA: tuple[Callable[..., Any], ...] = (torch.tensor, torch.as_tensor, torch.asarray)

# C++ prints the device of a tensor, and the name of its type ("MetaFloatType")
_META_DEVICE = re.compile(r"\bmeta\b")
_META_TYPE = re.compile(r"\bMeta(?=[A-Za-z0-9]*Type\b)")
_TO_DOUBLE = frozenset({torch.Tensor.double, torch.Tensor.cdouble})  # type: ignore[attr-defined]
_INDEXING: tuple[Callable[..., Any], ...] = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)


def _complete(value: Any) -> Any:
    if isinstance(value, torch.device):
        return DEVICE if value == _WITHOUT_INDEX else value
    if isinstance(value, str) and value in _MPS:
        return DEVICE
    return value


def _is_mps(value: Any) -> bool:
    return isinstance(value, torch.device) and value == DEVICE


def _refuse_sparse(args: tuple[Any, ...]) -> None:
    if args and isinstance(args[0], torch.Tensor) and args[0].layout is not torch.strided:
        raise NotImplementedError(DENSE_ONLY.format(layout=args[0].layout))


def _is_meta_device(value: Any) -> bool:
    return (isinstance(value, torch.device) and value.type == "meta") or (isinstance(value, str) and value == "meta")


class DeviceFunctionMode(TorchFunctionMode):
    """Sees every torch function that the caller's code calls on this thread.

    Args:
        runtime: the device whose current call this mode keeps.
    """

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime
        self.meta_in_use = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.device:  # torch.device("mps") has no index on a Mac either
            return func(*args, **(kwargs or {}))
        args = tuple(map(_complete, args))
        kwargs = {name: _complete(value) for name, value in kwargs.items()} if kwargs else {}
        default = default_device.CURRENT_DEVICE
        if default is not None and kwargs.get("device") is None and func in default_device._device_constructors():
            kwargs["device"] = _complete(default)
        if any(map(_is_mps, args)) or _is_mps(kwargs.get("device")):
            _refuse_sparse(args)
        call = self.runtime.recorder.call
        outermost = not call.name
        real_meta = self._means_meta(args, kwargs)
        asked_float64 = _asks_for_float64(func, args, kwargs)
        if outermost:
            call.name, call.waited = getattr(func, "__name__", ""), False
        call.real_meta += real_meta
        call.asked_float64 += asked_float64
        try:
            return self._run(func, args, kwargs)
        except (RuntimeError, NotImplementedError) as error:
            if not real_meta:
                name_device(error)
            raise
        finally:
            call.real_meta -= real_meta
            call.asked_float64 -= asked_float64
            if outermost:
                call.name = ""

    def _run(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func in _FROM_DATA and _is_mps(kwargs.get("device")):
            return _from_data(func, args, kwargs)
        if func is torch.Tensor.new_tensor and is_emulated(args[0]):
            return _from_data(torch.tensor, args[1:], {"dtype": args[0].dtype, "device": DEVICE} | kwargs)
        if func in _INDEXING and is_emulated(args[0]):
            return func(args[0], _with_tensors(args[1]), *args[2:])
        if (
            func is torch.Tensor.to
            and is_emulated(args[0])
            and (any(map(_is_mps, args[1:2])) or _is_mps(kwargs.get("device")))
        ):
            return _change_in_place(*args, **kwargs)
        return func(*args, **kwargs)

    def _means_meta(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether the caller means the meta device itself, by name or with tensors that live there."""
        if _is_meta_device(kwargs.get("device")) or any(map(_is_meta_device, args)):
            self.meta_in_use = True
            return True
        if not self.meta_in_use:
            return False
        with torch._C.DisableTorchFunction():
            return any(map(is_really_meta, tensors_in((args, kwargs))))


def _asks_for_float64(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the caller's code asks for a dtype that Metal lacks; C++ never does so on MPS."""
    if func in _TO_DOUBLE or torch.get_default_dtype() is torch.float64:
        return True
    return any(value in UNSUPPORTED for value in (*args[1:], *kwargs.values()) if isinstance(value, torch.dtype))


def _change_in_place(
    tensor: torch.Tensor,
    device: Any = None,
    dtype: torch.dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    *,
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """Do what is left of `Tensor.to` for a tensor that is on the device already: its dtype, or a copy."""
    if dtype in {None, tensor.dtype} and not copy and memory_format is None:
        return tensor
    dtype = dtype or tensor.dtype
    if memory_format is None:
        return tensor.to(dtype, non_blocking, copy)
    return tensor.to(dtype, non_blocking, copy, memory_format=memory_format)


def name_device(error: Exception) -> None:
    """Write "mps:0" into the text of an error of torch's C++, which sees device "meta" on the device's tensors."""
    if error.args and isinstance(error.args[0], str):
        text = _META_TYPE.sub("MPS", _META_DEVICE.sub("mps:0", error.args[0]))
        error.args = (text, *error.args[1:])


def _with_tensors(index: Any) -> Any:
    """Make tensors of the lists and arrays in an index, on the CPU and then copied, as C++ does for a real device."""
    if isinstance(index, tuple):
        return tuple(map(_with_tensors, index))
    is_array = getattr(index, "ndim", 0) > 0 and not isinstance(index, torch.Tensor)
    if is_array or (isinstance(index, list) and all(isinstance(item, int) for item in index)):
        numbers = torch.as_tensor(index, device="cpu")
        return (numbers if numbers.numel() else numbers.long()).to(DEVICE)
    if isinstance(index, list):
        return list(map(_with_tensors, index))
    return index


def _from_data(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    requires_grad = kwargs.pop("requires_grad", False)
    del kwargs["device"]
    data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
    if isinstance(data, torch.Tensor) and is_emulated(data):
        result: torch.Tensor = func(*args, **kwargs)
    elif isinstance(data, torch.Tensor) or hasattr(data, "__array_interface__"):
        result = func(*args, **kwargs).to(DEVICE)
    else:
        with _disable_current_modes():  # as torch/csrc/utils/tensor_new.cpp does for numbers (torch 2.9 to 2.15)
            result = func(*args, **kwargs).to(DEVICE)
    return result.requires_grad_() if requires_grad else result


def keep_mode_in_backward(mode: DeviceFunctionMode) -> tuple[Any, str, Callable[..., Any]]:
    """Keep the mode on while autograd runs the caller's hooks and functions; torch switches it off there.

    Returns:
        Owner, name and replacement of the one place through which Tensor.backward, torch.autograd.backward and
        torch.autograd.grad start the engine (private, unchanged from torch 2.3 to 2.15).
    """
    original = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run(*args: Any, **kwargs: Any) -> Any:
        call = mode.runtime.recorder.call
        name, call.name = call.name, ""
        try:
            with mode:
                return original(*args, **kwargs)
        except (RuntimeError, NotImplementedError) as error:
            name_device(error)
            raise
        finally:
            call.name = name

    return torch.autograd, "_engine_run_backward", run
