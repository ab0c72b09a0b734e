"""What a measurement is: raw times, their median and spread, and the warnings that follow from them.

Nothing here reads a clock; `course_utils.benchmarking.timer` does. So every rule can be tried on described times.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from course_utils.benchmarking.trend import drift
from course_utils.reporting.results import TableResult
from course_utils.reporting.units import format_duration
from course_utils.reporting.wrapped import wrapped

# torch.utils.benchmark warns at the same two levels (torch 2.9-2.14, utils/benchmark/utils/common.py)
WIDE_SPREAD = 0.10
VERY_WIDE_SPREAD = 0.25
FEW_READINGS = 5
# a published clock is rounded and chips boost a little: only what is clearly above the peak is implausible
PEAK_TOLERANCE = 1.2


@dataclass(frozen=True, repr=False)
class Timing(TableResult):
    """Times of one callable on one device.

    Args:
        label: what was measured.
        device: the device's name, such as "cpu" or "mps:0".
        times_s: one number for each reading of the clock: seconds per call, in the order measured.
        calls_per_reading: how many calls ran between two readings of the clock.
        first_call_s: the very first call, seconds. It is in none of the statistics, unless `max_time_s` left time for
            no other call; then it is the only reading, and `warmup_calls` is 0.
        warmup_calls: calls before the first reading, the first call included.
        torch_version: the torch that ran.
        threads: CPU threads torch was allowed to use.
        chip: the chip's name where known, such as "Apple M1 Pro".
        flop: floating-point operations of one call, or None where nobody counted them.
        peak_flops: what the device certainly does not exceed, FLOP/s, or None where nothing is known.

    Raises:
        ValueError: without readings, or for a time that is negative or not a number.
    """

    label: str
    device: str
    times_s: tuple[float, ...]
    calls_per_reading: int
    first_call_s: float
    warmup_calls: int
    torch_version: str
    threads: int
    chip: str | None = None
    flop: float | None = None
    peak_flops: float | None = None

    def __post_init__(self) -> None:
        if not self.times_s:
            raise ValueError("a Timing needs at least one reading; times_s is empty")
        for time_s in (*self.times_s, self.first_call_s):
            if not (math.isfinite(time_s) and time_s >= 0):
                raise ValueError(f"{self.label!r} has a time of {time_s} s; a time has to be a finite number from 0")

    @cached_property
    def median_s(self) -> float:
        """The median of the readings, seconds per call."""
        return statistics.median(self.times_s)

    @cached_property
    def quartiles_s(self) -> tuple[float, float]:
        """The first and third quartile, seconds per call (linear interpolation, as NumPy's default)."""
        if len(self.times_s) == 1:
            return self.times_s[0], self.times_s[0]
        first, _, third = statistics.quantiles(self.times_s, n=4, method="inclusive")
        return first, third

    @property
    def iqr_s(self) -> float:
        """The interquartile range: the width of the middle half of the readings, seconds."""
        first, third = self.quartiles_s
        return third - first

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """The reasons not to trust the numbers, one sentence each."""
        return (*_warn_of_readings(self), *_warn_of_spread(self), *_warn_of_rate(self))

    def title(self) -> str:
        """Return what was measured."""
        return self.label

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first."""
        return [[*HEADING], self.row()]

    def row(self) -> list[str]:
        """Return the device, the median, the spread and the first call as text."""
        return [self.device, *map(format_duration, (self.median_s, self.iqr_s, self.first_call_s))]

    def __str__(self) -> str:
        calls = f"{self.calls_per_reading} call{'s' if self.calls_per_reading > 1 else ''}"
        line = (
            f"{self.label} on {self.device}: {format_duration(self.median_s)} "
            f"(IQR {format_duration(self.iqr_s)}, {len(self.times_s)} readings of {calls})"
        )
        return "\n".join([wrapped(line), *(wrapped(f"warning: {warning}", "  ") for warning in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the raw times, the statistics and the warnings."""
        first, third = self.quartiles_s
        statistics_s = {"median_s": self.median_s, "q1_s": first, "q3_s": third, "iqr_s": self.iqr_s}
        return asdict(self) | statistics_s | {"warnings": list(self.warnings)}


HEADING = ("device", "median", "IQR", "first call")


@dataclass(frozen=True, repr=False)
class Comparison(TableResult):
    """The same work on several devices.

    Args:
        label: what was measured.
        timings: one for each device that ran, in the order measured.
        missing: pairs (device, reason) for devices that could not run it.
    """

    label: str
    timings: tuple[Timing, ...]
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all timings, each with its device."""
        return tuple(f"{timing.device}: {warning}" for timing in self.timings for warning in timing.warnings)

    def on(self, device: str) -> Timing | None:
        """Return the timing on a device ("mps" also finds "mps:0"), or None if it did not run there."""
        return next((t for t in self.timings if t.device == device or t.device.split(":")[0] == device), None)

    def speedup(self, device: str, over: str = "cpu") -> float | None:
        """Return how many times as fast as `over` a device is: below 1 means slower.

        Returns:
            The ratio of the medians, or None where one of the two was not measured, or has a median of 0.
        """
        fast, slow = self.on(device), self.on(over)
        return slow.median_s / fast.median_s if fast and slow and fast.median_s and slow.median_s else None

    @property
    def fastest(self) -> Timing | None:
        """The timing with the smallest median, or None when nothing ran."""
        return min(self.timings, key=lambda timing: timing.median_s, default=None)

    def title(self) -> str:
        """Return what was measured."""
        return self.label

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first: device, median, spread, first call, speed against the CPU."""
        rows = [[*HEADING, "against cpu"]]
        for timing in self.timings:
            speedup = None if timing.device == "cpu" else self.speedup(timing.device)
            rows.append([*timing.row(), "" if speedup is None else f"{speedup:.2f}x"])
        return rows

    def notes(self) -> Sequence[str]:
        """Return the devices that did not run, each with its reason."""
        return [f"{device}: not measured - {reason}" for device, reason in self.missing]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "label": self.label,
            "timings": [timing.to_dict() for timing in self.timings],
            "missing": [{"device": device, "reason": reason} for device, reason in self.missing],
        }


