"""Whether a kernel can read the arguments it gets. A Mac does not ask: it reads whatever bytes are there."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch

from course_utils.metal.arguments import Argument
from course_utils.metal.build import BuiltKernel, ParameterType
from course_utils.metal.errors import FaultKind, MetalFault
from course_utils.metal.kernels import KernelParameter


def check_arguments(kernel: BuiltKernel, arguments: Sequence[Argument], args: Sequence[Any]) -> None:
    """Refuse arguments that the kernel would read as something else.

    A tensor that is not contiguous gets a warning, unless one of its strides is passed, too.

    Args:
        kernel: the kernel.
        arguments: what it gets.
        args: what Python passed.

    Raises:
        MetalFault: for a missing argument, one too many, and numbers of another type than declared.
    """
    name = kernel.source.name
    bound = [
        (parameter, kind)
        for parameter, kind in zip(kernel.source.parameters, kernel.types, strict=True)
        if parameter.buffer is not None
    ]
    for parameter in kernel.source.parameters:
        if parameter.space == "threadgroup" and not parameter.position:
            _refuse(
                name,
                parameter,
                f"'{parameter.type_text} {parameter.name}' gets no memory: compile_shader binds none to a threadgroup "
                "parameter (an M1 Pro with torch 2.8 read zeros there); declare the array inside the kernel",
            )
    for parameter, _ in bound:
        if parameter.buffer is not None and parameter.buffer >= len(arguments):
            _refuse(
                name,
                parameter,
                f"no argument for '{parameter.type_text} {parameter.name}' [[buffer({parameter.buffer})]]: the call "
                f"passed {len(arguments)}. On a Mac the kernel would read a buffer that is not bound",
            )
    highest = max((parameter.buffer or 0 for parameter, _ in bound), default=-1)
    if len(arguments) > highest + 1:
        raise MetalFault(
            f"{name}: {len(arguments)} arguments were passed, and the kernel has {highest + 1} (0 to {highest})",
            FaultKind.ARGUMENT,
            name,
            kernel.source.line,
        )
    for parameter, declared in bound:
        assert parameter.buffer is not None
        reason = _misread(arguments[parameter.buffer], declared)
        if reason:
            _refuse(name, parameter, f"argument {parameter.buffer} is {reason}")
    _warn_of_strides(name, bound, args)


def _refuse(kernel: str, parameter: KernelParameter, text: str) -> None:
    raise MetalFault(f"{kernel}, line {parameter.line}: {text}", FaultKind.ARGUMENT, kernel, parameter.line)


def _misread(argument: Argument, declared: ParameterType) -> str:
    """Return why a parameter cannot read an argument; "" where it can."""
    if declared.kind == "s" or argument.kind == "s" or declared.scalar_bytes == 1:
        return ""  # a struct, or bytes: anything may be meant
    floats = {"f", "b"}
    is_tensor = argument.tensor is not None
    wanted = _type_name(declared.kind, declared.scalar_bytes)
    as_declared = f"{argument.described}, and the kernel declares {wanted}"
    if (argument.kind in floats) != (declared.kind in floats):
        if is_tensor and declared.is_atomic and argument.scalar_bytes == declared.scalar_bytes:
            return ""  # floats compared as integers, a known trick
        hint = "" if is_tensor else f"; pass {'a float' if declared.kind in floats else 'an int'}"
        return f"{as_declared}: its bits would be read as another number{hint}"
    if argument.kind in floats and (argument.kind, argument.scalar_bytes) != (declared.kind, declared.scalar_bytes):
        cast = {("f", 2): "fp16", ("b", 2): "bf16"}.get((declared.kind, declared.scalar_bytes))
        hint = f'; pass arg_casts="{cast}", or declare float' if cast and not is_tensor else ""
        return f"{as_declared}: its bits would be read as another number{hint}"
    one = argument.kind in floats or (not is_tensor and len(argument.content) == argument.scalar_bytes)
    if argument.scalar_bytes > declared.scalar_bytes and not one:
        # the low bytes of one number are the number; of several, every other would be a high half
        hint = f"; pass .to(torch.int{8 * declared.scalar_bytes})" if is_tensor else '; pass arg_casts="int32"'
        return f"{as_declared}: each number would be read as several{hint}"
    return ""


def _type_name(kind: str, size: int) -> str:
    if kind == "f":
        return {4: "float", 2: "half"}.get(size, f"a float of {size} bytes")
    if kind in ("b", "B"):
        return "bfloat" if kind == "b" else "bool"
    return f"{'u' if kind == 'u' else ''}{ {8: 'long', 4: 'int', 2: 'short', 1: 'char'}.get(size, 'int') }"


def _warn_of_strides(name: str, bound: Sequence[tuple[KernelParameter, ParameterType]], args: Sequence[Any]) -> None:
    numbers = {
        item
        for value in args
        for item in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(item, int)
    }
    for parameter, _ in bound:
        value = args[parameter.buffer] if parameter.buffer is not None else None
        if not isinstance(value, torch.Tensor) or value.is_contiguous():
            continue
        if numbers & {stride for stride in value.stride() if stride > 1} or any(
            isinstance(other, torch.Tensor)
            and other.dim() == 1
            and other.numel() == value.dim()
            and not other.is_floating_point()
            for other in args
        ):
            continue
        warnings.warn(
            f"{name}: argument {parameter.buffer} ('{parameter.name}') is not contiguous, and a kernel sees memory, "
            f"not strides: of shape {tuple(value.shape)} with strides {tuple(value.stride())} it reads the elements in "
            "the order in which they lie. Pass .contiguous(), or the strides",
            UserWarning,
            stacklevel=5,
        )
