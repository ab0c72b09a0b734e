"""Operators that have an MPS kernel but refuse some shapes, dtypes or macOS versions, or leave the GPU for them.

Data with sources: course_utils/data/mps_limits.json. Each entry names one of the checks below; a check looks at one
call's arguments and result, of which only shapes and dtypes count, so meta tensors do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import torch

from course_utils.data.read import read_json
from course_utils.data.versions import line_of, order
from course_utils.emulation.refusals import MpsRule, refusal
from course_utils.operators.names import base_of

Arguments = Mapping[str, Any]
_HALF = (torch.float16, torch.bfloat16)
_THREADGROUP_ELEMENTS = 8192  # 32 KiB of threadgroup memory hold so many float32


@dataclass(frozen=True)
class KernelLimit:
    """One documented limit.

    Args:
        name: a short name.
        kind: "may refuse" (an error, also with the fallback variable), "may leave the GPU" (runs on the CPU) or
            "wrong result" (a known fault that raises nothing).
        operators: operators without "aten::" and without overload.
        check: key of `CHECKS`.
        since: first line of torch that it holds for; None from the beginning.
        until: last line that it holds for; None for all later ones.
        macos_below: holds only below this macOS; None on every macOS.
        effect: what happens.
        advice: what to do.
        source: where it is documented.
        error: class of the error that it raises, "RuntimeError" or "NotImplementedError"; None where it raises none.
        text: text of the error.
    """

    name: str
    kind: Literal["may refuse", "may leave the GPU", "wrong result"]
    operators: tuple[str, ...]
    check: str
    since: str | None
    until: str | None
    macos_below: str | None
    effect: str
    advice: str
    source: str
    error: Literal["RuntimeError", "NotImplementedError"] | None = None
    text: str | None = None

    def refusal(self) -> Exception:
        """Return the error of the limit, to be raised."""
        kind = NotImplementedError if self.error == "NotImplementedError" else RuntimeError
        return refusal(kind(self.text), MpsRule.KERNEL_LIMIT)

    def holds_for(self, release: str, macos: str | None = None) -> bool:
        """Return whether the limit is in force.

        Args:
            release: of torch, such as "2.14.1".
            macos: such as "14.5"; None where it is not known, so that every macOS has to be thought of.
        """
        line = order(line_of(release))
        if (self.since is not None and line < order(self.since)) or (
            self.until is not None and line > order(self.until)
        ):
            return False
        return (
            self.macos_below is None
            or macos is None
            or order(macos if "." in macos else f"{macos}.0") < order(self.macos_below)
        )

    def reached_by(self, arguments: Arguments, result: Any) -> bool:
        """Return whether a call reaches the limit.

        Args:
            arguments: by the names of the operator's schema.
            result: what it returned.
        """
        return CHECKS[self.check](arguments, result)


def _largest_output_size(arguments: Arguments, result: Any) -> bool:
    # Convolution.mm compares every size of the output, not only the channels, with 2**16
    return bool(max(result.shape, default=0) > 2**16)


def _is_3d(arguments: Arguments, transposed: bool) -> bool:
    return bool(arguments["input"].dim() == 5 and arguments["transposed"] is transposed)


def _sides(arguments: Arguments) -> list[tuple[int, int]]:
    """Return input and output size of both sides of a pooling."""
    wanted = arguments["output_size"]
    sizes = arguments["self"].shape[-2:]
    return [(size, size if out is None else out) for size, out in zip(sizes, wanted, strict=True)]


def _not_divisible(arguments: Arguments, result: Any) -> bool:
    sides = _sides(arguments)
    return all(size >= out for size, out in sides) and any(size % max(1, out) for size, out in sides)


def _any_not_divisible(arguments: Arguments, result: Any) -> bool:
    return any(max(sides) % max(1, min(sides)) for sides in _sides(arguments))


def _larger_not_divisible(arguments: Arguments, result: Any) -> bool:
    sides = _sides(arguments)
    return all(size <= out for size, out in sides) and any(out % max(1, size) for size, out in sides)


def _one_side_grows(arguments: Arguments, result: Any) -> bool:
    sides = _sides(arguments)
    return any(size < out for size, out in sides) and any(size > out for size, out in sides)


def _is_whole(tensor: torch.Tensor) -> bool:
    return not (tensor.dtype.is_floating_point or tensor.dtype.is_complex)


def _mixed_batch_norm(arguments: Arguments, result: Any) -> bool:
    others = [arguments.get(name) for name in ("weight", "running_mean", "running_var")]
    dtypes = {other.dtype for other in others if other is not None}
    return arguments["input"].dtype in _HALF and torch.float32 in dtypes


def _svd_size(arguments: Arguments, result: Any) -> bool:
    return bool(math.prod(arguments["A"].shape[-2:]) >= _THREADGROUP_ELEMENTS)


CHECKS: Mapping[str, Callable[[Arguments, Any], bool]] = {
    "conv output size above 65536": _largest_output_size,
    "conv3d": lambda arguments, _: _is_3d(arguments, transposed=False),
    "conv_transpose3d": lambda arguments, _: _is_3d(arguments, transposed=True),
    "conv_transpose3d in half": lambda arguments, _: (
        _is_3d(arguments, transposed=True) and arguments["input"].dtype in _HALF
    ),
    "sizes not divisible": _not_divisible,
    "any size not divisible": _any_not_divisible,
    "larger sizes not divisible": _larger_not_divisible,
    "one side grows": _one_side_grows,
    "always": lambda _, __: True,
    "integer input": lambda arguments, _: _is_whole(arguments["input"]),
    "batch1 is an integer": lambda arguments, _: _is_whole(arguments["batch1"]),
    "vec1 is an integer": lambda arguments, _: _is_whole(arguments["vec1"]),
    "more than four FFT dimensions": lambda arguments, _: len(arguments["dim"]) > 4,
    "self is int64": lambda arguments, _: arguments["self"].dtype is torch.int64,
    "self is complex": lambda arguments, _: arguments["self"].dtype.is_complex,
    "self is not float32": lambda arguments, _: arguments["self"].dtype is not torch.float32,
    "A is complex": lambda arguments, _: arguments["A"].dtype.is_complex,
    "A is not float32": lambda arguments, _: arguments["self"].dtype is not torch.float32,  # geqrf names it so
    "LU is not float32": lambda arguments, _: arguments["LU"].dtype is not torch.float32,
    "a driver is given": lambda arguments, _: arguments.get("driver") is not None,
    "half input, float32 statistics": _mixed_batch_norm,
    "int64 minimum or maximum": lambda arguments, _: (
        arguments["self"].dtype is torch.int64 and arguments["reduce"] in ("amin", "amax")
    ),
    "matrix of 8192 elements": _svd_size,
    "neither float32 nor complex64": lambda arguments, _: arguments["A"].dtype not in (torch.float32, torch.complex64),
    "min(m, n) above 512": lambda arguments, _: min(arguments["A"].shape[-2:]) > 512,
    "int64": lambda arguments, _: torch.int64 in (arguments["self"].dtype, arguments.get("dtype")),
    "output of more than 2**32 elements": lambda _, result: result.numel() > 2**32,
}


@cache
def all_limits() -> tuple[KernelLimit, ...]:
    """Read the limits that come with the package."""
    return tuple(
        KernelLimit(**(entry | {"operators": tuple(entry["operators"])}))
        for entry in read_json("mps_limits.json")["limits"]
    )


@cache
def _by_operator() -> Mapping[str, tuple[KernelLimit, ...]]:
    found: dict[str, tuple[KernelLimit, ...]] = {}
    for limit in all_limits():
        for operator in limit.operators:
            found[operator] = (*found.get(operator, ()), limit)
    return found


@cache
def limits_of(operator: str, release: str, macos: str | None = None) -> tuple[KernelLimit, ...]:
    """List the limits of an operator that are in force.

    Args:
        operator: such as "aten::linear" or "aten::cumsum.out".
        release: of torch.
        macos: such as "14.5"; None where it is not known.
    """
    known = _by_operator().get(base_of(operator.removeprefix("aten::")), ())
    return tuple(limit for limit in known if limit.holds_for(release, macos))


def name_arguments(schema: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Give positional arguments the names of an operator's schema."""
    named = {argument.name: value for argument, value in zip(schema.arguments, args, strict=False)}
    return named | dict(kwargs)
