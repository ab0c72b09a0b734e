"""Apple's chips as published: GPU cores, clock, memory bandwidth, and the peak that follows.

Data with sources: course_utils/data/chips.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from course_utils.data.read import read_json
from course_utils.devices.machine import this_chip

# one multiply and one add for each of 128 float32 lanes of a GPU core in each clock cycle, M1 to M4
# (source in chips.json); float16 runs at the same rate there
FLOP_PER_CORE_AND_CYCLE = 256
# above every published GPU clock of M1 to M5 (at most 1.7 GHz), and above the matrix units of the M5's cores
FASTER_THAN_ANY_MHZ = 2500
MORE_THAN_ANY_FLOP_PER_CORE_AND_CYCLE = 8 * FLOP_PER_CORE_AND_CYCLE


@dataclass(frozen=True)
class Chip:
    """One Apple chip as published.

    Args:
        name: Apple's name, such as "M1 Pro".
        gpu_cores: the core counts it is sold with.
        bandwidth_gb_per_s: published memory bandwidth, one value for each GPU core count, GB/s.
        max_memory_gb: largest unified memory, GB.
        gpu_clock_mhz: highest clock found in a published source, or None where none was found.
        sources: where the figures come from.
    """

    name: str
    gpu_cores: tuple[int, ...]
    bandwidth_gb_per_s: tuple[float, ...]
    max_memory_gb: int
    gpu_clock_mhz: float | None
    sources: tuple[str, ...]

    def peak_flops(self, gpu_cores: int | None = None) -> float | None:
        """Return the GPU's float32 peak in FLOP/s, for the largest core count if none is given.

        Returns:
            FLOP/s, or None where no clock is published: without one there is no peak to compare with.
        """
        if self.gpu_clock_mhz is None:
            return None
        return (gpu_cores or max(self.gpu_cores)) * FLOP_PER_CORE_AND_CYCLE * self.gpu_clock_mhz * 1e6


@cache
def all_chips() -> tuple[Chip, ...]:
    """Return the chip table, oldest first."""
    return tuple(
        Chip(
            name=row["name"],
            gpu_cores=tuple(row["gpu_cores"]),
            bandwidth_gb_per_s=tuple(row["bandwidth_gb_per_s"]),
            max_memory_gb=row["max_memory_gb"],
            gpu_clock_mhz=row["gpu_clock_mhz"],
            sources=tuple(row["sources"]),
        )
        for row in read_json("chips.json")["chips"]
    )


def find_chip(brand: str) -> Chip | None:
    """Return a chip by the name macOS gives it; None where the table lacks it.

    Args:
        brand: `sysctl -n machdep.cpu.brand_string`, such as "Apple M1 Pro"; with or without "Apple".
    """
    name = brand.strip().removeprefix("Apple").strip()
    return next((chip for chip in all_chips() if chip.name == name), None)


def certain_bound_flops(gpu_cores: int) -> float:
    """Return a rate that no Apple GPU with this many cores reaches, whatever its clock, FLOP/s.

    It is far above the real peak, and still catches a clock that was read before the GPU had finished.
    """
    return gpu_cores * FASTER_THAN_ANY_MHZ * 1e6 * MORE_THAN_ANY_FLOP_PER_CORE_AND_CYCLE


def peak_flops_here(device_type: str) -> float | None:
    """Return what this machine's device certainly does not exceed, FLOP/s.

    Args:
        device_type: "mps", "cuda" or "cpu"; only MPS has a bound here.

    Returns:
        The published float32 peak of the chip; for a chip without a published clock `certain_bound_flops`; None where
        nothing is known.
    """
    brand = this_chip()
    if device_type != "mps" or brand is None:
        return None
    import torch

    # get_core_count: torch 2.9 and newer
    gpu_cores = torch.backends.mps.get_core_count()
    chip = find_chip(brand)
    published = None if chip is None else chip.peak_flops(gpu_cores)
    return certain_bound_flops(gpu_cores) if published is None else published
