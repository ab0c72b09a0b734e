"""A kernel's arguments as torch takes them: which are refused and with which words, and which bytes the kernel gets.

Source: torch/csrc/mps/Module.cpp (OptionalArgCaster) and ATen/native/mps/OperationUtils.mm, torch 2.14.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

# words of arg_casts -> format of the bytes, kind and size of the number
_CASTS: dict[str, tuple[str, str, int]] = {
    "fp16": ("e", "f", 2),
    "bf16": ("", "b", 2),
    "int32": ("i", "i", 4),
    "int16": ("h", "i", 2),
    "int8": ("b", "i", 1),
    "uint8": ("B", "u", 1),
}
_KINDS: dict[torch.dtype, str] = {
    torch.float32: "f",
    torch.float16: "f",
    torch.bfloat16: "b",
    torch.complex64: "f",
    torch.bool: "B",
    **dict.fromkeys((torch.int8, torch.int16, torch.int32, torch.int64), "i"),
    **dict.fromkeys((torch.uint8, torch.uint16, torch.uint32, torch.uint64), "u"),
}
# gives the CPU memory behind a tensor of the device; None for a tensor that is not on the device
MemoryOf = Callable[[torch.Tensor], torch.Tensor | None]


@dataclass(frozen=True)
class Argument:
    """One argument, as the kernel gets it.

    Args:
        kind: of its numbers, as in ParameterType.
        scalar_bytes: of one number.
        tensor: the CPU memory of a tensor; None for numbers.
        content: the bytes of numbers.
        described: how a sentence calls it, such as "a tensor of torch.float16".
    """

    kind: str
    scalar_bytes: int
    tensor: torch.Tensor | None
    content: bytes
    described: str


def read_arguments(args: Sequence[Any], arg_casts: Any, memory_of: MemoryOf) -> list[Argument]:
    """Return the arguments of a call.

    Args:
        args: what Python passed.
        arg_casts: torch's argument of this name: a word for all numbers, or a word for each argument's index.
        memory_of: finds the memory of a tensor.

    Raises:
        RuntimeError: with torch's text.
    """
    cast = _caster(arg_casts)
    return [
        _tensor(value, memory_of) if isinstance(value, torch.Tensor) else _numbers(value, cast(index))
        for index, value in enumerate(args)
    ]


def _caster(arg_casts: Any) -> Callable[[int], tuple[str, str]]:
    """Return what finds the word for an argument, and the default word, which torch's error shows in its place."""
    if arg_casts is None or isinstance(arg_casts, str):
        return lambda _: (arg_casts or "", arg_casts or "")
    if isinstance(arg_casts, Mapping):
        return lambda index: (arg_casts.get(index, ""), "")
    raise RuntimeError("Unexpected caster arguments")


def _tensor(value: torch.Tensor, memory_of: MemoryOf) -> Argument:
    memory = memory_of(value)
    described = f"a tensor of {value.dtype}"
    kind = _KINDS.get(value.dtype, "s")
    size = value.element_size() // (2 if value.dtype.is_complex else 1)
    if memory is not None:
        return Argument(kind, size, memory, b"", described)
    if value.dim():
        raise RuntimeError("Passed CPU tensor to MPS op")
    return Argument(kind, size, None, value.detach().reshape(1).view(torch.uint8).numpy().tobytes(), described)


def _numbers(value: Any, words: tuple[str, str]) -> Argument:
    is_list = isinstance(value, (list, tuple))
    values: list[Any] = list(value) if is_list else [value]
    if not values:
        raise RuntimeError("Empty list/tuple can not be an argument to metal kernel")
    first = values[0]
    if is_list and isinstance(first, torch.Tensor):
        raise NotImplementedError(
            "the emulated MPS device does not take a list of tensors as one argument of a kernel; pass each by itself"
        )
    if not isinstance(first, (int, float)):
        raise RuntimeError("Unexpected argument types" if is_list else "Unsupported argument type")
    allowed = (int,) if isinstance(first, int) else (int, float)
    if not all(isinstance(item, allowed) for item in values):
        raise RuntimeError("Unable to cast Python instance of type <class 'list'> to C++ type")
    described = f"{'a list of' if is_list else 'a Python'} {type(first).__name__}"
    return _cast(values, words, described)


def _cast(values: list[Any], words: tuple[str, str], described: str) -> Argument:
    word, shown = words
    is_float = isinstance(values[0], float)
    n = len(values)
    if not word:
        content = struct.pack(f"<{n}f", *values) if is_float else b"".join(_wrap(value, 8) for value in values)
        sent = described + (", sent as float32" if is_float else ", sent as int64")
        return Argument("f" if is_float else "i", 4 if is_float else 8, None, content, sent)
    if word not in _CASTS:
        raise RuntimeError(f"Unsupported cast instruction {shown}")
    form, kind, size = _CASTS[word]
    if word == "fp16":
        content = torch.tensor(values, dtype=torch.float32).half().view(torch.uint8).numpy().tobytes()
    elif word == "bf16":
        content = torch.tensor(values, dtype=torch.float32).bfloat16().view(torch.uint8).numpy().tobytes()
    else:
        assert form
        content = b"".join(_wrap(int(value), size) for value in values)
    return Argument(kind, size, None, content, f"{described}, sent as {word}")


def _wrap(value: int, size: int) -> bytes:
    """Return the low bytes of an integer, as C++ converts."""
    return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def read_sizes(value: Any) -> tuple[int, ...] | None:
    """Return `threads` or `group_size` as numbers; None where nothing was given.

    Raises:
        RuntimeError: for anything but a whole number or a list of them, none below 0.
    """
    if value is None:
        return None
    found = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, (list, tuple)) else ("?",)
    if not all(isinstance(item, int) and item >= 0 for item in found):
        raise RuntimeError(f"Unable to cast Python instance of type {type(value)} to C++ type: {value!r}")
    return tuple(int(item) for item in found)


def check_sizes(
    threads: tuple[int, ...] | None, group_size: tuple[int, ...] | None, args: Sequence[Any], most: int
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return how many threads run and how many form a group, both in three dimensions.

    Args:
        threads: asked threads; without them, the first tensor's number of elements.
        group_size: asked threads of a group.
        args: the call's arguments.
        most: the most threads that a group of this kernel may have.

    Raises:
        RuntimeError: for a wrong number of dimensions, with torch's text.
        ValueError: for a group that is too large, with torch's text.
    """
    if threads is None:
        first = next((value for value in args if isinstance(value, torch.Tensor)), None)
        threads = None if first is None else (first.numel(),)
    if threads is None or len(threads) > 3:
        raise RuntimeError("Number of threads is undefined or has wrong dimension")
    if group_size is not None and len(group_size) != len(threads):
        raise RuntimeError(
            "Expected !group_size.has_value() || threads->size() == group_size->size() to be true, but got false.  "
            f"(threads has {len(threads)} dimensions, group_size {len(group_size)})"
        )
    if not threads:
        raise RuntimeError("Dispatch dimentions must be less than 3 and non-empty")
    if group_size is None:
        group_size = (min(threads[0], most),) if len(threads) == 1 else (most, 1, 1)[: len(threads)]
    grid, group = (*threads, 1, 1)[:3], (*group_size, 1, 1)[:3]
    if group[0] * group[1] * group[2] > most:
        raise ValueError(f"Threadgroup size exceeds {most} limit")
    return (grid[0], grid[1], grid[2]), (group[0], group[1], group[2])
