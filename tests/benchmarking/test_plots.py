"""Plots: each prints its sentence; what others published looks different; colour is never alone."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from support.described_timings import roofline, sweep, timing
from support.found import found

from course_utils.benchmarking import plots
from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.roofline import MeasuredOperation
from course_utils.benchmarking.sweep import Sweep
from course_utils.data.published import published_times


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen."""
    plt.switch_backend("agg")


COMPARISON = Comparison("work", (timing("cpu", 0.1), timing("mps:0", 0.02)))


def test_comparison_prints_its_sentence(capsys):
    """The sentence below the chart is printed."""
    plots.plot_comparison(COMPARISON)

    assert "mps:0 takes 20.0 ms, 5.0 times as fast as cpu" in " ".join(capsys.readouterr().out.split())


def test_published_marks_are_hollow():
    """Published times have hollow marks, measured ones are filled, and the axis names both kinds."""
    one_by_one = [entry for entry in published_times("resnet50-batches-m1") if entry.size == 1]
    axes = plots.plot_comparison(COMPARISON, published=one_by_one).axes[0]
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    filled = [to_hex(mark.get_markerfacecolor()) == to_hex(mark.get_color()) for mark in marks]
    labels = " ".join(label.get_text() for label in axes.get_yticklabels())

    assert filled == [True, True, False, False]
    assert "cpu, measured here" in labels
    assert "mps, published" in labels


def test_devices_differ_by_mark_and_colour():
    """Two devices differ in mark and in colour, so neither carries the meaning alone."""
    axes = plots.plot_sweep(sweep([1, 2], [2, 1])).axes[0]
    lines = [line for line in axes.lines if line.get_marker() not in ("None", "")]

    assert len({line.get_marker() for line in lines}) == 2
    assert len({to_hex(line.get_color()) for line in lines}) == 2


@pytest.mark.parametrize(
    "figure",
    [
        lambda: plots.plot_comparison(COMPARISON),
        lambda: plots.plot_sweep(sweep([1, 2], None)),
        lambda: plots.plot_raw_times(timing("cpu", 1.0)),
        lambda: plots.plot_roofline(roofline()),
    ],
)
def test_faces_are_explicit(figure):
    """Figure and axes have a white face of their own, so that a dark page hides nothing; pyplot keeps none open."""
    drawn = figure()

    assert to_hex(drawn.get_facecolor()) == "#ffffff"
    assert to_hex(drawn.axes[0].get_facecolor()) == "#ffffff"
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("seconds", "scale"), [((1.0, 2.0), "linear"), ((0.001, 1.0), "log")])
def test_log_axis_only_over_decades(seconds, scale):
    """The time axis is logarithmic where the values span decades, and says so."""
    axes = plots.plot_sweep(sweep(seconds, None)).axes[0]

    assert axes.get_yscale() == scale
    assert ("log axis" in axes.get_ylabel()) == (scale == "log")


def test_crossing_is_marked():
    """The size from which the GPU wins is in the legend."""
    axes = plots.plot_sweep(sweep([1, 2, 4], [3, 3, 3])).axes[0]

    assert "mps:0 wins from 3 on" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_nothing_to_draw():
    """A comparison without any time is refused with the reason."""
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.plot_comparison(Comparison("work", ()))


def test_operations_differ_by_mark(capsys):
    """Each operation has its own mark and its share in the legend; one without FLOP has no place on the axes."""
    operations = [MeasuredOperation(f"work {n}", flop=n * 1e9, n_bytes=1e9, seconds=0.5) for n in (0, 1, 100)]

    figure = plots.plot_roofline(roofline(*operations))

    axes = figure.axes[0]
    marks = [line.get_marker() for line in axes.lines if line.get_marker() not in ("None", "")]
    assert len(set(marks)) == len(marks) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "work 1, 2% of the roof",
        "work 100, 20% of the roof",
    ]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "Limited by arithmetic: work 100" in " ".join(capsys.readouterr().out.split())


def spread(device, times_s):
    """Describe a timing whose readings lie far apart."""
    return Timing("work", device, times_s, 1, 1.0, 3, "2.14.1", 2)


@pytest.mark.parametrize("times_s", [(1.0, 1.0, 1.1, 9.0, 9.0), (1.0, 1.0, 1.1, 90.0, 95.0), (0.0, 0.0, 0.0)])
def test_ranges_include_the_spread(times_s):
    """All quartiles are inside the axes, also where the spread alone makes the axis logarithmic, or times are zero."""
    one = Comparison("work", (spread("cpu", times_s),))
    drawn = [
        (plots.plot_comparison(one).axes[0], "x"),
        (plots.plot_sweep(Sweep("work", "size", (1, 2), (one, one))).axes[0], "y"),
    ]
    for axes, which in found(drawn):
        low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
        assert all(low <= quartile <= high for quartile in one.timings[0].quartiles_s)


def test_what_others_measured_is_hollow():
    """Times of another machine are drawn hollow below one's own, with the machine's name."""
    axes = plots.plot_comparison([COMPARISON], beside=[("Apple M9", COMPARISON)]).axes[0]
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    filled = [to_hex(mark.get_markerfacecolor()) == to_hex(mark.get_color()) for mark in marks]

    assert filled == [True, True, False, False]
    assert "cpu, measured on Apple M9" in [label.get_text() for label in axes.get_yticklabels()]
