"""Figures of what is not a measured time: toy timelines, counts, rates, and the steps of number formats.

Each says below itself in a sentence what it shows, and returns its figure. The common look is in `figure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_utils.benchmarking.captions import credit_sentence
from course_utils.benchmarking.figure import (
    FACE,
    INK,
    SERIES,
    colour_of,
    dress,
    marker_of,
    new_figure,
    say_below,
)
from course_utils.benchmarking.sweep import Sweep
from course_utils.benchmarking.toy_device import ToyDevice
from course_utils.data.published import Published

if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure

# what a span of a toy device looks like: colour, hatch
_SPANS = {
    "load": ("#56B4E9", ".."),
    "launch": ("#222222", ""),
    "wait": ("#dddddd", "///"),
    "work": ("#E69F00", ""),
}
_SPAN_WORDS = {
    "load": "the host prepares",
    "launch": "the host queues work",
    "wait": "the host waits",
    "work": "the device works",
}
# beyond these a chart of number formats would be mostly empty
_SMALLEST, _LARGEST = 1e-9, 1e9


def plot_timeline(toys: Mapping[str, ToyDevice], *, title: str) -> Figure:
    """Draw what host and device of toy devices did, one panel for each, on one clock.

    Args:
        toys: a name for each, and the toy device after its work.
        title: what is compared.

    Returns:
        The figure; its sentence says when each ended, and how long its device worked.
    """
    from matplotlib.patches import Patch

    figure, first = new_figure(7.5, 0.9 + 1.05 * len(toys))
    first.remove()
    panels = figure.subplots(len(toys), 1, sharex=True, squeeze=False)[:, 0]
    sentences, seen = [], set()
    for axes, (name, toy) in zip(panels, toys.items(), strict=True):
        dress(axes).grid(visible=False, axis="y")
        for span in toy.spans:
            colour, hatch = _SPANS[span.what]
            width = 1000 * (span.end_s - span.start_s)
            axes.barh(
                span.lane, width, left=1000 * span.start_s, color=colour, hatch=hatch, edgecolor=FACE, linewidth=0.6
            )
            seen.add(span.what)
        axes.set_ylim(-0.6, 1.6)
        axes.set_title(name, fontsize=10, loc="left", color=INK)
        end_s = max(span.end_s for span in toy.spans)
        work_s = sum(span.end_s - span.start_s for span in toy.spans if span.what == "work")
        sentences.append(
            f"{name}: all done after {1000 * end_s:.0f} toy ms, of which the device worked {1000 * work_s:.0f}."
        )
    panels[-1].set_xlabel("toy milliseconds")
    figure.suptitle(title, color=INK, fontsize=11)
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=FACE, label=_SPAN_WORDS[what])
        for what, (colour, hatch) in _SPANS.items()
        if what in seen
    ]
    figure.legend(handles=handles, frameon=False, fontsize=8, loc="outside lower center", ncols=len(handles))
    say_below("\n".join(sentences))
    return figure


def plot_counts(rows: Mapping[str, Mapping[str, int]], *, title: str, what: str) -> Figure:
    """Draw counts as bars, the kinds in each bar side by side, with the numbers at its end.

    Args:
        rows: a label for each bar, and how often each kind was counted.
        title: what was counted where.
        what: what the axis counts, such as "host waits".

    Returns:
        The figure; its sentence repeats the counts.

    Raises:
        ValueError: when there is nothing to draw, or one row has other kinds than the first.
    """
    kinds = list(next(iter(rows.values()), {}))
    if not kinds:
        raise ValueError("nothing to draw: no row has a count")
    if any(list(row) != kinds for row in rows.values()):
        raise ValueError(f"each row needs the same kinds, in the same order: {', '.join(kinds)}")
    figure, axes = new_figure(7.5, 1.4 + 0.5 * len(rows))
    left = [0] * len(rows)
    for kind, (colour, hatch) in zip(kinds, SERIES, strict=False):
        counts = [row[kind] for row in rows.values()]
        axes.barh(list(rows), counts, left=left, color=colour, hatch=hatch, edgecolor=FACE, label=kind)
        left = [before + count for before, count in zip(left, counts, strict=True)]
    for position, (end, row) in enumerate(zip(left, rows.values(), strict=True)):
        parts = " + ".join(str(count) for count in row.values())
        axes.annotate(
            parts, (end, position), textcoords="offset points", xytext=(6, 0), va="center", fontsize=10, color=INK
        )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(*left, 1) * 1.15)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(what)
    axes.set_title(title, color=INK, fontsize=11)
    figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=len(kinds))
    say_below(
        "\n".join(
            f"{label}: {sum(row.values())} {what} ({', '.join(f'{kind}: {count}' for kind, count in row.items())})."
            for label, row in rows.items()
        )
    )
    return figure


def plot_rates(sweeps: Mapping[str, Sweep], *, things: str, title: str, published: Sequence[Published] = ()) -> Figure:
    """Draw how many things a device handles in a second, over how many come at once.

    Args:
        sweeps: a name for each, and the times over sizes; a size counts the things of one call.
        things: what is counted, such as "images".
        title: what was measured.
        published: times by others, with sizes, drawn hollow and dashed.

    Returns:
        The figure; its sentence gives each line's rate at both ends, and whom the hollow marks belong to.
    """
    figure, axes = new_figure(7.5, 4.0)
    lines: list[tuple[str, str, str, Sequence[int], Sequence[float]]] = []
    for (name, sweep), dashes in zip(sweeps.items(), ("-", ":", "-."), strict=False):
        for device in sweep.devices:
            lines.append((f"{device}, {name}", device, dashes, sweep.sizes, sweep.medians_s(device)))
    for device in dict.fromkeys(entry.device for entry in published):
        entries = sorted((entry.size or 1, entry.seconds) for entry in published if entry.device == device)
        label = f"{device}, published ({next(entry.chip for entry in published)})"
        lines.append((label, device, "--", [size for size, _ in entries], [seconds for _, seconds in entries]))
    sentences: list[str] = []
    ticks: set[int] = set()
    for label, device, dashes, sizes, times_s in lines:
        rates = [size / seconds for size, seconds in zip(sizes, times_s, strict=True)]
        colour = colour_of(device)
        axes.plot(
            sizes,
            rates,
            color=colour,
            label=label,
            marker=marker_of(device),
            linestyle=dashes,
            markerfacecolor=FACE if dashes == "--" else colour,
        )
        ticks.update(sizes)
        first, last = f"{rates[0]:.0f} {things}/s with {sizes[0]} at once", f"{rates[-1]:.0f} with {sizes[-1]}"
        sentences.append(f"{label}: {first}, {last}.")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(ticks), [str(tick) for tick in sorted(ticks)])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{things} at once (log axis)")
    axes.set_ylabel(f"{things} per second")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    sentences += credit_sentence(published)
    say_below("\n".join(sentences))
    return figure


def plot_number_formats(dtypes: Sequence[torch.dtype], *, title: str) -> Figure:
    """Draw how far apart neighbouring numbers of floating-point formats are, over their size; both axes are log.

    Args:
        dtypes: floating-point dtypes, at most four.
        title: what is compared.

    Returns:
        The figure; its sentence gives where each format begins and ends.
    """
    import torch

    figure, axes = new_figure(7.5, 4.0)
    sentences = []
    for dtype, (colour, _), dashes in zip(dtypes, SERIES, ("-", "--", ":", "-."), strict=False):
        info, name = torch.finfo(dtype), str(dtype).removeprefix("torch.")
        first = info.smallest_normal * info.eps  # the smallest number, which is one step from 0
        # the step doubles with each power of two, and stays as it is below the smallest normal number
        sizes = torch.tensor([first, info.smallest_normal, info.max], dtype=torch.float64).clamp(_SMALLEST, _LARGEST)
        steps = (sizes * info.eps).clamp(min=first)
        axes.loglog(sizes, steps, dashes, color=colour, linewidth=2.2, label=name)
        for end, marker in ((first, "o"), (info.max, "X")):
            if _SMALLEST <= end <= _LARGEST:
                step = max(end * info.eps, first)
                axes.plot(end, step, marker, color=colour, markersize=10)
                words = f"{end:.1g}, below it 0" if marker == "o" else f"{end:.0f}, above it infinity"
                axes.annotate(
                    words,
                    (end, step),
                    textcoords="offset points",
                    xytext=(8, -16),
                    fontsize=9,
                    color=INK,
                    bbox={"facecolor": FACE, "edgecolor": "none", "pad": 1},
                )
        sentences.append(
            f"{name}: from {first:.1g} to {info.max:.3g}; neighbours are at most {info.eps:.2g} of their size apart, "
            f"and below {info.smallest_normal:.2g} no closer than {first:.1g}."
        )
    axes.set_xlabel("size of the number (log axis)")
    axes.set_ylabel("distance to the next number (log axis)")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    say_below("\n".join(sentences))
    return figure
