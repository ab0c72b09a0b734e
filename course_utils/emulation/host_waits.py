"""Which operators make the host wait, and which queue no kernel: one list for the emulated and the real device.

What a kernel does inside cannot be seen from above it, so these are hand lists (torch 2.9 to 2.15, read in
aten/src/ATen/native/mps/operations and in the C++ that those call).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import torch

# the host reads a result of these to go on: a size that depends on data, or a Python value
WAITS = {
    "equal": "equal",
    "nonzero": "nonzero",
    "masked_select": "boolean mask",
    "_unique2": "unique",
    "_unique": "unique",
    "unique_dim": "unique",
    "unique_consecutive": "unique",
    "unique_dim_consecutive": "unique",
    "bincount": "bincount",
    "repeat_interleave.Tensor": "repeat_interleave",
    "masked_fill_.Tensor": "masked_fill_ with a tensor value",
}
# a mask among the indices becomes `nonzero`, whose result the host needs (expandTensors in C++)
INDEXING = frozenset({"index.Tensor", "index.Tensor_out", "_index_put_impl_", "_unsafe_index.Tensor"})
_MASKS = (torch.bool, torch.uint8)
# they allocate, change sizes or storages, or read one number: no kernel is queued
_NO_KERNEL = frozenset(
    {
        "empty.memory_format",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "set_",
        "set_.source_Storage",
        "set_.source_Storage_storage_offset",
        "set_.source_Tensor",
        "_local_scalar_dense",
        "_reshape_alias",
    }
)


def wait_of(name: str, args: tuple[Any, ...]) -> str:
    """Return why an operator makes the host wait, "" if it does not.

    Args:
        name: its overload name without the namespace, such as "nonzero".
        args: its positional arguments.
    """
    cause = WAITS.get(name, "")
    if not cause and name in INDEXING and any(i is not None and i.dtype in _MASKS for i in args[1]):
        return "boolean mask"
    return cause


def indices_on_cpu(name: str, args: tuple[Any, ...]) -> Iterable[torch.Tensor]:
    """Return the index tensors that an operator of the device copies there by itself.

    Args:
        name: its overload name without the namespace.
        args: its positional arguments.
    """
    if name not in INDEXING:
        return ()
    return [index for index in args[1] if isinstance(index, torch.Tensor) and index.device.type == "cpu"]


@cache
def queues_kernel(qualified: str) -> bool:
    """Return whether an operator queues a kernel on the device.

    Args:
        qualified: such as "aten::add.Tensor".
    """
    namespace, _, name = qualified.partition("::")
    if namespace != "aten":
        return True
    if name in _NO_KERNEL:
        return False
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
    return operator is None or not is_view(operator._schema)


def is_view(schema: Any) -> bool:
    """Return whether an operator only looks at memory that is there: its results alias, and nothing is written."""
    written = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
    returned = [r.alias_info for r in schema.returns]
    return not written and any(info is not None and not info.is_write for info in returned)
