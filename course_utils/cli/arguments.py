"""The kinds of values that arguments of several commands have, as `type=` of argparse."""

from __future__ import annotations

import argparse
import math


def positive_number(text: str) -> float:
    """Parse a finite number above 0, such as seconds.

    Raises:
        argparse.ArgumentTypeError: for 0, a negative number, inf, nan and words; argparse names the argument.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"is {text}; it has to be a finite number above 0")
    return number
