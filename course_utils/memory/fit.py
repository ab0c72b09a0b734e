"""Does it fit: an estimate against a budget, with the reason, and the largest batch that stays comfortable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from course_utils.memory.budget import MemoryBudget
from course_utils.memory.footprint import PHASES, BatchPeaks, MemoryEstimate
from course_utils.reporting.results import TableResult
from course_utils.reporting.units import format_bytes

FitVerdict = Literal["comfortable", "tight", "will page", "impossible"]
# the rest of the recommended working set is for what an estimate does not count: compiled graphs, the allocator's
# cache, the screen and other programs that use the GPU
COMFORTABLE_SHARE = 0.9
# beyond this, a line through the smaller batches does not describe the largest
LARGEST_DEVIATION = 0.02


@dataclass(frozen=True, repr=False)
class Fit(TableResult):
    """The answer to "does it fit".

    Args:
        verdict: "comfortable" (within 90 % of the recommended working set), "tight" (within it), "will page" (beyond
            it, within torch's limit) or "impossible" (beyond the limit: torch refuses).
        reason: one sentence with the numbers.
        largest_batch: the largest batch that stays comfortable; 0 where none does, None where it is unknown.
        batch_reason: how the largest batch is known.
        estimate: what the model needs.
        budget: what the Mac offers.
    """

    verdict: FitVerdict
    reason: str
    largest_batch: int | None
    batch_reason: str
    estimate: MemoryEstimate
    budget: MemoryBudget

    @property
    def comfortable(self) -> bool:
        """Whether the peak leaves room for everything else that uses the GPU."""
        return self.verdict == "comfortable"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the estimate and of the budget."""
        return self.estimate.warnings + self.budget.warnings

    def rows(self) -> list[list[str]]:
        """Return the table as text, the heading first."""
        batch = "unknown" if self.largest_batch is None else str(self.largest_batch)
        return [
            ["question", "answer", "because"],
            ["does it fit", self.verdict, self.reason],
            ["largest comfortable batch", batch, self.batch_reason],
        ]

    @property
    def summary(self) -> str:
        """The verdict and the largest comfortable batch, two lines."""
        batch = "unknown" if self.largest_batch is None else f"{self.largest_batch:,}"
        return f"{self.verdict}: {self.reason}\n  largest comfortable batch: {batch} ({self.batch_reason})"

    def title(self) -> str:
        """Return which model, on which Mac."""
        return f"{self.estimate.label} on {self.budget.name}"

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  warning: {warning}" for warning in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "largest_batch": self.largest_batch,
            "batch_reason": self.batch_reason,
            "estimate": self.estimate.to_dict(),
            "budget": self.budget.to_dict(),
        }


def fits(estimate: MemoryEstimate, budget: MemoryBudget) -> Fit:
    """Return whether a model fits on a Mac.

    The recommended working set is the capacity; the hard limit never is, since it lies above the RAM: a step between
    the two runs, slowly, from swap (pytorch #105839).

    Args:
        estimate: what the model needs, from `estimate_memory`.
        budget: what the Mac offers, from `memory_budget`.
    """
    verdict, reason = _judge(estimate.peak_bytes, budget)
    largest, why = _largest_batch(estimate, int(COMFORTABLE_SHARE * budget.recommended_bytes))
    return Fit(verdict, reason, largest, why, estimate, budget)


def _judge(peak_bytes: int, budget: MemoryBudget) -> tuple[FitVerdict, str]:
    peak, recommended = format_bytes(peak_bytes), format_bytes(budget.recommended_bytes)
    share = peak_bytes / budget.recommended_bytes
    if share <= 1:
        reason = f"the peak of {peak} is {share:.0%} of the recommended working set of {recommended}"
        if share <= COMFORTABLE_SHARE:
            return "comfortable", reason
        return "tight", (
            f"{reason}, which compiled graphs, macOS's screen and every other program on the GPU share: close the "
            "browser and other programs, or use a smaller batch"
        )
    if budget.hard_limit_bytes is None or peak_bytes <= budget.hard_limit_bytes:
        limit = "no limit stops it" if budget.hard_limit_bytes is None else "torch's limit lets it run"
        ram = format_bytes(budget.ram_bytes)
        beyond = f"and the RAM of {ram}" if peak_bytes > budget.ram_bytes else f"of {ram} RAM"
        return "will page", (
            f"the peak of {peak} exceeds the recommended working set of {recommended} {beyond}; {limit}, from "
            "compressed and swapped memory, many times slower"
        )
    return "impossible", (
        f"the peak of {peak} exceeds torch's hard limit of {format_bytes(budget.hard_limit_bytes)}: "
        "'MPS backend out of memory'"
    )


def predict_peak(points: tuple[BatchPeaks, ...], batch: int) -> float:
    """Return the peak of a batch from traced ones, in bytes: a line for each phase through the two nearest batches.

    Phases are lines of their own, since an optimizer step costs the same whatever the batch.
    """
    ordered = sorted(points, key=lambda point: point.batch)
    upper = next((i for i, point in enumerate(ordered) if point.batch >= batch), len(ordered) - 1)
    upper = max(upper, 1)
    left, right = ordered[upper - 1], ordered[upper]
    here, there = dict(left.phases_bytes), dict(right.phases_bytes)
    distance = (batch - left.batch) / (right.batch - left.batch)
    return max(here[phase] + (there[phase] - here[phase]) * distance for phase in PHASES if phase in here)


def _largest_batch(estimate: MemoryEstimate, capacity_bytes: int) -> tuple[int | None, str]:
    points = tuple(sorted(estimate.peaks_by_batch, key=lambda point: point.batch))
    if len(points) < 2:
        return None, "only one batch size was traced"
    if predict_peak(points, 1) > capacity_bytes:
        return 0, f"even one example needs {format_bytes(predict_peak(points, 1))}"
    low, high = 1, 2
    while predict_peak(points, high) <= capacity_bytes:
        low, high = high, 2 * high
        if high > 2**40:
            return None, "the peak does not grow with the batch"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predict_peak(points, middle) <= capacity_bytes else (low, middle)
    return low, _how_known(points, low)


def _how_known(points: tuple[BatchPeaks, ...], batch: int) -> str:
    """Return where a batch lies among the traced ones, and so how far to trust its peak."""
    traced = [point.batch for point in points]
    if batch < traced[0]:
        return f"below the smallest traced batch, {traced[0]}, so a rough guess: estimate again with this batch"
    if batch <= traced[-1]:
        upper = next(size for size in traced if size >= batch)
        lower = max((size for size in traced if size < upper), default=upper)
        return f"on the line between the traced batches {lower} and {upper}, which promises no more than is true"
    beyond = f"beyond the largest traced batch, {traced[-1]}"
    if len(points) < 3:
        return f"{beyond}, so a rough guess: estimate again with this batch"
    deviation = abs(predict_peak(points[:-1], traced[-1]) / points[-1].peak_bytes - 1)
    how = f"{beyond}, whose peak the smaller ones predict within {deviation:.1%}"
    return how if deviation <= LARGEST_DEVIATION else f"{how}, so a rough guess: estimate again with this batch"
