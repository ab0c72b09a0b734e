"""What a tensor of the emulated device is: a meta tensor with the MPS dispatch key, its data in CPU memory.

The data belongs to the storage, as on a real device, not to the Python object: the meta storage carries a
CPU tensor over the same bytes. So views, `param.data = ...`, `set_` and everything else that C++ does to
sizes, strides and storages works unchanged, and `type(t)` stays torch.Tensor.

C++ asks such a tensor for its device and hears "meta", for which it has a device guard; a tensor whose C++
device says "mps" aborts the process in autograd where torch was built without MPS. Python hears "mps:0"
(module `patches`). Private API: `torch.Tensor._make_subclass(..., device_for_backend_keys=)` and
`torch._C._dispatch_keys`, both in torch since 2.1 at the latest.
"""

from __future__ import annotations

from typing import Any

import torch

from course_utils.emulation import messages
from course_utils.emulation.refusals import MpsRule, refusal

DEVICE = torch.device("mps", 0)
DENSE_ONLY = (
    "the emulated MPS device holds dense tensors only, not {layout}; call .to_dense() first "
    "(on a Mac, torch 2.9 and later hold sparse COO tensors)"
)

_BASE: Any = torch._C.TensorBase
_Storage: Any = torch.UntypedStorage
_is_meta = _BASE.is_meta.__get__
storage_of = _BASE.untyped_storage
_keys = torch._C._dispatch_keys
_MPS_KEY = torch._C.DispatchKey.MPS
_META_KEY = torch._C.DispatchKey.Meta
_SET = torch.ops.aten.set_.source_Storage_storage_offset
_ATTRIBUTE = "_emulated_data"
# what MPS holds, and float64 and complex128 for plain meta tensors
_DTYPES = (
    *(torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128),
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2),
)
# what Metal lacks, and what C++ takes instead where it asks whether a tensor is on MPS
UNSUPPORTED = {torch.float64: torch.float32, torch.complex128: torch.complex64}
_templates: dict[torch.dtype, torch.Tensor] = {}


class Meter:
    """Bytes held by living storages of the device, and the most there ever were."""

    def __init__(self) -> None:
        self.allocated_bytes = 0
        self.peak_bytes = 0

    def add(self, n_bytes: int) -> None:
        """Count an allocation, or with a negative number a release."""
        self.allocated_bytes += n_bytes
        self.peak_bytes = max(self.peak_bytes, self.allocated_bytes)


class _Data:
    """The CPU memory behind one storage of the device; leaves the meter when the storage dies."""

    __slots__ = ("cpu", "meter", "n_bytes")

    def __init__(self, cpu: torch.Tensor, meter: Meter) -> None:
        self.cpu = cpu
        self.meter = meter
        self.n_bytes = cpu.untyped_storage().nbytes()
        meter.add(self.n_bytes)

    def __del__(self) -> None:
        self.meter.add(-self.n_bytes)