def _warn_of_readings(timing: Timing) -> list[str]:
    """Return what is wrong with the readings themselves."""
    found = []
    if timing.warmup_calls == 0:
        found.append("the only reading is the first call, which compiles and fills caches: raise max_time_s")
    elif len(timing.times_s) < FEW_READINGS:
        found.append(
            f"too few readings ({len(timing.times_s)}; {FEW_READINGS} or more make a stable median): raise max_time_s"
        )
    if timing.median_s == 0:
        found.append("the clock stood still during half of the readings: a call is shorter than the clock can tell")
    return found


def _warn_of_spread(timing: Timing) -> list[str]:
    """Return whether the readings lie far apart, or moved one way while they were taken."""
    if timing.median_s == 0:
        return []
    found = []
    spread = timing.iqr_s / timing.median_s
    if spread > VERY_WIDE_SPREAD:
        found.append(f"very wide spread (IQR is {spread:.0%} of the median): something else keeps this machine busy")
    elif spread > WIDE_SPREAD:
        found.append(f"wide spread (IQR is {spread:.0%} of the median): close other programs and measure again")
    moved = drift(timing.times_s)
    if moved is not None:
        before, after = map(format_duration, moved)
        cause = (
            "the machine heats up and slows down, or memory fills: pause, then measure again"
            if moved[1] > moved[0]
            else "it was still warming up: raise warmup"
        )
        found.append(f"steady drift from {before} to {after}: {cause}")
    return found


def _warn_of_rate(timing: Timing) -> list[str]:
    """Return whether the work was done faster than the device can."""
    if not timing.flop or not timing.peak_flops or not timing.median_s:
        return []
    rate = timing.flop / timing.median_s
    if rate <= PEAK_TOLERANCE * timing.peak_flops:
        return []
    return [
        f"implausibly fast: {rate / 1e12:.2f} TFLOP/s is above the {timing.peak_flops / 1e12:.2f} "
        "that this chip can do at most; the clock was probably read before the device had finished"
    ]
