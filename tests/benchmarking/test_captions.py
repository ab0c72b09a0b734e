"""Captions: each says what the chart shows, and claims nothing that was not measured."""

from support.described_timings import roofline, sweep, timing

from course_utils.benchmarking.captions import comparison_caption, raw_times_caption, roofline_caption, sweep_caption
from course_utils.benchmarking.measurement import Comparison
from course_utils.benchmarking.roofline import MeasuredOperation
from course_utils.data.published import published_times


def test_one_device_alone():
    """With the CPU alone there is a time and no ratio."""
    text = comparison_caption(Comparison("work", (timing("cpu", 0.25),), (("mps", "absent: no Metal"),)))

    assert "cpu takes 250 ms" in text
    assert "times as fast" not in text
    assert "mps was not measured here (absent: no Metal)" in text


def test_faster_and_slower():
    """The faster device is named first, with the ratio, whichever it is."""
    text = comparison_caption(Comparison("work", (timing("cpu", 0.1), timing("mps:0", 0.4))))

    assert "cpu takes 100 ms, 4.0 times as fast as mps:0 with 400 ms" in text


def test_about_equal():
    """A difference below ten percent is no difference."""
    assert "about equally fast" in comparison_caption(Comparison("work", (timing("cpu", 1.0), timing("mps:0", 1.05))))


def test_published_is_called_published():
    """Numbers of others are called so, with chip and source."""
    text = comparison_caption(Comparison("work", (timing("cpu", 0.1),)), published_times("resnet18-train-1"))

    assert "Published, not measured here: mps 140 ms (M1 Pro" in text


def test_sweeps_allow_the_cpu_to_win():
    """A small sweep where the CPU wins everywhere claims no speed-up of the GPU."""
    text = sweep_caption(sweep([1, 1], [2, 2], sizes=(4, 8)))

    assert "the CPU is at least as fast as mps:0 at size 8" in text


def test_sweep_with_crossing_and_without():
    """The crossing is named; a GPU that always wins is said to; the CPU alone gets its range."""
    assert "mps:0 is faster from size 3 on" in sweep_caption(sweep([1, 2, 4], [3, 3, 3]))
    assert "faster than the CPU at every size from 1 to 2" in sweep_caption(sweep([2, 2], [1, 1]))
    assert "on the CPU, from 1.00 s at size 1 to 2.00 s at 2" in sweep_caption(sweep([1, 2], None))


def test_raw_times():
    """The raw times' sentence gives range, spread and median."""
    assert "5 readings from 1.00 s to 1.00 s" in raw_times_caption([timing("cpu", 1.0)])


def test_roofline_names_both_sides():
    """Each operation stands under the ceiling that limits it; a doubt is said, and nothing else is claimed."""
    add = MeasuredOperation("add", flop=1e9, n_bytes=12e9, seconds=0.24)
    product = MeasuredOperation("product", flop=100e9, n_bytes=1e9, seconds=0.01)

    text = roofline_caption(roofline(add, product))

    assert "below 10.0 FLOP/byte" in text
    assert "Limited by memory: add (50% of the roof)." in text
    assert "Limited by arithmetic: product (1000% of the roof)." in text
    assert "Doubt: product is 10.0 times as fast" in text
    assert "Limited" not in roofline_caption(roofline())
