"""Described timings, sweeps and rooflines, of which nothing was measured."""

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.roofline import Roofline
from course_utils.benchmarking.sweep import Sweep


def timing(device, seconds):
    return Timing("work", device, (seconds,) * 5, 1, seconds, 3, "2.14.1", 2)


def sweep(cpu, mps, sizes=None):
    """Describe a sweep by its medians; mps=None for a machine without MPS."""
    comparisons = tuple(
        Comparison("work", (timing("cpu", c), *([] if mps is None else [timing("mps:0", mps[i])])))
        for i, c in enumerate(cpu)
    )
    return Sweep("work", "size", tuple(sizes or range(1, len(cpu) + 1)), comparisons)


def roofline(*operations):
    """Describe a device with 100 GB/s and 1000 GFLOP/s: the ridge is at 10 FLOP/byte."""
    return Roofline("cpu", bytes_per_s=100e9, flop_per_s=1000e9, source="described", operations=operations)
