"""Figures of memory: the sentence says what was measured, and every mark is there."""

from support.described_timings import timing

from course_utils.benchmarking.measurement import Comparison
from course_utils.benchmarking.memory_figures import plot_chip_bandwidths, plot_memory_rates, plot_two_machines
from course_utils.benchmarking.sweep import Sweep
from course_utils.devices.chips import all_chips


def test_two_machines(capsys):
    """Both machines are drawn, each with a title."""
    figure = plot_two_machines()

    assert [axes.get_title() for axes in figure.axes] == [
        "An Apple chip: one package",
        "A PC with a graphics card: two memories",
    ]
    assert "narrow bus" in " ".join(capsys.readouterr().out.split())


def test_rates(capsys):
    """A call of 8 MB in 1 ms moves 8 GB/s; the line and the sentence say so."""
    comparisons = tuple(Comparison("x", (timing("cpu", seconds),), ()) for seconds in (0.001, 0.004))
    figure = plot_memory_rates(Sweep("Triad", "elements", (1, 2), comparisons), lambda size: size * 8e6)
    (line,) = [line for line in figure.axes[0].lines if len(line.get_xdata())]

    assert [round(value, 3) for value in line.get_ydata()] == [8.0, 4.0]
    assert "8.0 GB/s when a call moves 8 MB" in " ".join(capsys.readouterr().out.split())


def test_bandwidths(capsys):
    """Every chip has its bar, this machine too; the sentence has the numbers."""
    figure = plot_chip_bandwidths({"cpu": 12e9})
    (axes,) = figure.axes

    assert len(axes.patches) == len(all_chips()) + 1
    assert "12 GB/s on cpu" in " ".join(capsys.readouterr().out.split())
