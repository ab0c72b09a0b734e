"""PYTORCH_MPS_HIGH_WATERMARK_RATIO: the factor between the recommended working set and torch's hard limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HIGH_VARIABLE = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
# torch 2.0-2.14, MPSAllocator.h: the default, and the largest value that torch accepts
DEFAULT_HIGH = 1.7
LARGEST = 2.0
WHERE = "set it in the shell before Python starts: torch reads it once, later changes have no effect"


@dataclass(frozen=True)
class Watermark:
    """What the environment says about torch's hard limit on MPS.

    Args:
        high: the factor, or None where 0 switches the limit off.
        warnings: what is wrong with the value, or dangerous.
    """

    high: float | None
    warnings: tuple[str, ...] = ()


def read_watermark(environ: Mapping[str, str]) -> Watermark:
    """Read the high watermark ratio from an environment, as torch would.

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
        wrong = f"{HIGH_VARIABLE} is {text!r}, and torch accepts a number from 0 to {LARGEST:g}; {WHERE}"
        return Watermark(DEFAULT_HIGH, (wrong,))
    if high == 0:
        dangerous = (
            f"{HIGH_VARIABLE} is 0: torch has no limit, so a model that is too large can freeze the whole Mac; unset "
            "it and use less memory instead"
        )
        return Watermark(None, (dangerous,))
    return Watermark(high)
