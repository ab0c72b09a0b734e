"""The charts of measured times. Each says below itself in a sentence what it shows, and returns its figure.

What others published is drawn hollow. The common look is in `figure`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_utils.benchmarking.captions import comparison_caption, raw_times_caption, roofline_caption, sweep_caption
from course_utils.benchmarking.figure import COLOURS, FACE, INK, colour_of, marker_of, new_figure, say_below
from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.roofline import Roofline
from course_utils.benchmarking.sweep import Sweep
from course_utils.data.published import Published
from course_utils.reporting.units import format_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# one for each operation of a roofline, in order, and again from the start
OPERATION_MARKERS = "osD^vP*X"
# more lines than this are named below the chart
FEW_LINES = 5
# entries of a legend that is drawn among the lines, characters
LONGEST_ENTRY = 45
# a line of a label beside an axis, characters
LONGEST_LABEL = 34
# a log axis once the largest value is this many times the smallest
LOG_FROM = 20.0


def _spans_decades(values: Sequence[float]) -> bool:
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) / min(positive) >= LOG_FROM


def _limits(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    """Return where an axis begins and ends, so that all values are on it with a margin."""
    if log:
        return min(value for value in values if value > 0) / 2, max(values) * 2
    return 0, max(values) * 1.25 or 1e-9


def _duration_axis(axis_of: Axes, which: str, *, log: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axis_of.xaxis if which == "x" else axis_of.yaxis
    if log:
        (axis_of.set_xscale if which == "x" else axis_of.set_yscale)("log")
        low, high = axis.get_view_interval()
        wide = high / low >= 100
        axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_duration(value) if value > 0 else "0"))


def plot_comparison(
    comparisons: Comparison | Sequence[Comparison],
    *,
    published: Sequence[Published] = (),
    beside: Sequence[tuple[str, Comparison]] = (),
    title: str | None = None,
) -> Figure:
    """Draw the medians of comparisons, with the interquartile range as a bar around each.

    Args:
        comparisons: one or several.
        published: times by others for the first comparison, drawn hollow with their source.
        beside: what other machines measured, as pairs (machine, comparison), drawn hollow below the comparison with
            the same label.
        title: by default the label, or none for several.

    Returns:
        The figure; its sentence is printed.

    Raises:
        ValueError: when no device was measured and nothing published was given.
    """
    shown = [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
    rows: list[_Row] = []
    for index, comparison in enumerate(shown):
        prefix = f"{comparison.label}\n" if len(shown) > 1 else ""
        rows += [_Row.of(timing, f"{prefix}{timing.device}, measured here") for timing in comparison.timings]
        rows += [
            _Row.of(timing, f"{prefix}{timing.device}, measured on {machine}", hollow=True)
            for machine, other in beside
            if other.label == comparison.label
            for timing in other.timings
        ]
        if index == 0:
            rows += [
                _Row(
                    f"{prefix}{entry.device}, published\n{entry.chip}, {entry.date}", entry.device, (entry.seconds,) * 3
                )
                for entry in published
            ]
    if not rows:
        raise ValueError("nothing to draw: no device was measured and nothing published was given")
    labels = [_folded(row.label) for row in rows]
    figure, axes = new_figure(7.5, 1.0 + sum(max(0.62, 0.2 * (1 + label.count("\n"))) for label in labels))
    for position, row in enumerate(rows):
        _draw_row(axes, position, row)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.8)
    shown_s = [time_s for row in rows for time_s in row.quartiles_s]
    log = _spans_decades(shown_s)
    axes.set_xlim(_limits(shown_s, log=log))
    _duration_axis(axes, "x", log=log)
    if not log:
        axes.locator_params(axis="x", nbins=6)  # numbers with units take more room than plain ones
    axes.set_xlabel("time of one call (log axis)" if log else "time of one call")
    axes.set_title(title or (shown[0].label if len(shown) == 1 else ""), color=INK, fontsize=11)
    captions = [comparison_caption(shown[0], published), *(comparison_caption(other) for other in shown[1:])]
    say_below("\n".join(captions))
    return figure


def _folded(label: str) -> str:
    """Break the lines of a label, so that it leaves most of the width to the marks."""
    return "\n".join(part for line in label.splitlines() for part in textwrap.wrap(line, LONGEST_LABEL))


@dataclass(frozen=True)
class _Row:
    """One line of a comparison's chart.

    Args:
        label: what stands beside it.
        device: whose colour and marker it has.
        quartiles_s: the first quartile, the median and the third quartile, seconds.
        hollow: whether somebody else measured it.
    """

    label: str
    device: str
    quartiles_s: tuple[float, float, float]
    hollow: bool = True

    @classmethod
    def of(cls, timing: Timing, label: str, *, hollow: bool = False) -> _Row:
        first, third = timing.quartiles_s
        return cls(label, timing.device, (first, timing.median_s, third), hollow)


def _draw_row(axes: Axes, position: int, row: _Row) -> None:
    first, median, third = row.quartiles_s
    colour = colour_of(row.device)
    if third > first:
        axes.plot([first, third], [position, position], color=colour, linewidth=5, alpha=0.2 if row.hollow else 0.45)
    face = FACE if row.hollow else colour
    axes.plot(median, position, marker_of(row.device), color=colour, markerfacecolor=face, markersize=9)
    axes.annotate(
        format_duration(median),
        (median, position),
        textcoords="offset points",
        xytext=(0, 9),
        ha="center",
        color=INK,
        fontsize=9,
    )


def plot_sweep(sweep: Sweep, *, published: Sequence[Published] = (), title: str | None = None) -> Figure:
    """Draw medians over sizes, with the interquartile range as a band, and mark where a GPU starts to win.

    Args:
        sweep: the measurements.
        published: times by others, with sizes, drawn hollow and dashed.
        title: by default the label.

    Returns:
        The figure; its sentence is printed.

    Raises:
        ValueError: when no device was measured at every size and nothing published was given.
    """
    sized = [entry for entry in published if entry.size is not None]
    if not sweep.devices and not sized:
        raise ValueError("nothing to draw: no device was measured at every size and nothing published was given")
    figure, axes = new_figure(7.5, 4.2)
    shown_s = [time_s for device in sweep.devices for time_s in _draw_measured(axes, sweep, device)]
    shown_s += _draw_published(axes, sized)
    _mark_crossings(axes, sweep)
    ticks = sorted({*sweep.sizes, *(entry.size for entry in sized if entry.size is not None)})
    if _spans_decades(ticks):
        axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    log = _spans_decades(shown_s)
    if log:
        axes.set_ylim(_limits(shown_s, log=True))
    _duration_axis(axes, "y", log=log)
    axes.set_xlabel(sweep.parameter)
    axes.set_ylabel("time of one call (log axis)" if log else "time of one call")
    axes.set_title(title or sweep.label, color=INK, fontsize=11)
    lines = axes.get_legend_handles_labels()[1]
    if len(lines) <= FEW_LINES and max(map(len, lines), default=0) <= LONGEST_ENTRY:
        axes.legend(frameon=False, fontsize=9)
    else:  # among the lines it would cover them
        figure.set_figheight(figure.get_figheight() + 0.25 * len(lines))
        figure.legend(frameon=False, fontsize=8, loc="outside lower center")
    say_below(sweep_caption(sweep, published))
    return figure


def _draw_measured(axes: Axes, sweep: Sweep, device: str) -> list[float]:
    """Draw the medians of a device and the band of its quartiles; return all times drawn, seconds."""
    timings = sweep.timings(device)
    low, high = zip(*(timing.quartiles_s for timing in timings), strict=True)
    medians_s = sweep.medians_s(device)
    axes.fill_between(sweep.sizes, low, high, color=colour_of(device), alpha=0.25, linewidth=0)
    axes.plot(
        sweep.sizes, medians_s, marker=marker_of(device), color=colour_of(device), label=f"{device}, measured here"
    )
    return [*medians_s, *low, *high]


def _mark_crossings(axes: Axes, sweep: Sweep) -> None:
    """Draw a line where a GPU starts to be faster than the CPU for good."""
    for device in sweep.devices if "cpu" in sweep.devices else ():
        start = None if device == "cpu" else sweep.crossing(device)
        if start is not None:
            axes.axvline(start, color=INK, linestyle=":", linewidth=1.2, label=f"{device} wins from {start} on")


def _draw_published(axes: Axes, published: Sequence[Published]) -> list[float]:
    """Draw published times over sizes, one hollow series for each device and source; return them, seconds."""
    for device, credit in dict.fromkeys((entry.device, f"{entry.chip}, {entry.date}") for entry in published):
        points = sorted(
            (entry.size, entry.seconds)
            for entry in published
            if entry.size is not None and (entry.device, f"{entry.chip}, {entry.date}") == (device, credit)
        )
        axes.plot(
            [size for size, _ in points],
            [seconds for _, seconds in points],
            marker=marker_of(device),
            markerfacecolor=FACE,
            linestyle="--",
            color=colour_of(device),
            label=f"{device}, published ({credit})",
        )
    return [entry.seconds for entry in published]


def plot_raw_times(timings: Timing | Sequence[Timing], *, title: str = "Every reading, in the order taken") -> Figure:
    """Draw every single reading, with the median as a line and the interquartile range as a band.

    Returns:
        The figure; its sentence is printed.
    """
    shown = [timings] if isinstance(timings, Timing) else list(timings)
    figure, axes = new_figure(7.5, 3.4)
    for timing in shown:
        colour = colour_of(timing.device)
        first, third = timing.quartiles_s
        axes.axhspan(first, third, color=colour, alpha=0.18, linewidth=0)
        axes.axhline(timing.median_s, color=colour, linewidth=1.2, label=f"{timing.label}, {timing.device}: median")
        axes.plot(
            range(1, len(timing.times_s) + 1), timing.times_s, marker_of(timing.device), color=colour, markersize=4
        )
    every = [value for timing in shown for value in timing.times_s]
    log = _spans_decades(every)
    axes.set_ylim(_limits(every, log=log))
    _duration_axis(axes, "y", log=log)
    axes.set_xlabel("reading")
    axes.set_ylabel("time of one call")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    say_below(raw_times_caption(shown))
    return figure


def plot_roofline(roofline: Roofline, *, title: str | None = None) -> Figure:
    """Draw the two ceilings of a device and the measured operations under them; both axes are logarithmic.

    Args:
        roofline: the ceilings and the operations; those without any FLOP have no place here and are left out.
        title: by default the device and the source of its ceilings.

    Returns:
        The figure; its sentence is printed.
    """
    figure, axes = new_figure(7.5, 4.8)
    shown = [operation for operation in roofline.operations if operation.flop > 0]
    intensities = [roofline.ridge, *(operation.intensity for operation in shown)]
    low, high = min(intensities) / 4, max(intensities) * 4
    roof = [(value, roofline.attainable(value) / 1e9) for value in (low, roofline.ridge, high)]
    axes.plot([x for x, _ in roof], [y for _, y in roof], color=INK, linewidth=2)
    axes.axvline(roofline.ridge, color=INK, linestyle=":", linewidth=1.2)
    for index, operation in enumerate(shown):
        axes.plot(
            operation.intensity,
            operation.flop_per_s / 1e9,
            OPERATION_MARKERS[index % len(OPERATION_MARKERS)],
            color=COLOURS["cpu"] if roofline.limit(operation.intensity) == "memory" else COLOURS["mps"],
            markersize=9,
            label=f"{operation.label}, {roofline.share(operation):.0%} of the roof",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    # the words stand beside the ridge, below the roof
    bottom = min(roof[0][1], *(operation.flop_per_s / 1e9 for operation in shown)) if shown else roof[0][1]
    axes.set_ylim(bottom / 3, roofline.flop_per_s / 1e9 * 4)
    ratio = f"{roofline.bytes_per_s / 1e9:.0f} GB/s"
    axes.text(roofline.ridge / 1.15, bottom / 2.4, "memory is the limit", ha="right", fontsize=9, color=INK)
    axes.text(roofline.ridge * 1.15, bottom / 2.4, "arithmetic is the limit", ha="left", fontsize=9, color=INK)
    axes.annotate(ratio, (low, roof[0][1]), textcoords="offset points", xytext=(16, -4), fontsize=9, color=INK)
    axes.text(high, roof[2][1] * 1.2, f"{roofline.flop_per_s / 1e9:.0f} GFLOP/s", ha="right", fontsize=9, color=INK)
    axes.set_xlabel("arithmetic intensity, FLOP for each byte moved (log axis)")
    axes.set_ylabel("GFLOP/s (log axis)")
    axes.set_title(title or f"Roofline of {roofline.device}, {roofline.source}", color=INK, fontsize=11)
    if shown:
        figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=2)
    say_below(roofline_caption(roofline))
    return figure
