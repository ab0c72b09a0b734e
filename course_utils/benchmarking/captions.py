"""The sentence below a chart: what it shows, for readers who cannot see it and for those who can."""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.roofline import Roofline
from course_utils.benchmarking.sweep import Sweep
from course_utils.data.published import Published
from course_utils.reporting.units import format_duration

# closer than this, two medians of a laptop are the same
ABOUT_EQUAL = 1.1


def comparison_caption(comparison: Comparison, published: Sequence[Published] = ()) -> str:
    """Return which device was fastest, by how much, what was not measured, and what others published."""
    parts = []
    ordered = sorted(comparison.timings, key=lambda timing: timing.median_s)
    if len(ordered) == 1:
        only = ordered[0]
        parts.append(f"{comparison.label}: {only.device} takes {format_duration(only.median_s)} (median).")
    elif ordered:
        parts.append(f"{comparison.label}: {_fastest_and_slowest(ordered[0], ordered[-1])}")
    parts += _not_measured(comparison.missing)
    parts += [
        f"Published, not measured here: {entry.device} {format_duration(entry.seconds)} ({entry.credit})."
        for entry in published
    ]
    return " ".join(parts)


def _fastest_and_slowest(first: Timing, last: Timing) -> str:
    if last.median_s <= ABOUT_EQUAL * first.median_s:
        return f"{first.device} and {last.device} are about equally fast."
    ratio = f", {last.median_s / first.median_s:.1f} times as fast as" if first.median_s else ", and"
    return (
        f"{first.device} takes {format_duration(first.median_s)}{ratio} {last.device} "
        f"with {format_duration(last.median_s)} (medians)."
    )


def _not_measured(missing: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{device} was not measured here ({reason})." for device, reason in missing]


def sweep_caption(sweep: Sweep, published: Sequence[Published] = ()) -> str:
    """Return at which sizes each GPU is faster than the CPU, what was not measured, and what others published.

    Where there is no GPU, or no CPU to compare with, the times at both ends are given instead.
    """
    gpus = [device for device in sweep.devices if device != "cpu"]
    if "cpu" in sweep.devices and gpus:
        parts = [f"{sweep.label}: {_where_faster(sweep, gpu)}" for gpu in gpus]
    else:
        parts = [f"{sweep.label}: {_both_ends(sweep, device)}" for device in sweep.devices]
    parts = parts or [f"{sweep.label}: no device was measured at every {sweep.parameter}."]
    parts += _not_measured(sweep.missing)
    return " ".join([*parts, *credit_sentence(published)])


def credit_sentence(published: Sequence[Published]) -> list[str]:
    """Return one sentence that says whose the hollow marks are; none where there are none."""
    credits = dict.fromkeys(entry.credit for entry in published)
    return [f"Hollow marks are published, not measured here ({'; '.join(credits)})."] if credits else []


def _where_faster(sweep: Sweep, gpu: str) -> str:
    """Return at which sizes the median on a GPU is smaller than the CPU's, true for every pattern of winners."""
    name, low, high = sweep.parameter, sweep.sizes[0], sweep.sizes[-1]
    faster = sweep.faster_at(gpu)
    everywhere = f"at {name} {low}" if low == high else f"at every {name} measured, from {low} to {high}"
    if all(faster):
        return f"{gpu} is faster than the CPU {everywhere}."
    if not any(faster):
        return f"the CPU is at least as fast as {gpu} {everywhere}."
    start = sweep.crossing(gpu)
    if start is not None and sum(faster) == sweep.sizes[::-1].index(start) + 1:
        return f"{gpu} is faster than the CPU from {name} {start} on; below that, the CPU is at least as fast."
    won = _ranges([size if fast else None for size, fast in zip(sweep.sizes, faster, strict=True)])
    return f"{gpu} is faster than the CPU at {name} {won}; at the others, the CPU is at least as fast."


def _ranges(sizes: Sequence[int | None]) -> str:
    """Return sizes as text, neighbours as a range; None stands for a size that is left out."""
    runs: list[list[int]] = []
    for before, size in zip([None, *sizes], sizes, strict=False):
        if size is not None:
            runs.append([size]) if before is None else runs[-1].append(size)
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _both_ends(sweep: Sweep, device: str) -> str:
    times_s = sweep.medians_s(device)
    where = "the CPU" if device == "cpu" else device
    if len(times_s) == 1:
        return f"on {where}, {format_duration(times_s[0])} at {sweep.parameter} {sweep.sizes[0]}."
    return (
        f"on {where}, from {format_duration(times_s[0])} at {sweep.parameter} {sweep.sizes[0]} "
        f"to {format_duration(times_s[-1])} at {sweep.sizes[-1]}."
    )


def raw_times_caption(timings: Sequence[Timing]) -> str:
    """Return how far the single readings lie apart."""
    return " ".join(
        f"{timing.label} on {timing.device}: {len(timing.times_s)} readings from "
        f"{format_duration(min(timing.times_s))} to {format_duration(max(timing.times_s))}; "
        f"the median is {format_duration(timing.median_s)}, and the middle half lies between "
        f"{format_duration(timing.quartiles_s[0])} and {format_duration(timing.quartiles_s[1])}."
        for timing in timings
    )


def roofline_caption(roofline: Roofline) -> str:
    """Return where the two ceilings meet, which operations stand under which, and the warnings."""
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
    return " ".join([*parts, *(f"Warning: {warning}." for warning in roofline.warnings)])
