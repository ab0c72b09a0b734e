"""The one look of all figures, and where the sentence of a figure goes.

Colours are from the Okabe-Ito palette, which readers with any colour vision can tell apart; a second sign (a mark, a
hatch, a dash) always goes with them. Faces are white, so that figures stay readable on a dark page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from course_utils.reporting.wrapped import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"cpu": "#0072B2", "mps": "#D55E00", "cuda": "#009E73"}
MARKERS = {"cpu": "o", "mps": "s", "cuda": "^"}
OTHER_COLOUR, OTHER_MARKER = "#CC79A7", "D"
# for series that are no devices: colour and hatch, in order
SERIES = (("#0072B2", ""), ("#E69F00", "//"), ("#009E73", ".."), ("#CC79A7", "xx"))
FACE = "white"
INK = "#222222"


def colour_of(device: str) -> str:
    """Return a device's colour; "mps:0" has that of "mps"."""
    return COLOURS.get(device.split(":", maxsplit=1)[0], OTHER_COLOUR)


def marker_of(device: str) -> str:
    """Return a device's mark; "mps:0" has that of "mps"."""
    return MARKERS.get(device.split(":", maxsplit=1)[0], OTHER_MARKER)


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure that a notebook shows once: as the value of its cell, since pyplot keeps no hold of it."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(width, height), facecolor=FACE, layout="constrained")
    pyplot.close(figure)
    return figure, dress(figure.add_subplot(facecolor=FACE))


def dress(axes: Axes) -> Axes:
    """Give axes the common look: no box, a light grid behind the data."""
    axes.tick_params(colors=INK, which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="both", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes


def over_lengths(axes: Axes, lengths: Sequence[int], xlabel: str, ylabel: str) -> None:
    """Make both axes logarithmic, with a tick at each length and nowhere else on the lower one.

    Args:
        axes: what the series are drawn on.
        lengths: numbers on the lower axis, usually doubling.
        xlabel: what the lengths are; both labels get "(log axis)" behind them.
        ylabel: what is drawn over the lengths, with its unit.
    """
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.minorticks_off()
    axes.set_xlabel(f"{xlabel} (log axis)")
    axes.set_ylabel(f"{ylabel} (log axis)")


def say_below(sentence: str) -> None:
    """Print the sentence of a figure, wrapped between words: in a notebook below the figure, elsewhere at once.

    A notebook shows the value of a cell after everything that the cell printed, so there the sentence waits for the
    end of the cell.
    """
    text = wrapped(sentence)
    shell = _running_shell()
    if shell is None:
        print(text)
        return

    def after_the_cell(_: Any) -> None:
        shell.events.unregister("post_run_cell", after_the_cell)
        print(text)

    shell.events.register("post_run_cell", after_the_cell)


def _running_shell() -> Any:
    """Return the IPython shell that is running a cell in this process, or None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
