"""Figures of memory: what is connected to what, how fast it is over sizes, and what makers publish.

Each says below itself in a sentence what it shows, and returns its figure. The common look is in `figure`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from course_utils.benchmarking.figure import FACE, INK, colour_of, marker_of, new_figure, say_below
from course_utils.benchmarking.sweep import Sweep
from course_utils.data.published import published_times
from course_utils.devices.chips import all_chips, find_chip

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CPU, _GPU, _MEMORY, _CHIP = "#56B4E9", "#E69F00", "#dddddd", "#f7f7f7"


def plot_two_machines() -> Figure:
    """Draw an Apple chip beside a PC with a graphics card: what reaches which memory, and how wide the way is.

    The widths are those of an M4 (Apple, 2024) and of PCIe 4.0 x16 (16 lanes of 2 GB/s, each way).
    """
    figure, first = new_figure(9, 3.6)
    first.remove()
    mac, pc = figure.subplots(1, 2)
    _box(mac, (0, 0, 10, 8), "", _CHIP)
    _box(mac, (1, 5, 3.5, 2.2), "CPU cores", _CPU, "//")
    _box(mac, (5.5, 5, 3.5, 2.2), "GPU cores", _GPU, "..")
    _box(mac, (1, 0.8, 8, 2.2), "one memory\nCPU and GPU use the same bytes", _MEMORY)
    _way(mac, (2.75, 5), (2.75, 3), 7)
    _way(mac, (7.25, 5), (7.25, 3), 7)
    mac.text(5, 4, "M4: 120 GB/s\ntogether", fontsize=8, ha="center", va="center", color=INK)
    mac.set_title("An Apple chip: one package", fontsize=10, color=INK)
    _box(pc, (0, 5, 3.6, 2.2), "CPU", _CPU, "//")
    _box(pc, (6.4, 5, 3.6, 2.2), "GPU", _GPU, "..")
    _box(pc, (0, 0.8, 3.6, 2.2), "memory", _MEMORY)
    _box(pc, (6.4, 0.8, 3.6, 2.2), "its own memory", _MEMORY)
    _way(pc, (1.8, 5), (1.8, 3), 5)
    _way(pc, (8.2, 5), (8.2, 3), 14)
    _way(pc, (3.6, 6.1), (6.4, 6.1), 1.5)
    pc.text(5, 6.5, "bus: 32 GB/s\neach way", fontsize=8, ha="center", va="bottom", color=INK)
    pc.set_title("A PC with a graphics card: two memories", fontsize=10, color=INK)
    for axes in (mac, pc):
        axes.set(xlim=(-0.2, 10.2), ylim=(-0.2, 8.2), frame_on=False, xticks=[], yticks=[])
    say_below(
        "Left: in an Apple chip, the CPU cores and the GPU cores reach the same memory. Right: in a PC with a graphics "
        "card, each has a memory of its own, and a narrow bus lies between them."
    )
    return figure


def _box(axes: Axes, place: tuple[float, float, float, float], text: str, colour: str, hatch: str = "") -> None:
    """Draw one part of a machine; place is (left, bottom, width, height)."""
    from matplotlib.patches import Rectangle

    left, bottom, width, height = place
    axes.add_patch(Rectangle((left, bottom), width, height, facecolor=colour, edgecolor=INK, hatch=hatch))
    label = {"facecolor": FACE, "edgecolor": "none", "pad": 2} if text else None
    axes.text(left + width / 2, bottom + height / 2, text, ha="center", va="center", fontsize=9, bbox=label, color=INK)


def _way(axes: Axes, start: tuple[float, float], end: tuple[float, float], width: float) -> None:
    """Draw a way that data takes; a wider line carries more."""
    axes.plot([start[0], end[0]], [start[1], end[1]], color=INK, linewidth=width, solid_capstyle="butt")


def plot_memory_rates(sweep: Sweep, bytes_of: Callable[[int], float]) -> Figure:
    """Draw how many bytes a second an operation moved, by its fastest reading, over the bytes of one call.

    Args:
        sweep: the times over sizes.
        bytes_of: the bytes that one call moves at a size.
    """
    figure, axes = new_figure(7.5, 3.6)
    moved_mb = [bytes_of(size) / 1e6 for size in sweep.sizes]
    sentences = []
    for device in sweep.devices:
        fastest_s = [min(timing.times_s) for timing in sweep.timings(device)]
        rates = [bytes_of(size) / seconds / 1e9 for size, seconds in zip(sweep.sizes, fastest_s, strict=True)]
        axes.plot(moved_mb, rates, marker=marker_of(device), color=colour_of(device), label=f"{device}, measured here")
        best = rates.index(max(rates))
        sentences.append(
            f"{device}: {rates[0]:.1f} GB/s when a call moves {moved_mb[0]:.2g} MB, at most {rates[best]:.0f} GB/s at "
            f"{moved_mb[best]:.2g} MB, {rates[-1]:.1f} GB/s at {moved_mb[-1]:.0f} MB."
        )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("MB moved by one call (log axis)")
    axes.set_ylabel("GB/s, fastest reading")
    axes.set_title(f"{sweep.label}: how fast its bytes move", color=INK, fontsize=11)
    axes.legend(frameon=False)
    say_below("\n".join(sentences))
    return figure


def plot_chip_bandwidths(here: Mapping[str, float]) -> Figure:
    """Draw the memory bandwidths of Apple's chips beside what GPUs of some of them reached, and this machine.

    Args:
        here: the bandwidth measured on each device of this machine, bytes per second.
    """
    chips = all_chips()
    names = [chip.name for chip in chips]
    best = [max(chip.bandwidth_gb_per_s) for chip in chips]
    copies = {entry.chip: 1 / entry.seconds for entry in published_times("copy-one-gigabyte") if entry.device == "mps"}
    shares = [rate / max(chip.bandwidth_gb_per_s) for name, rate in copies.items() if (chip := find_chip(name))]
    figure, axes = new_figure(7.5, 5.8)
    axes.barh(names, best, color=FACE, edgecolor=INK, hatch="///", label="published by the maker")
    label = "GPU copy, published by others"
    axes.plot(list(copies.values()), list(copies), "s", color=colour_of("mps"), mfc=FACE, markersize=8, label=label)
    for device, rate in here.items():
        label = f"{device}, measured here"
        axes.barh([f"here: {device}"], [rate / 1e9], color=colour_of(device), label=label)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("GB/s")
    axes.set_title("Memory bandwidth of Apple's chips", color=INK, fontsize=11)
    axes.legend(frameon=False, loc="upper right")
    measured = ", ".join(f"{rate / 1e9:.0f} GB/s on {device}" for device, rate in here.items())
    slowest, fastest = (names[best.index(end(best))] for end in (min, max))
    say_below(
        f"The published bandwidths go from {min(best):.0f} GB/s ({slowest}) to {max(best):.0f} GB/s ({fastest}). "
        f"Copies on {len(copies)} GPUs, measured by others, reached {min(shares):.0%} to {max(shares):.0%} of it "
        f"(github.com/chsasank/device-benchmarks, torch not stated). This machine: {measured}."
    )
    return figure
