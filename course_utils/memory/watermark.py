"""PYTORCH_MPS_HIGH_WATERMARK_RATIO: the factor between the recommended working set and torch's hard limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HIGH_VARIABLE = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
LOW_VARIABLE = "PYTORCH_MPS_LOW_WATERMARK_RATIO"
# torch 2.0-2.14, MPSAllocator.h: defaults, and the range that torch accepts
DEFAULT_HIGH = 1.7
DEFAULT_LOW = 1.4
LARGEST = 2.0
# torch reads the variables once, when it makes its allocator
WHERE = "set it in the shell before Python starts: torch reads it once, later changes have no effect"


@dataclass(frozen=True)
class Watermark:
    """What the environment says about torch's hard limit on MPS.

    Args:
        high: the factor, or None where 0 switches the limit off.
        warnings: what is wrong with the values, or dangerous.
    """

    high: float | None
    warnings: tuple[str, ...] = ()


def read_watermark(environ: Mapping[str, str]) -> Watermark:
    """Read the watermark ratios from an environment, as torch would.

    Args:
        environ: environment variables; `os.environ`, or any mapping in a test.
    """
    text = environ.get(HIGH_VARIABLE)
    if text is None:
        return Watermark(DEFAULT_HIGH)
    try:
        high = float(text)
    except ValueError:
        high = -1.0
    if not 0 <= high <= LARGEST:
        return Watermark(
            DEFAULT_HIGH, (f"{HIGH_VARIABLE} is {text!r}; torch accepts a number from 0 to {LARGEST:g}; {WHERE}",)
        )
    if high == 0:
        return Watermark(
            None,
            (
                f"{HIGH_VARIABLE} is 0: torch has no limit, so a model that is too large can freeze the whole Mac; "
                "unset it and use less memory instead",
            ),
        )
    low = environ.get(LOW_VARIABLE)
    if low is None and high < DEFAULT_LOW:
        return Watermark(
            high,
            (
                f"{HIGH_VARIABLE} is {text} and {LOW_VARIABLE} is unset: its default {DEFAULT_LOW:g} is larger, and "
                f"torch stops with 'invalid low watermark ratio'; set both",
            ),
        )
    return Watermark(high)
