"""What a measurement is: raw times, their median and spread, and the doubts that come with them.

Nothing here reads a clock; `course_utils.benchmarking.timer` does. So every rule can be tried on described times.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from course_utils.reporting.tables import html_table, text_table
from course_utils.reporting.units import format_duration

# torch.utils.benchmark warns at the same two levels (torch 2.9-2.14, utils/benchmark/utils/common.py)
WIDE_SPREAD = 0.10
VERY_WIDE_SPREAD = 0.25
FEW_READINGS = 5
SLOW_FIRST_CALL = 3.0
# a published clock is rounded and chips boost a little: accuse only what is clearly above the peak
PEAK_TOLERANCE = 1.2


@dataclass(frozen=True, repr=False)
class Timing:
    """Times of one callable on one device.

    Args:
        label: what was measured.
        device: the device's name, such as "cpu" or "mps:0".
        times_s: one number for each reading of the clock: seconds per call, in the order measured.
        calls_per_reading: how many calls ran between two readings of the clock.
        first_call_s: the very first call, seconds; it is in none of the statistics.
        warmup_calls: calls before the first reading, the first call included.
        torch_version: the torch that ran.
        threads: CPU threads torch was allowed to use.
        chip: the chip's name where known, such as "Apple M1 Pro".
        flop: floating-point operations of one call, or None where nobody counted them.
        peak_flops: the device's published peak, FLOP/s, or None where none is known.
        warnings: reasons not to trust the numbers, filled by `timing.benchmark`.
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
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.times_s:
            raise ValueError("a Timing needs at least one reading; times_s is empty")

    @property
    def median_s(self) -> float:
        """The median of the readings, seconds per call."""
        return statistics.median(self.times_s)

    @property
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

    def __str__(self) -> str:
        lines = [
            f"{self.label} on {self.device}: {format_duration(self.median_s)} "
            f"(IQR {format_duration(self.iqr_s)}, {len(self.times_s)} readings of {self.calls_per_reading} "
            f"call{'s' if self.calls_per_reading > 1 else ''})"
        ]
        lines += [f"  ! {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)  # the raw times of a sweep would fill pages

    def _repr_html_(self) -> str:
        return Comparison(self.label, (self,))._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, the raw times and the statistics included."""
        first, third = self.quartiles_s
        return asdict(self) | {"median_s": self.median_s, "q1_s": first, "q3_s": third, "iqr_s": self.iqr_s}


@dataclass(frozen=True, repr=False)
class Comparison:
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
        """The doubts of all timings, each with its device."""
        return tuple(f"{timing.device}: {warning}" for timing in self.timings for warning in timing.warnings)

    def on(self, device: str) -> Timing | None:
        """Return the timing on a device ("mps" also finds "mps:0"), or None if it did not run there."""
        return next((t for t in self.timings if t.device == device or t.device.split(":")[0] == device), None)

    def speedup(self, device: str, over: str = "cpu") -> float | None:
        """Compute how many times faster `device` is than `over`: below 1 means slower, None means not measured."""
        fast, slow = self.on(device), self.on(over)
        return slow.median_s / fast.median_s if fast and slow else None

    @property
    def fastest(self) -> Timing | None:
        """The timing with the smallest median, or None when nothing ran."""
        return min(self.timings, key=lambda timing: timing.median_s, default=None)

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first: device, median, spread, first call, speed against the CPU."""
        rows = [["device", "median", "IQR", "first call", "against cpu"]]
        for timing in self.timings:
            speedup = self.speedup(timing.device)
            rows.append(
                [
                    timing.device,
                    format_duration(timing.median_s),
                    format_duration(timing.iqr_s),
                    format_duration(timing.first_call_s),
                    "" if speedup is None or timing.device == "cpu" else f"{speedup:.2f}x",
                ]
            )
        return rows

    def notes(self) -> list[str]:
        """Return what to know beside the numbers: devices that did not run, and doubts."""
        notes = [f"{device}: not measured - {reason}" for device, reason in self.missing]
        return notes + [f"doubt, {warning}" for warning in self.warnings]

    def __str__(self) -> str:
        return "\n".join([self.label, *text_table(self.rows()), *(f"  ! {note}" for note in self.notes())])

    def __repr__(self) -> str:
        return str(self)  # the raw times of a sweep would fill pages

    def _repr_html_(self) -> str:
        return html_table(self.label, self.rows(), self.notes())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "label": self.label,
            "timings": [timing.to_dict() for timing in self.timings],
            "missing": [{"device": device, "reason": reason} for device, reason in self.missing],
        }


def doubts(timing: Timing) -> tuple[str, ...]:
    """List the reasons not to trust a timing.

    Args:
        timing: the measurement to judge; its own `warnings` are not looked at.

    Returns:
        One sentence for each doubt: too few readings, a wide spread, a first call much slower than the rest,
        a speed above the chip's published peak.
    """
    found = []
    if len(timing.times_s) < FEW_READINGS:
        found.append(
            f"too few readings ({len(timing.times_s)}; {FEW_READINGS} or more make a stable median): raise max_time_s"
        )
    spread = timing.iqr_s / timing.median_s if timing.median_s > 0 else float("inf")
    if spread > VERY_WIDE_SPREAD:
        found.append(f"very wide spread (IQR is {spread:.0%} of the median): something else keeps this machine busy")
    elif spread > WIDE_SPREAD:
        found.append(f"wide spread (IQR is {spread:.0%} of the median): close other programs and measure again")
    if timing.first_call_s > SLOW_FIRST_CALL * timing.median_s:
        times = timing.first_call_s / timing.median_s if timing.median_s > 0 else float("inf")
        found.append(
            f"the first call took {format_duration(timing.first_call_s)}, {times:.0f} times the median: "
            "it compiles and fills caches, and is not in the statistics"
        )
    if timing.flop and timing.peak_flops and timing.flop / timing.median_s > PEAK_TOLERANCE * timing.peak_flops:
        found.append(
            f"implausibly fast: {timing.flop / timing.median_s / 1e12:.2f} TFLOP/s is above the published peak of "
            f"{timing.peak_flops / 1e12:.2f}; the clock was probably read before the device had finished"
        )
    return tuple(found)
