"""Plain values as JSON and raw bytes, and back: what a check and the student's code may hand to each other.

Types are compared exactly, so that a subclass with an `__eq__` of its own is not taken for a number or a list: it
arrives as an `Opaque`. Reading never calls anything that the sender chose.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

LONGEST_REPR = 200
MOST_DIMENSIONS = 64
MOST_ELEMENTS = 2**48
# keys that collide on purpose take time that grows with the square of their number
MOST_KEYS, MOST_OF_ONE_HASH = 50_000, 100
# what numpy may send: booleans, integers, floating point and complex numbers
_NUMPY_KINDS = "biufc"


class ValueNotPlainError(ValueError):
    """A value cannot be read or is nested too deep; the message says which."""


@dataclass(frozen=True)
class Opaque:
    """Something that is not plain: only its type's name and its text came over.

    Args:
        type_name: the name of its type.
        text: the start of its repr.
    """

    type_name: str
    text: str

    def __repr__(self) -> str:
        return f"a {self.type_name} ({self.text})" if self.text else f"a {self.type_name}"


class Writer:
    """Writes values as JSON, collecting raw bytes beside it.

    Args:
        depth: how deep a value may be nested.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.blobs: list[bytes] = []

    def write(self, value: Any, level: int = 0) -> Any:  # noqa: PLR0911
        """Return the value as JSON.

        Raises:
            ValueNotPlainError: when it is nested too deep.
        """
        if level > self.depth:
            raise ValueNotPlainError(f"a value nested deeper than {self.depth} levels")
        kind = type(value)
        if value is None or kind in (bool, str, float):
            return value
        if kind is int:
            return value if abs(value) < 2**53 else {"int": hex(value)}
        if kind is complex:
            return {"complex": [value.real, value.imag]}
        if kind is bytes:
            return {"bytes": self._keep(value)}
        if kind is list:
            return [self.write(entry, level + 1) for entry in value]
        if kind in (tuple, set, frozenset):
            return {kind.__name__: [self.write(entry, level + 1) for entry in value]}
        if kind is dict:
            pairs = [[self.write(key, level + 1), self.write(entry, level + 1)] for key, entry in value.items()]
            return {"dict": pairs}
        return self.write_other(value, level)

    def write_other(self, value: Any, level: int) -> Any:  # noqa: PLR0911
        """Return a value of torch or numpy as JSON, or name what it is."""
        torch = sys.modules.get("torch")  # where nobody imported torch, nobody can hold a tensor
        if torch is not None:
            if type(value) in (torch.Tensor, torch.nn.Parameter):
                return self._write_tensor(value)
            if type(value) is torch.dtype:
                return {"dtype": str(value).removeprefix("torch.")}
            if type(value) is torch.device:
                return {"device": str(value)}
            if type(value) is torch.Size:
                return {"size": list(value)}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in _NUMPY_KINDS:
            return {"scalar": self._array(value)}
        if numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in _NUMPY_KINDS:
            return {"array": self._array(value)}
        return self.write_opaque(value)

    def write_opaque(self, value: Any) -> Any:
        """Return the name of a value's type and the start of its text."""
        try:
            text = repr(value)[:LONGEST_REPR]
        except Exception as error:  # the repr is somebody else's code
            text = f"its repr raised {type(error).__name__}"
        return {"opaque": [type(value).__name__[:LONGEST_REPR], text]}

    def _keep(self, data: bytes) -> int:
        self.blobs.append(data)
        return len(self.blobs) - 1

    def _array(self, value: Any) -> dict[str, Any]:
        import numpy

        plain = numpy.ascontiguousarray(value)
        return {"dtype": plain.dtype.str, "shape": list(value.shape), "blob": self._keep(plain.tobytes())}

    def _write_tensor(self, value: Any) -> Any:
        import torch

        if value.layout is not torch.strided or value.is_quantized or value.is_nested or value.device.type == "mps":
            return self.write_opaque(value)
        row: dict[str, Any] = {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "requires_grad": value.requires_grad,
            "parameter": isinstance(value, torch.nn.Parameter),
        }
        if value.device.type == "meta":
            return {"tensor": row | {"blob": None}}
        with torch.no_grad():
            plain = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
            # one element may keep a stride of its own, contiguous or not
            flat = plain.as_strided((plain.numel(),), (1,))
            data = bytes(flat.view(torch.uint8).numpy()) if plain.numel() else b""
        return {"tensor": row | {"blob": self._keep(data)}}


