"""The same work over sizes, on several devices: where does the GPU start to win?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.benchmarking.measurement import Comparison
from course_utils.benchmarking.timer import Portable, compare_devices
from course_utils.reporting.tables import html_table, text_table
from course_utils.reporting.units import format_duration


@dataclass(frozen=True, repr=False)
class Sweep:
    """Comparisons over one parameter.

    Args:
        label: what was measured.
        parameter: what was varied, for the axis, such as "side of the matrices".
        sizes: the values of the parameter, ascending.
        comparisons: one for each size.
    """

    label: str
    parameter: str
    sizes: tuple[int, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts of all measurements, each with its size and device."""
        pairs = zip(self.sizes, self.comparisons, strict=True)
        return tuple(f"{size}: {warning}" for size, comparison in pairs for warning in comparison.warnings)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that were measured at every size."""
        names = [timing.device for timing in self.comparisons[0].timings] if self.comparisons else []
        return tuple(name for name in names if all(comparison.on(name) for comparison in self.comparisons))

    def medians_s(self, device: str) -> tuple[float, ...]:
        """Return the median at each size on a device, seconds.

        Raises:
            ValueError: when the device was not measured at every size.
        """
        timings = [comparison.on(device) for comparison in self.comparisons]
        found = tuple(timing.median_s for timing in timings if timing is not None)
        if len(found) < len(self.sizes):
            raise ValueError(f"{device!r} was not measured at every size; measured: {', '.join(self.devices)}")
        return found

    def crossing(self, device: str, over: str = "cpu") -> int | None:
        """Find the size from which `device` is faster than `over`, at that size and every larger one measured.

        Returns:
            The size, or None when `over` is at least as fast at the largest size.
        """
        pairs = zip(self.sizes, self.medians_s(device), self.medians_s(over), strict=True)
        wins = [(size, fast < slow) for size, fast, slow in pairs]
        start = None
        for size, won in reversed(wins):
            if not won:
                break
            start = size
        return start

    def _rows(self) -> list[list[str]]:
        rows = [[self.parameter, *self.devices]]
        for position, size in enumerate(self.sizes):
            rows.append([str(size), *(format_duration(self.medians_s(device)[position]) for device in self.devices)])
        return rows

    def _notes(self) -> list[str]:
        missing = self.comparisons[0].missing if self.comparisons else ()
        return [f"{device}: not measured - {reason}" for device, reason in missing]

    def __str__(self) -> str:
        return "\n".join([self.label, *text_table(self._rows()), *(f"  ! {note}" for note in self._notes())])

    def __repr__(self) -> str:
        return str(self)  # the raw times of a sweep would fill pages

    def _repr_html_(self) -> str:
        return html_table(f"{self.label} (medians)", self._rows(), self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        pairs = zip(self.sizes, self.comparisons, strict=True)
        points = [{"size": size} | comparison.to_dict() for size, comparison in pairs]
        return {"label": self.label, "parameter": self.parameter, "points": points}


def sweep_devices(
    work_of_size: Callable[[int], Portable | Callable[..., Any]],
    sizes: Iterable[int],
    *,
    label: str,
    parameter: str = "size",
    inputs_of_size: Callable[[int], Sequence[Any]] = lambda size: (),
    **options: Any,
) -> Sweep:
    """Compare devices at each size; every size is warmed up on its own, since MPS compiles for each new shape.

    Args:
        work_of_size: returns the work for one size, such as `lambda n: load_workload("matmul", size=n)`.
        sizes: the sizes to try.
        label: what is measured.
        parameter: what the sizes are, for the axis.
        inputs_of_size: the arguments for one size, when the work is a module or a function.
        options: passed on to `compare_devices`.

    Raises:
        ValueError: when there is no size to measure.
    """
    ordered = tuple(sorted(sizes))
    if not ordered:
        raise ValueError("sweep_devices got no sizes; pass at least one, better five or more")
    comparisons = tuple(
        compare_devices(
            work_of_size(size), inputs=inputs_of_size(size), label=f"{label}, {parameter} {size}", **options
        )
        for size in ordered
    )
    return Sweep(label=label, parameter=parameter, sizes=ordered, comparisons=comparisons)
