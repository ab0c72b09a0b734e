"""Figures of lessons 12 to 14: when a first call is earned back, times side by side, and where an epoch goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from course_utils.benchmarking.figure import FACE, INK, SERIES, new_figure, say_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# how far the lines go where they do not meet, in calls
CALLS_SHOWN = 500


def plot_break_even(first_s: float, later_s: float, eager_s: float, *, title: str) -> Figure:
    """Draw the time of all calls so far, compiled and eager, over their number.

    Args:
        first_s: the first call of the compiled function, seconds.
        later_s: each later call of it, seconds.
        eager_s: each call without compiling, seconds.
        title: what was measured where.

    Returns:
        The figure; its sentence says where the compiled line starts, and where the two meet.
    """
    saved_s = eager_s - later_s
    meet = max(1.0, 1 + (first_s - eager_s) / saved_s) if saved_s > 0 else None
    last = 2 * meet if meet else CALLS_SHOWN
    (eager_colour, _), (compiled_colour, _), *_ = SERIES
    figure, axes = new_figure(7.5, 3.2)
    axes.plot([1, last], [eager_s, last * eager_s], color=eager_colour, linestyle="--", label="eager")
    axes.plot([1, last], [first_s, first_s + (last - 1) * later_s], color=compiled_colour, label="compiled")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("calls")
    axes.set_ylabel("seconds in all")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    say_below(
        f"The compiled line starts at {first_s:.2f} s, the time of the first call.\n"
        + (
            f"It is the flatter one, and meets the eager line at about {meet:.0f} calls."
            if meet
            else "The lines do not meet: a compiled call takes as long as an eager one, or longer."
        )
    )
    return figure


def plot_times(times_s: Mapping[str, float], *, title: str, what: str) -> Figure:
    """Draw a few times side by side, each with its number.

    Args:
        times_s: a name and its time, seconds.
        title: what they are times of.
        what: what the axis says after "ms, ".

    Returns:
        The figure; its sentence repeats the times.
    """
    figure, axes = new_figure(7.5, 1.2 + 0.5 * len(times_s))
    for place, (name, time_s) in enumerate(times_s.items()):
        colour, hatch = SERIES[place % len(SERIES)]
        axes.barh(name, 1e3 * time_s, color=colour, hatch=hatch, edgecolor=FACE)
        axes.annotate(
            f"{1e3 * time_s:.2g} ms",
            (1e3 * time_s, place),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            color=INK,
        )
    axes.set_ylim(len(times_s) - 0.4, -0.6)
    axes.set_xlim(0, 1e3 * max(times_s.values()) * 1.2)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"ms, {what}")
    axes.set_title(title, color=INK, fontsize=11)
    say_below("\n".join(f"{name}: {1e3 * time_s:.2g} ms." for name, time_s in times_s.items()))
    return figure


def plot_waiting(parts_s: Mapping[str, tuple[float, float]], *, title: str, what: str) -> Figure:
    """Draw how an epoch divides into waiting for data and working.

    Args:
        parts_s: a name for each epoch, and the seconds that it waited and worked.
        title: what was measured.
        what: what the axis says after "ms, ".

    Returns:
        The figure; its sentence gives each epoch's time, and the share that was waiting.
    """
    (steps_colour, _), (waits_colour, waits_hatch), *_ = SERIES
    figure, axes = new_figure(7.5, 1.5 + 0.5 * len(parts_s))
    waits, steps = ([1e3 * pair[part] for pair in parts_s.values()] for part in (0, 1))
    axes.barh(list(parts_s), waits, color=waits_colour, hatch=waits_hatch, edgecolor=FACE, label="waiting")
    axes.barh(list(parts_s), steps, left=waits, color=steps_colour, edgecolor=FACE, label="in the steps")
    axes.set_ylim(len(parts_s) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"ms, {what}")
    axes.set_title(title, color=INK, fontsize=11)
    figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=2)
    say_below(
        "\n".join(
            f"{name}: {1e3 * (waited + worked):.0f} ms, of which the steps waited {waited / (waited + worked):.0%}."
            for name, (waited, worked) in parts_s.items()
        )
    )
    return figure
