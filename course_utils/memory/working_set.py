"""The share of its RAM that a Mac recommends for the GPU, as published; data with sources in data/working_set.json."""

from __future__ import annotations

from fractions import Fraction

from course_utils.data.read import read_json
from course_utils.reporting.units import GIB

# the sizes that Apple sells its chips with, GB
SOLD_RAM_GB = (8, 16, 18, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512)


def recommended_share(ram_gb: float) -> Fraction:
    """Return the smaller published share of the RAM that Metal recommends for the GPU.

    Two thirds up to 36 GB and three quarters above; newer systems recommend a little more (78 % of 48 GB).
    """
    for row in read_json("working_set.json")["shares"]:
        if row["up_to_ram_gb"] is None or ram_gb <= row["up_to_ram_gb"]:
            return Fraction(row["numerator"], row["denominator"])
    raise AssertionError("the last share holds for any RAM")


def recommended_bytes(ram_gb: float) -> int:
    """Return the recommended working set of a Mac with this RAM, in bytes; a "GB" of RAM is 2**30 bytes."""
    return int(recommended_share(ram_gb) * int(ram_gb * GIB))


def ram_for(recommended: float) -> int | None:
    """Return the RAM, as sold in GB, whose recommended working set is this one (within 1 %), or None."""
    return next((ram for ram in SOLD_RAM_GB if abs(recommended_bytes(ram) / recommended - 1) < 0.01), None)
