"""A described document of `course bench`, of which nothing was measured."""

from dataclasses import replace

from course_utils.benchmarking.document import BenchDocument
from course_utils.benchmarking.measurement import Comparison, Timing

MACHINE = {
    "torch_version": "2.14.1",
    "system": "macOS 15.6.1",
    "build": "24G90",
    "chip": "Apple M4",
    "cores": 10,
    "ram_bytes": 16 * 2**30,
    "python": "3.12.7",
    "threads": 4,
    "power_source": "AC Power",
    "thermal_state": "no limit recorded",
    "probes": {"mps": "usable", "cuda": "absent", "cpu": "usable"},
}
SIZES = (64, 256, 1024)
# seconds: MPS is slower at 64 and faster from 256 on
CPU_S = (2e-5, 4e-4, 2e-2)
MPS_S = (2e-4, 3e-4, 2e-3)


def times(label, device, median_s, *, spread=0.05, readings=9, flop=None, **changes):
    """Describe a timing whose interquartile range is `spread` of its median."""
    step = 2 * spread / (readings - 1)
    readings_s = tuple(median_s * (1 + step * (i - (readings - 1) / 2)) for i in range(readings))
    return Timing(label, device, readings_s, 1, median_s * 3, 5, "2.14.1", 4, "Apple M4", flop, **changes)


def product(size, cpu_s, mps_s, **changes):
    """Describe a product on both devices; MPS carries the count of its operations, as on a Mac."""
    label = f"Matrix product {size}x{size}"
    return Comparison(label, (times(label, "cpu", cpu_s), times(label, "mps:0", mps_s, flop=2.0 * size**3, **changes)))


def described(machine=None, comparisons=None, **changes):
    """Describe a run; `machine` replaces single facts of it, and a chip in it is that of the times too."""
    found = tuple(product(*row) for row in zip(SIZES, CPU_S, MPS_S, strict=True))
    settings = {"only": None, "mode": "both", "batch": 1, "sweep": True, "max_time_s": 5.0}
    found = found if comparisons is None else comparisons
    if machine and "chip" in machine:
        found = tuple(
            replace(one, timings=tuple(replace(timing, chip=machine["chip"]) for timing in one.timings))
            for one in found
        )
    return BenchDocument(MACHINE | (machine or {}), settings, found, **changes)
