"""The name that a reader would know for an operator: torch.linalg.eigvals for aten::_linalg_eigvals."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.overrides import resolve_name

from course_utils.operators.names import base_of, without_namespace

# An operator of the public function depends on whether a gradient is needed (linalg_eigvals in
# aten/src/ATen/native/BatchLinearAlgebra.cpp, torch 2.3 and later).
GRADIENT_ROUTES = {
    "linalg_eig": (
        "torch.linalg.eigvals calls aten::linalg_eig where a gradient is needed and aten::_linalg_eigvals elsewhere"
    ),
    "_linalg_eigvals": (
        "torch.linalg.eigvals calls aten::_linalg_eigvals without a gradient and aten::linalg_eig with one"
    ),
}
_LIBRARIES = {"torchvision": "torchvision", "quantized": "torch.ao.quantization"}
_PREFIXES = (("linalg_", torch.linalg), ("fft_", torch.fft), ("special_", torch.special))
_HOMES: tuple[tuple[str, Any], ...] = (
    ("torch", torch),
    ("torch.nn.functional", torch.nn.functional),
    ("torch.Tensor", torch.Tensor),
)


@cache
def public_name(operator: str) -> str:
    """Find a public function of torch by an operator's name; "" where no name is like it.

    Args:
        operator: such as "aten::_linalg_eigvals" or "aten::adaptive_max_pool3d.out".
    """
    if "::" in operator and not operator.startswith("aten::"):
        return _LIBRARIES.get(operator.partition("::")[0], "")
    base = base_of(without_namespace(operator)).strip("_")
    candidates = [base]
    for suffix in ("_forward", "_backward", "_ex"):
        candidates += [base.removesuffix(suffix)] if base.endswith(suffix) else []
    for name in candidates:
        for prefix, namespace in _PREFIXES:
            short = name.removeprefix(prefix)
            if name.startswith(prefix) and hasattr(namespace, short):
                return f"{namespace.__name__}.{short}"
        for home, owner in _HOMES:
            if hasattr(owner, name):
                return f"{home}.{name}"
    return ""


def name_of_function(function: Callable[..., Any] | None) -> str:
    """Name a function of torch as the reader calls it; "" where torch does not know it."""
    if function is None:
        return ""
    try:
        return resolve_name(function) or ""
    except TypeError:  # unhashable callables
        return ""


def operators_of(public: str) -> tuple[str, ...]:
    """Return the operators of aten that a public function of torch names or calls, without overloads.

    Args:
        public: such as "torch.linalg.svd", "torch.nn.functional.grid_sample", "F.relu" or "torch.Tensor.mode".

    Returns:
        Such as ("linalg_svd",) or ("grid_sampler",); none where it is not a function of torch.
    """
    path = public.strip().removesuffix("()")
    path = f"torch.nn.functional.{path[2:]}" if path.startswith("F.") else path
    *owners, name = path.removeprefix("torch.").split(".")
    owner: Any = torch
    for part in owners:
        owner = getattr(owner, part, None)
    function = getattr(owner, name, None)
    if owner is None or not callable(function):
        return ()
    prefix = next((prefix for prefix, namespace in _PREFIXES if namespace is owner), "")
    if hasattr(torch.ops.aten, f"{prefix}{name}"):
        return (f"{prefix}{name}",)
    return _called_by(function)


def _called_by(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the operators that a function of torch written in Python calls by name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):  # not written in Python
        return ()
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [node.attr for node in called if isinstance(node, ast.Attribute)]
    return tuple(dict.fromkeys(name for name in names if name not in _NOT_OPERATORS and hasattr(torch.ops.aten, name)))


# methods that torch's functions call to look at their arguments
_NOT_OPERATORS = frozenset({"dim", "size", "numel", "stride", "is_floating_point", "is_complex", "format", "append"})
