"""The name that a reader would know for an operator: torch.linalg.eigvals for aten::_linalg_eigvals."""

from __future__ import annotations

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
        return ""
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
