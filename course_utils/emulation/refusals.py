"""Errors of the emulated device: torch's own class and text, with the rule that was broken as an attribute.

A reader sees the error that a Mac would raise; a program asks `rule_of` and reads no text.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

_ATTRIBUTE = "mps_rule"
_Error = TypeVar("_Error", bound=Exception)


class MpsRule(Enum):
    """What MPS refuses."""

    UNSUPPORTED_DTYPE = "a dtype that Metal lacks"
    MIXED_DEVICES = "tensors on different devices"
    TOO_MANY_DIMENSIONS = "more than 16 dimensions"
    MISSING_KERNEL = "an operator without an MPS kernel"
    KERNEL_LIMIT = "a shape, dtype or macOS that a kernel does not take"


def refusal(error: _Error, rule: MpsRule) -> _Error:
    """Return an error that carries the rule, to be raised.

    Args:
        error: of the class and with the text of torch's own.
        rule: which rule the call broke.
    """
    setattr(error, _ATTRIBUTE, rule)
    return error


def rule_of(error: BaseException) -> MpsRule | None:
    """Return the rule that an error of the device carries, None for any other error."""
    rule = getattr(error, _ATTRIBUTE, None)
    return rule if isinstance(rule, MpsRule) else None
