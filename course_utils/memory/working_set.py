"""The share of its RAM that a Mac recommends for the GPU, as published; data with sources in data/working_set.json."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from course_utils.data.read import read_json
from course_utils.reporting.units import GIB

# the sizes that Apple sells its chips with, GB
SOLD_RAM_GB = (8, 16, 18, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512)


@dataclass(frozen=True)
class Observed:
    """A recommended working set that somebody published.

    Args:
        ram_gb: the Mac's RAM as sold, GB.
        recommended_gib: Metal's recommended working set, GiB.
        quoted: the number as published.
        source: where, with chip and date.
    """

    ram_gb: int
    recommended_gib: float
    quoted: str
    source: str


@cache
def _data() -> dict[str, Any]:
    return read_json("working_set.json")


def observed_working_sets() -> tuple[Observed, ...]:
    """List the published working sets, smallest RAM first."""
    return tuple(Observed(**row) for row in _data()["observed"])


def recommended_share(ram_gb: float) -> Fraction:
    """Look up the smaller published share of the RAM that Metal recommends for the GPU.

    Two thirds up to 36 GB and three quarters above; newer systems recommend a little more (78 % of 48 GB).
    """
    for row in _data()["shares"]:
        if row["up_to_ram_gb"] is None or ram_gb <= row["up_to_ram_gb"]:
            return Fraction(row["numerator"], row["denominator"])
    raise AssertionError("the last share holds for any RAM")


def recommended_bytes(ram_gb: float) -> int:
    """Compute the recommended working set of a Mac with this RAM, in bytes; a "GB" of RAM is 2**30 bytes."""
    return int(recommended_share(ram_gb) * int(ram_gb * GIB))


def ram_for(recommended: float) -> int | None:
    """Find the RAM, as sold in GB, whose recommended working set is this one (within 1 %), or None."""
    return next((ram for ram in SOLD_RAM_GB if abs(recommended_bytes(ram) / recommended - 1) < 0.01), None)