def is_really_meta(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a meta tensor of the caller's, not one of the device."""
    return bool(_is_meta(tensor)) and not _keys(tensor).has(_MPS_KEY)


def is_emulated(tensor: torch.Tensor) -> bool:
    """Return whether a tensor lives on the emulated device."""
    return bool(_is_meta(tensor)) and _keys(tensor).has(_MPS_KEY)


def prepare_templates() -> None:
    """Make an empty meta tensor of every dtype, while `empty` still means torch's own kernel."""
    for dtype in _DTYPES:
        if dtype not in _templates:
            _templates[dtype] = torch.empty(0, dtype=dtype, device="meta")


def new_meta_storage(n_bytes: int) -> torch.UntypedStorage:
    """Make a storage without memory."""
    storage: torch.UntypedStorage = _Storage(n_bytes, device="meta")
    return storage


def make_meta(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int, dtype: torch.dtype, storage: torch.UntypedStorage
) -> torch.Tensor:
    """Make a plain meta tensor over a given meta storage."""
    if dtype not in _templates:
        raise TypeError(f"the emulated MPS device holds no {dtype}; it holds {', '.join(map(str, _DTYPES))}")
    meta = _templates[dtype].data  # with a version counter of its own, which autograd compares
    return meta.set_(storage, offset, size, stride)


def from_cpu(cpu: torch.Tensor, meter: Meter, storages: dict[int, torch.UntypedStorage] | None = None) -> torch.Tensor:
    """Make a tensor of the device over a CPU tensor's memory; nothing is copied.

    Args:
        cpu: the data; the new tensor has its size, strides and offset.
        meter: counts the memory if this storage is new to the device.
        storages: known pairs, address of a CPU storage to storage of the device. A tensor over one of them
            becomes a view there; a new pair is added.

    Raises:
        TypeError: for float64 and complex128, with torch's text.
        RuntimeError: for more than 16 dimensions, with torch's text.
    """
    refused = messages.unsupported_dtype(cpu.dtype)
    if refused is not None:
        raise refusal(TypeError(refused), MpsRule.UNSUPPORTED_DTYPE)
    if cpu.dim() > 16:
        raise refusal(RuntimeError(messages.too_many_dimensions(cpu.dim())), MpsRule.TOO_MANY_DIMENSIONS)
    cpu_storage = cpu.untyped_storage()
    storage = storages.get(cpu_storage._cdata) if storages is not None else None
    if storage is None:
        storage = new_storage(cpu, meter)
        if storages is not None:
            storages[cpu_storage._cdata] = storage
    meta = make_meta(tuple(cpu.size()), cpu.stride(), int(cpu.storage_offset()), cpu.dtype, storage)
    tensor = torch.Tensor._make_subclass(torch.Tensor, meta, False, device_for_backend_keys=DEVICE)
    if cpu.is_conj():
        torch._C._set_conj(tensor, True)
    if cpu.is_neg():
        torch._C._set_neg(tensor, True)
    return tensor


def new_storage(cpu: torch.Tensor, meter: Meter) -> torch.UntypedStorage:
    """Make a storage of the device over the memory of a CPU tensor."""
    storage: torch.UntypedStorage = new_meta_storage(cpu.untyped_storage().nbytes())
    setattr(storage, _ATTRIBUTE, _Data(cpu, meter))
    return storage


def data_of_storage(storage: torch.UntypedStorage) -> torch.Tensor | None:
    """Return a CPU tensor over the memory of a storage of the device, or None for any other storage."""
    data: _Data | None = storage.__dict__.get(_ATTRIBUTE)
    return None if data is None else data.cpu


def to_cpu_view(tensor: torch.Tensor) -> torch.Tensor:
    """Return the CPU tensor that shares its memory with a tensor of the device; nothing is copied."""
    storage: torch.UntypedStorage = storage_of(tensor)
    base = data_of_storage(storage)
    if base is None:
        raise RuntimeError(
            "a tensor of the emulated MPS device has lost its data; it was made outside this emulated_mps() block, "
            "or by an operator that the emulation does not follow"
        )
    dtype = tensor.dtype
    if base.dtype is dtype:
        view = base.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    else:
        view = torch.empty(0, dtype=dtype).set_(
            base.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
        )
    if dtype.is_complex and tensor.is_conj() is not view.is_conj():
        view = view.conj()
    if tensor.is_neg() is not view.is_neg():
        view = torch._neg_view(view)
    return view


def follow_cpu(tensor: torch.Tensor, cpu: torch.Tensor) -> None:
    """Give a tensor of the device the size, strides and offset that its CPU view got (out=, resize_)."""
    if (
        tensor.size() == cpu.size()
        and tensor.stride() == cpu.stride()
        and tensor.storage_offset() == cpu.storage_offset()
    ):
        return
    storage: torch.UntypedStorage = storage_of(tensor)
    data: _Data = storage.__dict__[_ATTRIBUTE]
    grown = cpu.untyped_storage().nbytes()
    if grown != data.n_bytes:
        storage.resize_(grown)
        data.meter.add(grown - data.n_bytes)
        data.n_bytes = grown
    _SET._op_dk(_META_KEY, tensor, storage, cpu.storage_offset(), cpu.size(), cpu.stride())