class Reader:
    """Reads values that a `Writer` wrote, distrusting every part.

    Args:
        blobs: the raw bytes that came with them.
        depth: how deep a value may be nested.
    """

    def __init__(self, blobs: list[bytes], depth: int) -> None:
        self.blobs = blobs
        self.depth = depth

    def read(self, written: Any, level: int = 0) -> Any:
        """Return the value.

        Raises:
            ValueNotPlainError: when it was not written by a `Writer`, or is nested too deep.
        """
        if level > self.depth:
            raise ValueNotPlainError(f"a value nested deeper than {self.depth} levels")
        if written is None or isinstance(written, bool | str | int | float):
            return written
        try:
            if isinstance(written, list):
                return [self.read(entry, level + 1) for entry in written]
            ((kind, content),) = written.items()
            return self.read_kind(kind, content, level)
        except ValueNotPlainError:
            raise
        except Exception as error:  # whatever is malformed is refused in one way
            raise ValueNotPlainError(f"a malformed value: {type(error).__name__}") from error

    def read_kind(self, kind: str, content: Any, level: int) -> Any:  # noqa: PLR0911
        """Return a value of a named kind."""
        if kind == "int":
            return int(content, 16)
        if kind == "complex":
            return complex(*map(float, content))
        if kind == "bytes":
            return self._blob(content)
        if kind in ("tuple", "set", "frozenset"):
            entries = [self.read(entry, level + 1) for entry in content]
            if kind != "tuple":
                _check_keys(entries)
            return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](entries)
        if kind == "dict":
            keys = [self.read(key, level + 1) for key, _ in content]
            _check_keys(keys)
            return dict(zip(keys, (self.read(entry, level + 1) for _, entry in content), strict=True))
        if kind == "opaque":
            return Opaque(str(content[0])[:LONGEST_REPR], str(content[1])[:LONGEST_REPR])
        if kind in ("scalar", "array"):
            return self._read_array(kind, content)
        return self._read_torch(kind, content)

    def _blob(self, place: Any) -> bytes:
        if type(place) is not int or not 0 <= place < len(self.blobs):
            raise ValueNotPlainError("a malformed value: no such blob")
        return self.blobs[place]

    def _read_array(self, kind: str, row: dict[str, Any]) -> Any:
        import numpy

        dtype = numpy.dtype(str(row["dtype"]))
        if dtype.kind not in _NUMPY_KINDS or dtype.hasobject:
            raise ValueNotPlainError(f"an array of dtype {dtype}")
        array = numpy.frombuffer(self._blob(row["blob"]), dtype=dtype).reshape(_shape(row["shape"])).copy()
        return array if kind == "array" else array[()]

    def _read_torch(self, kind: str, content: Any) -> Any:
        import torch

        if kind == "dtype":
            return _dtype(content)
        if kind == "device":
            return torch.device(str(content))
        if kind == "size":
            return torch.Size(_shape(content))
        if kind != "tensor":
            raise ValueNotPlainError(f"a malformed value: kind {kind[:40]!r}")
        tensor = self._read_tensor(content)
        if content["parameter"] is True:
            return torch.nn.Parameter(tensor, requires_grad=content["requires_grad"] is True)
        return tensor.requires_grad_(content["requires_grad"] is True)

    def _read_tensor(self, row: dict[str, Any]) -> Any:
        import torch

        dtype, shape = _dtype(row["dtype"]), _shape(row["shape"])
        if row["blob"] is None:
            return torch.empty(shape, dtype=dtype, device="meta")
        data = self._blob(row["blob"])
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise ValueNotPlainError("a tensor whose bytes do not fit its shape")
        if not data:
            return torch.empty(shape, dtype=dtype)
        plain = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
        return self.arrange(plain, row["strides"])

    def arrange(self, plain: Any, strides: Any) -> Any:
        """Return the tensor as it lies in memory on this side; what comes from a student is contiguous."""
        del strides
        return plain


def _check_keys(keys: list[Any]) -> None:
    """Refuse keys that a dict or set would take too long to hold.

    Raises:
        ValueNotPlainError: when there are too many, or too many with one hash.
    """
    if len(keys) > MOST_KEYS:
        raise ValueNotPlainError(f"a dict or set of {len(keys):,} entries; at most {MOST_KEYS:,} are taken")
    counts: dict[int, int] = {}
    for key in keys:
        number = hash(key)
        counts[number] = counts.get(number, 0) + 1
        if counts[number] > MOST_OF_ONE_HASH:
            raise ValueNotPlainError(f"a dict or set with more than {MOST_OF_ONE_HASH} entries of one hash")


def _shape(content: Any) -> list[int]:
    shape = [size if type(size) is int and size >= 0 else -1 for size in content]
    if -1 in shape or len(shape) > MOST_DIMENSIONS or math.prod(shape) > MOST_ELEMENTS:
        raise ValueNotPlainError("a malformed shape")
    return shape


def _dtype(name: Any) -> Any:
    import torch

    dtype = getattr(torch, str(name), None)
    if type(dtype) is not torch.dtype:
        raise ValueNotPlainError(f"a malformed value: dtype {str(name)[:40]!r}")
    return dtype
