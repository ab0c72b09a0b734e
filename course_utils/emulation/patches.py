"""What Python code can ask of a Mac's torch, answered for the emulated device.

Every answer is a plain replacement of one attribute, so that `context` can put the original back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
import torch.mps.event

from course_utils.data.versions import exactly
from course_utils.emulation import counted_shaders, messages
from course_utils.emulation.generator import GeneratorFactory
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import DEVICE, data_of_storage, is_emulated, new_storage, to_cpu_view
from course_utils.metal.library import ShaderLibrary, compile_source

# owner, attribute, replacement
Patch = tuple[Any, str, Any]

_BASE: Any = torch._C.TensorBase
_STORAGE: Any = torch._C.StorageBase
_TYPE_NAMES = {
    torch.float32: "FloatTensor",
    torch.float16: "HalfTensor",
    torch.bfloat16: "BFloat16Tensor",
    torch.int64: "LongTensor",
    torch.int32: "IntTensor",
    torch.int16: "ShortTensor",
    torch.int8: "CharTensor",
    torch.uint8: "ByteTensor",
    torch.bool: "BoolTensor",
    torch.complex64: "ComplexFloatTensor",
}


def tensor_attributes() -> Iterator[Patch]:
    """List what a tensor of the device answers in Python, where C++ would say "meta"."""

    def attribute(name: str, on_device: Any) -> Patch:
        original = getattr(_BASE, name)

        def get(tensor: torch.Tensor) -> Any:
            with torch._C.DisableTorchFunction():
                return on_device if is_emulated(tensor) else original.__get__(tensor)

        return torch.Tensor, name, property(get)

    yield attribute("device", DEVICE)
    yield attribute("is_mps", True)
    yield attribute("is_meta", False)
    yield attribute("is_cpu", False)

    def method(name: str, on_device: Any) -> Patch:
        original = getattr(torch.Tensor, name)

        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                emulated = is_emulated(tensor)
            return on_device(tensor, original, *args, **kwargs) if emulated else original(tensor, *args, **kwargs)

        call.__name__ = name
        return torch.Tensor, name, call

    def numpy(*_: Any, force: bool = False, **__: Any) -> Any:
        if force:
            return _[0].detach().cpu().resolve_conj().resolve_neg().numpy()
        raise TypeError(messages.not_numpy())

    def tensor_type(tensor: torch.Tensor, original: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is None:
            return f"torch.mps.{_TYPE_NAMES.get(tensor.dtype, 'Tensor')}"
        return original(tensor, dtype, **kwargs)

    yield method("numpy", numpy)
    yield method("type", tensor_type)
    yield method("get_device", lambda *_: 0)
    yield method("data_ptr", lambda tensor, _: _address(tensor))
    yield method("is_pinned", lambda *_, **__: False)
    yield method("__dlpack__", _no_dlpack)


def _address(tensor: torch.Tensor) -> int:
    with torch._C.DisableTorchFunction():
        return to_cpu_view(tensor).data_ptr()


def _memory_of(tensor: torch.Tensor) -> torch.Tensor | None:
    return to_cpu_view(tensor) if is_emulated(tensor) else None


def _no_dlpack(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(
        "the emulated MPS device does not hand its memory to other libraries; copy the tensor with .cpu() first"
    )


def storage_attributes(runtime: Runtime) -> Iterator[Patch]:
    """List what a storage of the device answers; torch.save and torch.load ask for these."""

    def device(storage: torch.UntypedStorage) -> Any:
        return DEVICE if data_of_storage(storage) is not None else _STORAGE.device.__get__(storage)

    def to_mps(storage: torch.UntypedStorage) -> torch.UntypedStorage:
        if data_of_storage(storage) is not None:
            return storage
        with torch._C.DisableTorchFunction():
            result = new_storage(torch.empty(storage.nbytes(), dtype=torch.uint8, device="cpu"), runtime.meter)
            _bytes_of(result, DEVICE).copy_(_bytes_of(storage, torch.device("cpu")))
            return result

    original_cpu: Any = torch.UntypedStorage.cpu

    def to_cpu(storage: torch.UntypedStorage) -> Any:
        if data_of_storage(storage) is None:
            return original_cpu(storage)
        with torch._C.DisableTorchFunction():
            result = torch.empty(storage.nbytes(), dtype=torch.uint8, device="cpu")
            return result.copy_(_bytes_of(storage, DEVICE)).untyped_storage()

    def data_ptr(storage: torch.UntypedStorage) -> int:
        data = data_of_storage(storage)
        return int(_STORAGE.data_ptr(storage)) if data is None else data.untyped_storage().data_ptr()

    yield torch.UntypedStorage, "device", property(device)
    yield torch.UntypedStorage, "mps", to_mps
    yield torch.UntypedStorage, "cpu", to_cpu
    yield torch.UntypedStorage, "data_ptr", data_ptr


def _bytes_of(storage: torch.UntypedStorage, device: torch.device) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=device).set_(storage)


def _memory_of_this_machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _only_metal(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError(
        "the emulated MPS device has no Metal of its own: compiled Metal libraries, captures and traces need a Mac"
    )


def mps_functions(runtime: Runtime) -> Iterator[Patch]:
    """List the C functions behind torch.mps and torch.backends.mps, which builds without MPS lack or refuse."""

    def synchronize() -> None:
        runtime.recorder.note_wait("", "torch.mps.synchronize", "synchronize")

    def compile_shader(source: Any) -> ShaderLibrary:
        return compile_source(source, _memory_of, on_launch=counted_shaders.note_emulated)

    macos = exactly(runtime.macos or "0").line

    answers: dict[str, Any] = {
        "_has_mps": True,
        "_mps_is_available": lambda: True,
        "_mps_is_in_bad_fork": lambda: False,
        "_mps_is_on_macos_or_newer": lambda major, minor: runtime.macos is None or (major, minor) <= macos,
        "_mps_get_name": lambda: "emulated MPS (no GPU)",
        "_mps_get_core_count": lambda: 0,
        "_mps_get_default_generator": lambda: runtime.generator,
        "_mps_deviceSynchronize": synchronize,
        "_mps_emptyCache": lambda: runtime.recorder.note_wait("", "torch.mps.empty_cache", "synchronize"),
        "_mps_setMemoryFraction": lambda _: None,
        "_mps_currentAllocatedMemory": lambda: runtime.meter.allocated_bytes,
        "_mps_driverAllocatedMemory": lambda: runtime.meter.peak_bytes,
        # about two thirds of memory is what Metal recommends on most Macs
        "_mps_recommendedMaxMemory": lambda: _memory_of_this_machine() * 2 // 3,
        "_mps_compileShader": compile_shader,
        "_mps_loadMetalllib": _only_metal,
        "_mps_loadMetallibFromPath": _only_metal,
        "_mps_profilerStartTrace": _only_metal,
        "_mps_profilerStopTrace": _only_metal,
        "_mps_startCapture": _only_metal,
        "_mps_host_alias_storage": _only_metal,
    }
    for name, answer in answers.items():
        yield torch._C, name, answer
    yield torch._C, "_group_tensors_by_device_and_dtype", _group_tensors
    yield torch.mps, "_default_mps_generator", None
    # torch's own function opens whatever file a source includes, before it calls the one above
    yield torch.mps, "compile_shader", compile_shader
    yield counted_shaders, "emulated_note", runtime.recorder.note_operator
    yield torch, "Generator", GeneratorFactory
    event = _make_event(runtime)
    yield torch.mps, "Event", event
    yield torch.mps.event, "Event", event


_grouped_by_torch: Any = torch._C._group_tensors_by_device_and_dtype


def _group_tensors(tensors: Any, with_indices: bool = False) -> dict[Any, Any]:
    """Group tensors as optimizers do, under the device that Python knows instead of the one that C++ hears."""
    with torch._C.DisableTorchFunction():
        grouped = _grouped_by_torch(tensors, with_indices)
        return {
            (DEVICE if any(t is not None and is_emulated(t) for t in lists[0]) else device, dtype): (lists, indices)
            for (device, dtype), (lists, indices) in grouped.items()
        }


def _make_event(runtime: Runtime) -> type:
    """Make the class that stands in for torch.mps.Event; it waits for nothing and gives no time."""

    class Event:
        """Marks a place in the queue of the emulated device, whose work is always done."""

        def __init__(self, enable_timing: bool = False) -> None:
            self.enable_timing = enable_timing

        def record(self) -> None:
            """Do nothing."""

        def wait(self) -> None:
            """Do nothing."""

        def query(self) -> bool:
            """Return True: all work before the event is done."""
            return True

        def synchronize(self) -> None:
            """Count a host wait."""
            runtime.recorder.note_wait("", "torch.mps.Event.synchronize", "synchronize")

        def elapsed_time(self, end_event: Event) -> float:
            """Refuse: the emulated device never gives a time."""
            del end_event
            raise RuntimeError("the emulated MPS device never gives a time; measure on a Mac")

    return Event


def accelerator_functions(runtime: Runtime) -> Iterator[Patch]:
    """List the C functions behind torch.accelerator."""

    def synchronize(_: int = 0) -> None:
        runtime.recorder.note_wait("", "torch.accelerator.synchronize", "synchronize")

    def stats(_: int = 0) -> dict[str, Any]:
        now, peak = runtime.meter.allocated_bytes, runtime.meter.peak_bytes
        figures = {"current": now, "peak": peak, "allocated": peak, "freed": peak - now}
        return {"allocated_bytes": {"all": figures}, "reserved_bytes": {"all": figures}}

    def reset_peak(_: int = 0) -> None:
        runtime.meter.peak_bytes = runtime.meter.allocated_bytes

    answers: dict[str, Any] = {
        "_accelerator_getAccelerator": lambda: torch.device("mps"),
        "_accelerator_getDeviceIndex": lambda: 0,
        "_accelerator_setDeviceIndex": lambda _: None,
        "_accelerator_exchangeDevice": lambda _: 0,
        "_accelerator_maybeExchangeDevice": lambda _: 0,
        "_accelerator_synchronizeDevice": synchronize,
        "_accelerator_emptyCache": lambda: runtime.recorder.note_wait(
            "", "torch.accelerator.empty_cache", "synchronize"
        ),
        "_accelerator_isAllocatorInitialized": lambda: True,
        "_accelerator_getDeviceStats": stats,
        "_accelerator_resetPeakStats": reset_peak,
        "_accelerator_resetAccumulatedStats": lambda _=0: None,
        "_accelerator_getDefaultGenerator": lambda _=0: runtime.generator,
    }
    for name, answer in answers.items():
        yield torch._C, name, answer
