"""Kernels that make, fill, read and resize the device's memory: factories, copies, scalars, storages."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.utils._device import _device_constructors

from course_utils.emulation import messages
from course_utils.emulation.events import Kernel
from course_utils.emulation.refusals import MpsRule, refusal
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import (
    DEVICE,
    UNSUPPORTED,
    data_of_storage,
    follow_cpu,
    from_cpu,
    is_emulated,
    make_meta,
    new_meta_storage,
    storage_of,
    to_cpu_view,
)

_META_KEY = torch._C.DispatchKey.Meta


# `copy_` counts itself where it is an operator and no copy between devices, `convolution` counts its parts
COMPOSITE = frozenset({"copy_", "convolution", "_convolution", "convolution_backward"})


def counted(runtime: Runtime, kernels: dict[str, Kernel]) -> dict[str, Kernel]:
    """Return kernels that count themselves when they run, and keep the caller's function modes out."""
    return {name: _counted(runtime, name, run) for name, run in kernels.items()}


def _counted(runtime: Runtime, name: str, run: Kernel) -> Kernel:
    qualified = f"aten::{name}"

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            if name not in COMPOSITE:
                runtime.recorder.note_operator(qualified)
            return run(*args, **kwargs)

    return kernel


def make_factories(runtime: Runtime) -> dict[str, Kernel]:
    """Make `empty` and `empty_strided`, from which torch's C++ builds every new tensor."""

    def empty(size: Any, *, dtype: Any = None, memory_format: Any = None, **_: Any) -> torch.Tensor:
        return from_cpu(torch.empty(size, dtype=dtype, device="cpu", memory_format=memory_format), runtime.meter)

    def empty_default(size: Any, *, dtype: Any = None, memory_format: Any = None, **_: Any) -> torch.Tensor:
        memory_format = torch.contiguous_format if memory_format is None else memory_format
        return empty(size, dtype=dtype, memory_format=memory_format)

    def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
        return from_cpu(torch.empty_strided(size, stride, dtype=dtype, device="cpu"), runtime.meter)

    return {"empty.memory_format": empty_default, "empty_strided": empty_strided}


