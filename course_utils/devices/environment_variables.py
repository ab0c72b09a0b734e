"""The environment variables of MPS, read as torch's C++ reads them; everything here is pure.

torch takes the watermarks with `strtod` (aten/src/ATen/mps/MPSAllocator.mm) and the fallback with `std::stoi`
(aten/src/ATen/mps/MPSFallback.mm, torch 1.13 to 2.15). Both take what a number begins with and ignore the rest, so
"1.5x" is 1.5; a word is 0 to the first and an exception, which ends `import torch`, to the second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
HIGH_WATERMARK = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
LOW_WATERMARK = "PYTORCH_MPS_LOW_WATERMARK_RATIO"
COURSE_DEVICE = "COURSE_DEVICE"

# torch 2.0 to 2.15, MPSAllocator.h, with unified memory
DEFAULT_RATIOS = {HIGH_WATERMARK: 1.7, LOW_WATERMARK: 1.4}
LARGEST_RATIO = 2.0
WHERE_TO_SET = "set it in the shell before Python starts: torch reads it once, later changes have no effect"

_SPACE = " \t\n\v\f\r"
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_WORD = re.compile(r"[+-]?(?:inf(?:inity)?|nan)", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?[0-9]+")


def strtod(text: str) -> float:
    """Return the number that a text begins with, as C's `strtod` does in the "C" locale; 0 where it begins with none.

    >>> strtod("1.5x"), strtod("0x1"), strtod("off")
    (1.5, 1.0, 0.0)
    """
    text = text.lstrip(_SPACE)
    if match := _HEXADECIMAL.match(text):
        try:
            return float.fromhex(match[0])
        except OverflowError:
            return math.copysign(math.inf, -1 if match[0].startswith("-") else 1)
    match = _WORD.match(text) or _DECIMAL.match(text)
    return float(match[0]) if match else 0.0


def stoi(text: str) -> int:
    """Return the integer that a text begins with, as C++'s `std::stoi` does.

    >>> stoi("1.5")
    1

    Raises:
        ValueError: where C++ throws: the text begins with no number, or with one that does not fit into 32 bits.
    """
    match = _INTEGER.match(text.lstrip(_SPACE))
    if match is None:
        raise ValueError(f"{text!r} does not begin with a number")
    sign, digits = match[0][0] == "-", match[0].lstrip("+-0") or "0"
    number = int(digits[:12]) * (-1 if sign else 1)  # twelve digits are out of range whatever follows
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{text!r} is out of the range of a 32-bit integer")
    return number


def fallback_is_on(environ: Mapping[str, str]) -> bool:
    """Return whether a torch that loads in this environment runs what MPS lacks on the CPU.

    Raises:
        ValueError: for a value with which `import torch` fails on a Mac; one sentence.
    """
    text = environ.get(FALLBACK)
    if text is None:
        return False
    try:
        return stoi(text) != 0
    except ValueError as error:
        raise ValueError(f"{FALLBACK}: {error}, and on a Mac `import torch` would fail with it; use 1 or 0") from None


@dataclass(frozen=True)
class WatermarkRatio:
    """A memory limit of torch, as a factor of Metal's recommended working set.

    Args:
        name: the variable.
        text: its value; None where it is not set.
        value: the factor that torch reads.
    """

    name: str
    text: str | None
    value: float

    @property
    def accepted(self) -> bool:
        """Whether torch accepts the number; it refuses MPS's first use with any other, NaN included."""
        return 0 <= self.value <= LARGEST_RATIO

    @property
    def misread(self) -> bool:
        """Whether torch reads a number where the text, as people write numbers, is not that number."""
        return self.text is not None and _DECIMAL.fullmatch(self.text.strip(_SPACE)) is None


def watermark_ratio(name: str, environ: Mapping[str, str]) -> WatermarkRatio:
    """Return a watermark as torch reads it.

    Args:
        name: HIGH_WATERMARK or LOW_WATERMARK.
        environ: the environment in which torch loads.
    """
    text = environ.get(name)
    return WatermarkRatio(name, text, DEFAULT_RATIOS[name] if text is None else strtod(text))
