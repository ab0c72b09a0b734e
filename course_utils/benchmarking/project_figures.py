"""Figures of errors, memory and runs over several steps. Each says below itself in a sentence what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course_utils.benchmarking.figure import FACE, INK, SERIES, dress, new_figure, over_lengths, say_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# one for each series, in the order of `SERIES`
_MARKS = "os^D"


def plot_errors(
    lengths: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    allowed: Mapping[str, Sequence[float]],
    too_simple: Mapping[str, Sequence[float]],
    *,
    title: str = "The largest honest error of 64 sums, bfloat16",
) -> Figure:
    """Draw measured errors over the length of a sum, with what is allowed; both axes are logarithmic.

    Args:
        lengths: how many numbers each sum has.
        measured: a name for each series, and its largest error at each length.
        allowed: the same names, and what a rule allows at each length.
        too_simple: one rule that allows too little: its name, and what it allows.
        title: what was measured.

    Returns:
        The figure; its sentence counts the points above each of the rules.
    """
    figure, axes = new_figure(7.5, 4.0)
    ((simple_name, simple),) = too_simple.items()
    above_rule = above_simple = 0
    for (name, errors), (colour, _), mark in zip(measured.items(), SERIES, _MARKS, strict=False):
        axes.plot(lengths, errors, mark, color=colour, markersize=7, label=f"{name}: measured")
        axes.plot(lengths, allowed[name], "-", color=colour, linewidth=1.2, label=f"{name}: the rule allows")
        above_rule += sum(error > limit for error, limit in zip(errors, allowed[name], strict=True))
        above_simple += sum(error > limit for error, limit in zip(errors, simple, strict=True))
    axes.plot(lengths, simple, ":", color=INK, linewidth=1.5, label=simple_name)
    over_lengths(axes, lengths, "K, numbers in each sum", "error")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    points = sum(map(len, measured.values()))
    say_below(
        f"{above_rule} of {points} honest errors lie above the line of the rule with both terms; "
        f"{above_simple} lie above the dotted line, {simple_name}."
    )
    return figure


def plot_budgets(budgets: Mapping[str, Mapping[str, float]], *, title: str = "What Macs offer to the GPU") -> Figure:
    """Draw for each Mac the recommended working set as a bar, its RAM and torch's hard limit as marks.

    Args:
        budgets: a name for each Mac, and GiB under "recommended", "RAM" and "hard limit".
        title: what is compared.

    Returns:
        The figure; its sentence says on how many Macs the hard limit lies above the RAM.
    """
    figure, axes = new_figure(7.5, 3.8)
    places = range(len(budgets))
    rows = list(budgets.values())
    colour = SERIES[0][0]
    axes.bar(places, [row["recommended"] for row in rows], color=colour, label="recommended working set")
    rams, limits = [row["RAM"] for row in rows], [row["hard limit"] for row in rows]
    axes.plot(places, rams, "_", color=INK, markersize=26, markeredgewidth=2.5, label="RAM")
    axes.plot(places, limits, "X", color="#D55E00", markersize=8, label="torch's hard limit, 1.7 times")
    axes.set_xticks(places, list(budgets))
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("GiB")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    above = sum(limit > ram for limit, ram in zip(limits, rams, strict=True))
    say_below(f"torch's hard limit lies above the RAM on {above} of these {len(rows)} Macs.")
    return figure


def plot_memory_parts(parts: Mapping[str, Mapping[str, float]], *, title: str) -> Figure:
    """Draw what a model needs as bars of parts on top of each other, each bar as shares of its own total.

    Args:
        parts: a label for each bar, and MiB for each part, at most four parts.
        title: which model.

    Returns:
        The figure; its sentence gives each bar's total and its largest part.

    Raises:
        ValueError: when a bar has other parts than the first.
    """
    names = list(next(iter(parts.values())))
    if any(list(row) != names for row in parts.values()):
        raise ValueError(f"each bar needs the same parts, in the same order: {', '.join(names)}")
    figure, axes = new_figure(7.5, 1.6 + 0.55 * len(parts))
    totals = [sum(row.values()) for row in parts.values()]
    left = [0.0] * len(parts)
    for name, (colour, hatch) in zip(names, SERIES, strict=False):
        shares = [100 * row[name] / total for row, total in zip(parts.values(), totals, strict=True)]
        axes.barh(list(parts), shares, left=left, color=colour, hatch=hatch, edgecolor=FACE, label=name)
        left = [start + share for start, share in zip(left, shares, strict=True)]
    for place, total in enumerate(totals):
        axes.annotate(
            f"{total:,.0f} MiB",
            (100, place),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            fontsize=10,
            color=INK,
        )
    axes.set_ylim(len(parts) - 0.4, -0.6)
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 20), [f"{share} %" for share in range(0, 101, 20)])
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("share of all parts")
    axes.set_title(title, color=INK, fontsize=11)
    figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=len(names))
    largest = [max(row, key=lambda name: row[name]) for row in parts.values()]
    say_below(
        "\n".join(
            f"{label}: {total:,.0f} MiB, of which {name} are {100 * row[name] / total:.0f} %."
            for (label, row), total, name in zip(parts.items(), totals, largest, strict=True)
        )
    )
    return figure


def plot_resumed(losses: Sequence[float], resumed: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """Draw a run's losses, and those of runs that were resumed from its middle.

    Args:
        losses: of the run that was not interrupted, one for each step.
        resumed: a name for each resumed run, and its losses; it began where its losses are missing before.
        title: what was done.

    Returns:
        The figure; its sentence gives how far each resumed run is from the first, at most.
    """
    figure, axes = new_figure(7.5, 4.0)
    first_shown = max(0, len(losses) - 2 * max(map(len, resumed.values())))
    steps = range(first_shown + 1, len(losses) + 1)
    axes.plot(steps, losses[first_shown:], color=INK, linewidth=2, label="not interrupted")
    sentences = []
    for (name, found), (colour, _), mark in zip(resumed.items(), SERIES, _MARKS, strict=False):
        start = len(losses) - len(found)
        style: dict[str, Any] = {"color": colour, "fillstyle": "none", "linewidth": 0.8, "markersize": 6}
        axes.plot(range(start + 1, len(losses) + 1), found, f"{mark}-", label=f"resumed with {name}", **style)
        far = max(abs(a - b) for a, b in zip(found, losses[start:], strict=True))
        sentences.append(f"Resumed with {name}: at most {far:.3f} from the run that was not interrupted.")
        axes.axvline(start + 0.5, color=INK, linestyle=":", linewidth=1)
    axes.set_yscale("log")
    axes.set_xlabel("step (the dotted line is where the run was saved and loaded)")
    axes.set_ylabel("training loss (log axis)")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    say_below("\n".join(sentences))
    return figure


def plot_readings(readings_ms: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """Draw every reading of several timings as a mark, and the median as a bar.

    Args:
        readings_ms: a name for each timing, and its readings, milliseconds.
        title: what was timed.

    Returns:
        The figure; its sentence gives each median and the range of the middle half.
    """
    import statistics

    figure, axes = new_figure(7.5, 1.2 + 0.6 * len(readings_ms))
    sentences = []
    for place, ((name, readings), (colour, _), mark) in enumerate(
        zip(readings_ms.items(), SERIES, _MARKS, strict=False)
    ):
        median = statistics.median(readings)
        axes.plot(readings, [place] * len(readings), mark, color=colour, alpha=0.5)
        axes.plot([median] * 2, [place - 0.3, place + 0.3], color=INK, linewidth=2)
        ordered = sorted(readings)
        low, high = ordered[len(ordered) // 4], ordered[(3 * len(ordered) - 1) // 4]
        sentences.append(
            f"{name}: median {median:.2f} ms of {len(readings)} readings, half of them from {low:.2f} to {high:.2f}."
        )
    axes.set_yticks(range(len(readings_ms)), list(readings_ms))
    axes.set_ylim(len(readings_ms) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("ms; each mark is one reading, the bar is the median")
    axes.set_title(title, color=INK, fontsize=11)
    say_below("\n".join(sentences))
    return figure


def show_images(images: Sequence[Any], labels: Sequence[object], *, title: str) -> Figure:
    """Draw grey images in a row, each with its label above it.

    Args:
        images: (height, width) each, from 0 (white) to 16 (black).
        labels: one for each image.
        title: what they are.

    Returns:
        The figure; its sentence reads the labels aloud.
    """
    figure, first = new_figure(7.5, 1.7)
    first.remove()
    for axes, image, label in zip(figure.subplots(1, len(images)), images, labels, strict=True):
        dress(axes).imshow(image, cmap="gray_r", vmin=0, vmax=16)
        axes.set_title(str(label), fontsize=10, color=INK)
        axes.axis("off")
    figure.suptitle(title, fontsize=11, color=INK)
    say_below(f"{len(images)} images; their labels are {', '.join(map(str, labels))}.")
    return figure