def make_meta_factories(runtime: Runtime, on_device: dict[str, Kernel]) -> dict[str, Kernel]:
    """Make the kernels of every factory for the meta key.

    C++ asks a tensor of the device where it lives, hears "meta", and makes its temporaries there. Those
    belong on the emulated device, unless the caller said "meta". Where C++ asks "is this MPS?" before it takes a
    double (quantile, pinv, matrix_rank, lstsq, renorm), it hears no, so its doubles become float32 here.
    """

    def held(dtype: Any) -> Any:
        return dtype if runtime.recorder.call.asked_float64 else UNSUPPORTED.get(dtype, dtype)

    def plain(size: Any, stride: Any, dtype: Any) -> torch.Tensor:
        dtype = dtype or torch.get_default_dtype()
        n_elements = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        storage = new_meta_storage(n_elements * dtype.itemsize)
        return make_meta(tuple(size), tuple(stride), 0, dtype, storage)

    def empty(size: Any, *, dtype: Any = None, memory_format: Any = None, **kwargs: Any) -> torch.Tensor:
        if not runtime.recorder.call.real_meta:
            return on_device["empty.memory_format"](size, dtype=held(dtype), memory_format=memory_format, **kwargs)  # type: ignore[no-any-return]
        with torch._C.DisableTorchFunction():
            return plain(size, _strides(size, memory_format), dtype)

    def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **kwargs: Any) -> torch.Tensor:
        if not runtime.recorder.call.real_meta:
            return on_device["empty_strided"](size, stride, dtype=held(dtype), **kwargs)  # type: ignore[no-any-return]
        with torch._C.DisableTorchFunction():
            return plain(size, stride, dtype)

    def zero_tensor(size: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
        if not runtime.recorder.call.real_meta:
            return torch.zeros(size, dtype=held(dtype), device=DEVICE)
        return plain(size, _strides(size), dtype)

    def redirected(operator: Any) -> Kernel:
        def factory(*args: Any, **kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                if runtime.recorder.call.real_meta:
                    return operator._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, *args, **kwargs)
                return operator(*args, **{**kwargs, "dtype": held(kwargs.get("dtype")), "device": DEVICE})

        return factory

    return {
        **{name: redirected(operator) for name, operator in _composite_factories().items()},
        "_efficientzerotensor": zero_tensor,
        "empty.memory_format": empty,
        "empty_strided": empty_strided,
    }


def _strides(size: Any, memory_format: torch.memory_format | None = None) -> tuple[int, ...]:
    """Compute the strides that torch gives a new tensor; the CPU tensor made for it has one byte an element."""
    memory_format = torch.contiguous_format if memory_format is None else memory_format
    return torch.empty(size, dtype=torch.uint8, device="cpu", memory_format=memory_format).stride()


@cache
def _composite_factories() -> dict[str, Any]:
    """List the composite factories that torch gives a kernel of their own for meta tensors (zeros, full, ...)."""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    with_meta_kernel = set(torch._C._dispatch_get_registrations_for_dispatch_key("Meta"))
    found = {}
    for packet_name in {getattr(f, "__name__", "") for f in _device_constructors()} | {"scalar_tensor", "normal"}:
        packet = getattr(torch.ops.aten, packet_name, None)
        for overload in packet.overloads() if packet is not None else ():
            name = packet_name if overload == "default" else f"{packet_name}.{overload}"
            qualified = f"aten::{name}"
            if qualified not in with_meta_kernel or not has_kernel(qualified, "CompositeExplicitAutograd"):
                continue
            operator = getattr(packet, overload)
            if any(argument.name == "device" for argument in operator._schema.arguments):
                found[name] = operator
    return found


def make_memory_kernels(runtime: Runtime) -> dict[str, Kernel]:
    """Make the kernels that copy, read one value, or change a storage."""

    def copy_(destination: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        to_mps, from_mps = is_emulated(destination), is_emulated(source)
        if from_mps and not to_mps and destination.dtype in UNSUPPORTED and source.dtype is not destination.dtype:
            # the GPU casts before the copy: wrong numbers in 2.14.0 (pytorch #197715), refused before and after
            raise refusal(TypeError(messages.unsupported_dtype(destination.dtype)), MpsRule.UNSUPPORTED_DTYPE)
        there = to_cpu_view(destination) if to_mps else destination
        here = to_cpu_view(source) if from_mps else source
        there.copy_(here)
        if to_mps and from_mps:
            runtime.recorder.note_operator("aten::copy_")
        else:
            runtime.recorder.note_copy("to mps" if to_mps else "to cpu", there.nbytes, blocking=not non_blocking)
        return destination

    def copy_from(source: torch.Tensor, destination: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        return copy_(destination, source, non_blocking)

    def copy_from_and_resize(source: torch.Tensor, destination: torch.Tensor) -> torch.Tensor:
        destination.resize_(source.shape)
        return copy_(destination, source)

    def local_scalar_dense(tensor: torch.Tensor) -> Any:
        runtime.recorder.note_wait("aten::_local_scalar_dense")
        return to_cpu_view(tensor).item()

    def resize_(tensor: torch.Tensor, size: Any, *, memory_format: Any = None) -> torch.Tensor:
        view = to_cpu_view(tensor)
        view.resize_(size) if memory_format is None else view.resize_(size, memory_format=memory_format)
        follow_cpu(tensor, view)
        return tensor

    return {
        "copy_": copy_,
        "_copy_from": copy_from,
        "_copy_from_and_resize": copy_from_and_resize,
        "_local_scalar_dense": local_scalar_dense,
        "resize_": resize_,
        **_storage_kernels(runtime),
    }


def _storage_kernels(runtime: Runtime) -> dict[str, Kernel]:
    """Make the variants of `set_`, which tie a tensor to a storage; torch's meta kernels do exactly that."""
    set_ = torch.ops.aten.set_

    def from_storage(tensor: torch.Tensor, source: torch.UntypedStorage) -> torch.Tensor:
        n_elements = source.nbytes() // tensor.element_size()
        return from_storage_at(tensor, source, 0, (n_elements,), (1,))

    def from_storage_at(
        tensor: torch.Tensor, source: torch.UntypedStorage, offset: Any, size: Any, stride: Any = ()
    ) -> torch.Tensor:
        if data_of_storage(source) is None:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "mps:0" to a storage on different device '
                f'"{source.device}".  This is no longer allowed; the devices must match.'
            )
        stride = stride or _strides(size)
        set_.source_Storage_storage_offset._op_dk(_META_KEY, tensor, source, offset, size, stride)
        return tensor

    def from_tensor(tensor: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        return from_storage_at(tensor, storage_of(source), source.storage_offset(), source.size(), source.stride())

    def empty(tensor: torch.Tensor) -> torch.Tensor:
        return from_tensor(tensor, from_cpu(torch.empty(0, dtype=tensor.dtype, device="cpu"), runtime.meter))

    return {
        "set_": empty,
        "set_.source_Storage": from_storage,
        "set_.source_Storage_storage_offset": from_storage_at,
        "set_.source_Tensor": from_tensor,
    }
