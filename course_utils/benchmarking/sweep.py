"""The same work over sizes, on several devices: where does the GPU start to win?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.benchmarking.compare import Work, compare_devices, probe_for
from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.reporting.results import TableResult
from course_utils.reporting.units import format_duration


@dataclass(frozen=True, repr=False)
class Sweep(TableResult):
    """Comparisons over one parameter.

    Args:
        label: what was measured.
        parameter: what was varied, for the axis, such as "matrix side".
        sizes: the values of the parameter, ascending.
        comparisons: one for each size.

    Raises:
        ValueError: when there is no size, sizes do not ascend, or there is not one comparison for each.
    """

    label: str
    parameter: str
    sizes: tuple[int, ...]
    comparisons: tuple[Comparison, ...]

    def __post_init__(self) -> None:
        if not self.sizes or len(self.sizes) != len(self.comparisons):
            raise ValueError(
                f"a sweep needs one comparison for each size, got {len(self.comparisons)} for {len(self.sizes)} sizes"
            )
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"the sizes of a sweep have to ascend, got {self.sizes}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all measurements, each with its size and device."""
        pairs = zip(self.sizes, self.comparisons, strict=True)
        return tuple(f"{self.parameter} {size}, {warning}" for size, found in pairs for warning in found.warnings)

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Pairs (device, reason) for devices that could not run every size."""
        return tuple(dict.fromkeys(pair for comparison in self.comparisons for pair in comparison.missing))

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that were measured at every size."""
        names = [timing.device for timing in self.comparisons[0].timings]
        return tuple(name for name in names if all(comparison.on(name) for comparison in self.comparisons))

    def timings(self, device: str) -> tuple[Timing, ...]:
        """Return the timing at each size on a device.

        Raises:
            ValueError: when the device was not measured at every size.
        """
        found = tuple(timing for comparison in self.comparisons if (timing := comparison.on(device)) is not None)
        if len(found) < len(self.sizes):
            measured = ", ".join(self.devices) or "none"
            raise ValueError(f"{device!r} was not measured at every size; measured: {measured}")
        return found

    def medians_s(self, device: str) -> tuple[float, ...]:
        """Return the median at each size on a device, seconds.

        Raises:
            ValueError: when the device was not measured at every size.
        """
        return tuple(timing.median_s for timing in self.timings(device))

    def faster_at(self, device: str, over: str = "cpu") -> tuple[bool, ...]:
        """Return at which sizes the median on `device` is smaller than that on `over`; equal is not smaller.

        Raises:
            ValueError: when one of the two was not measured at every size.
        """
        pairs = zip(self.medians_s(device), self.medians_s(over), strict=True)
        return tuple(fast < slow for fast, slow in pairs)

    def crossing(self, device: str, over: str = "cpu") -> int | None:
        """Return the size from which `device` is faster than `over`, at that size and every larger one measured.

        Returns:
            The size, or None when `over` is at least as fast at the largest size.

        Raises:
            ValueError: when one of the two was not measured at every size.
        """
        start = None
        for size, faster in reversed(list(zip(self.sizes, self.faster_at(device, over), strict=True))):
            if not faster:
                break
            start = size
        return start

    def title(self) -> str:
        """Return what was measured."""
        return f"{self.label} (medians)"

    def rows(self) -> list[list[str]]:
        """Return the medians as text, one row for each size, the heading first."""
        columns = [self.medians_s(device) for device in self.devices]
        rows = [[self.parameter, *self.devices]]
        for position, size in enumerate(self.sizes):
            rows.append([str(size), *(format_duration(column[position]) for column in columns)])
        return rows

    def notes(self) -> Sequence[str]:
        """Return the devices that did not run, each with its reason."""
        return [f"{device}: not measured - {reason}" for device, reason in self.missing]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        pairs = zip(self.sizes, self.comparisons, strict=True)
        points = [{"size": size} | comparison.to_dict() for size, comparison in pairs]
        return {"label": self.label, "parameter": self.parameter, "points": points}


def sweep_devices(
    work_of_size: Callable[[int], Work],
    sizes: Iterable[int],
    *,
    label: str,
    parameter: str = "size",
    inputs_of_size: Callable[[int], Sequence[Any]] = lambda size: (),
    devices_to_try: Iterable[str] | None = None,
    **options: Any,
) -> Sweep:
    """Compare devices at each size; every size is warmed up on its own, since MPS compiles for each new shape.

    Args:
        work_of_size: returns the work for one size, such as `lambda n: load_workload("matmul", size=n)`.
        sizes: the sizes to try.
        label: what is measured.
        parameter: what the sizes are, for the axis.
        inputs_of_size: the arguments for one size, when the work is a module or a function.
        devices_to_try: as for `compare_devices`; each is probed once for the whole sweep.
        options: as for `benchmark`.

    Raises:
        ValueError: when there is no size to measure.
    """
    ordered = tuple(sorted(set(sizes)))
    if not ordered:
        raise ValueError("sweep_devices got no sizes; pass at least one, better five or more")
    wanted = None if devices_to_try is None else list(devices_to_try)
    probed = probe_for(wanted)
    comparisons = tuple(
        compare_devices(
            work_of_size(size),
            inputs=inputs_of_size(size),
            devices_to_try=wanted,
            label=f"{label}, {parameter} {size}",
            probed=probed,
            **options,
        )
        for size in ordered
    )
    return Sweep(label=label, parameter=parameter, sizes=ordered, comparisons=comparisons)
