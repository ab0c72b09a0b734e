"""The sentence that says what a chart shows, for readers who cannot see it and for those who can."""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.roofline import Roofline
from course_utils.benchmarking.sweep import Sweep
from course_utils.data.published import Published
from course_utils.reporting.units import format_duration

# closer than this, two medians of a laptop are the same
ABOUT_EQUAL = 1.1


def ratio_words(faster_s: float, slower_s: float) -> str:
    """Say how much faster in words, such as "3.2 times as fast"."""
    return f"{slower_s / faster_s:.1f} times as fast"


def comparison_caption(comparison: Comparison, published: Sequence[Published] = ()) -> str:
    """Say which device was fastest, by how much, what was not measured, and what others published."""
    parts = []
    ordered = sorted(comparison.timings, key=lambda timing: timing.median_s)
    if len(ordered) == 1:
        only = ordered[0]
        parts.append(f"{comparison.label}: {only.device} takes {format_duration(only.median_s)} (median).")
    elif ordered:
        first, last = ordered[0], ordered[-1]
        if last.median_s / first.median_s < ABOUT_EQUAL:
            parts.append(f"{comparison.label}: {first.device} and {last.device} are about equally fast.")
        else:
            parts.append(
                f"{comparison.label}: {first.device} takes {format_duration(first.median_s)}, "
                f"{ratio_words(first.median_s, last.median_s)} as {last.device} "
                f"with {format_duration(last.median_s)} (medians)."
            )
    parts += [f"{device} was not measured here ({reason})." for device, reason in comparison.missing]
    parts += [
        f"Published, not measured here: {entry.device} {format_duration(entry.seconds)} ({entry.credit})."
        for entry in published
    ]
    return " ".join(parts)


def sweep_caption(sweep: Sweep, published: Sequence[Published] = ()) -> str:
    """Say from which size on the GPU wins, or that it never does, or that there was none."""
    gpus = [device for device in sweep.devices if device != "cpu"]
    low, high = sweep.sizes[0], sweep.sizes[-1]
    parts = []
    for gpu in gpus:
        start = sweep.crossing(gpu)
        if start is None:
            parts.append(f"{sweep.label}: the CPU is at least as fast as {gpu} at {sweep.parameter} {high}.")
        elif start == low:
            parts.append(
                f"{sweep.label}: {gpu} is faster than the CPU at every {sweep.parameter} from {low} to {high}."
            )
        else:
            parts.append(f"{sweep.label}: the CPU wins at first; {gpu} is faster from {sweep.parameter} {start} on.")
    if not gpus:
        times = sweep.medians_s("cpu")
        parts.append(
            f"{sweep.label}: on the CPU, from {format_duration(times[0])} at {sweep.parameter} {low} "
            f"to {format_duration(times[-1])} at {high}."
        )
    parts += [f"{device} was not measured here ({reason})." for device, reason in sweep.comparisons[0].missing]
    for credit in dict.fromkeys(entry.credit for entry in published):
        parts.append(f"Hollow marks are published, not measured here ({credit}).")
    return " ".join(parts)


def raw_times_caption(timings: Sequence[Timing]) -> str:
    """Say how far the single readings lie apart."""
    return " ".join(
        f"{timing.label} on {timing.device}: {len(timing.times_s)} readings from "
        f"{format_duration(min(timing.times_s))} to {format_duration(max(timing.times_s))}; "
        f"half of them lie within {format_duration(timing.iqr_s)} around the median {format_duration(timing.median_s)}."
        for timing in timings
    )


def roofline_caption(roofline: Roofline) -> str:
    """Say where the two ceilings meet, which operations stand under which, and what is doubtful."""
    parts = [
        f"{roofline.device}, {roofline.source}: memory is the limit below {roofline.ridge:.1f} FLOP/byte, "
        "arithmetic above."
    ]
    for limit in ("memory", "arithmetic"):
        under = [
            f"{operation.label} ({roofline.share(operation):.0%} of the roof)"
            for operation in roofline.operations
            if roofline.limit(operation.intensity) == limit
        ]
        if under:
            parts.append(f"Limited by {limit}: {', '.join(under)}.")
    return " ".join([*parts, *(f"Doubt: {warning}." for warning in roofline.warnings)])
