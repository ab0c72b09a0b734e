"""How fast an operation can be at best: either the memory or the arithmetic is the limit.

The roofline model of Williams, Waterman and Patterson (2009). Two ceilings describe a device, bytes per second and
floating-point operations per second (FLOP/s); one number describes an operation, its FLOP for each byte it moves.
Nothing here measures: the ceilings and the times come from `timing.benchmark`, or from a data sheet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from course_utils.benchmarking.measurement import PEAK_TOLERANCE
from course_utils.reporting.results import TableResult

Ceiling = Literal["memory", "arithmetic"]


@dataclass(frozen=True)
class MeasuredOperation:
    """One operation, what it has to do, and how long it took.

    Args:
        label: what was measured.
        flop: floating-point operations of one call.
        n_bytes: bytes that one call has to move: every input read once, every output written once.
        seconds: the time of one call.

    Raises:
        ValueError: when bytes or seconds are not positive, or FLOP are negative.
    """

    label: str
    flop: float
    n_bytes: float
    seconds: float

    def __post_init__(self) -> None:
        if self.n_bytes <= 0 or self.seconds <= 0 or self.flop < 0:
            raise ValueError(
                f"operation {self.label!r} has flop={self.flop}, n_bytes={self.n_bytes} and seconds={self.seconds}; "
                "bytes and seconds have to be above 0, FLOP 0 or more"
            )

    @property
    def intensity(self) -> float:
        """The arithmetic intensity, FLOP for each byte moved."""
        return self.flop / self.n_bytes

    @property
    def flop_per_s(self) -> float:
        """The rate that was reached, FLOP/s."""
        return self.flop / self.seconds


@dataclass(frozen=True, repr=False)
class Roofline(TableResult):
    """The two ceilings of a device, and the operations measured under them.

    Args:
        device: the device's name, such as "cpu" or "mps:0".
        bytes_per_s: the bandwidth ceiling, bytes per second.
        flop_per_s: the arithmetic ceiling, FLOP/s.
        source: where the ceilings come from, such as "measured here" or "data sheet".
        operations: what was measured on this device.

    Raises:
        ValueError: when a ceiling is not positive.
    """

    device: str
    bytes_per_s: float
    flop_per_s: float
    source: str
    operations: tuple[MeasuredOperation, ...] = ()

    def __post_init__(self) -> None:
        if self.bytes_per_s <= 0 or self.flop_per_s <= 0:
            raise ValueError(
                f"a roofline needs two ceilings above 0, got {self.bytes_per_s} bytes/s and {self.flop_per_s} FLOP/s"
            )

    @property
    def ridge(self) -> float:
        """The intensity at which both ceilings meet, FLOP/byte: below it the memory is the limit."""
        return self.flop_per_s / self.bytes_per_s

    def limit(self, intensity: float) -> Ceiling:
        """Return what limits an operation of this intensity, FLOP/byte."""
        return "memory" if intensity < self.ridge else "arithmetic"

    def attainable(self, intensity: float) -> float:
        """Compute the highest rate an operation of this intensity (FLOP/byte) can reach, FLOP/s."""
        return min(self.flop_per_s, intensity * self.bytes_per_s)

    def least_s(self, flop: float, n_bytes: float) -> float:
        """Compute the shortest time in which the work can be done, seconds: the longer of moving and computing."""
        return max(flop / self.flop_per_s, n_bytes / self.bytes_per_s)

    def share(self, operation: MeasuredOperation) -> float:
        """Compute which part of the attainable rate an operation reached: 1 is on the roof."""
        return self.least_s(operation.flop, operation.n_bytes) / operation.seconds

    @property
    def warnings(self) -> tuple[str, ...]:
        """The operations that are clearly above the roof, which no operation of the device can be."""
        return tuple(
            f"{operation.label} is {self.share(operation):.1f} times as fast as the roof allows: "
            "its data stayed in a cache, a ceiling was measured too low, or something was not counted"
            for operation in self.operations
            if self.share(operation) > PEAK_TOLERANCE
        )

    def title(self) -> str:
        """Return the device and its two ceilings."""
        return (
            f"Roofline of {self.device} ({self.source}): {self.bytes_per_s / 1e9:.1f} GB/s, "
            f"{self.flop_per_s / 1e9:.0f} GFLOP/s, ridge at {self.ridge:.1f} FLOP/byte"
        )

    def rows(self) -> list[list[str]]:
        """Return the operations as text, the heading first."""
        rows = [["operation", "FLOP/byte", "limit", "GFLOP/s at best", "GFLOP/s reached", "of the roof"]]
        for operation in self.operations:
            rows.append(
                [
                    operation.label,
                    f"{operation.intensity:.3g}",
                    self.limit(operation.intensity),
                    f"{self.attainable(operation.intensity) / 1e9:.3g}",
                    f"{operation.flop_per_s / 1e9:.3g}",
                    f"{self.share(operation):.0%}",
                ]
            )
        return rows
