"""The figure of what becomes of each torch on each macOS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from course_utils.benchmarking.figure import INK, new_figure, say_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORKS, OFF, NO_WHEEL = "MPS works", "installs, MPS is off", "no wheel"
_LOOKS = {WORKS: ("o", "#0072B2"), OFF: ("X", "#D55E00"), NO_WHEEL: ("_", "#777777")}


def plot_releases(table: Mapping[str, Mapping[str, str]]) -> Figure:
    """Draw for each macOS and torch whether pip finds a wheel, and whether its MPS works.

    Args:
        table: for each macOS, such as "macOS 14.6", what becomes of each torch, such as "2.15": "MPS works", "installs,
            MPS is off" or "no wheel".

    Returns:
        The figure; its sentence names for each macOS the torch that installs without a working MPS.

    Raises:
        ValueError: when the table is empty, or has other words than these.
    """
    columns = list(next(iter(table.values()), {}))
    words = {word for row in table.values() for word in row.values()}
    if not columns or words - set(_LOOKS):
        raise ValueError(f"the table has the words {sorted(words)}; it needs some of: {', '.join(_LOOKS)}")
    figure, axes = new_figure(7.5, 1.6 + 0.4 * len(table))
    for label, (marker, colour) in _LOOKS.items():
        axes.plot([], [], marker, color=colour, label=label, markersize=9)
    for position, row in enumerate(table.values()):
        for column, word in enumerate(row.values()):
            marker, colour = _LOOKS[word]
            axes.plot(column, position, marker, color=colour, markersize=9)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(table)), list(table))
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.grid(visible=False)
    axes.set_xlabel("torch")
    axes.set_title("Which torch works on which macOS", color=INK, fontsize=11)
    figure.legend(ncols=3, frameon=False, loc="outside lower center", fontsize=9)
    say_below("\n".join(_sentence(macos, row) for macos, row in table.items()))
    return figure


def _sentence(macos: str, row: Mapping[str, str]) -> str:
    off = [torch for torch, word in row.items() if word == OFF]
    if not off:
        return f"{macos}: no torch installs without a working MPS."
    verb = "installs" if len(off) == 1 else "install"
    return f"{macos}: torch {', '.join(off)} {verb} without a working MPS."
