"""Captions: each says what the chart shows, and claims nothing that was not measured."""

import itertools
import re

import pytest
from support.described_timings import roofline, sweep, timing

from course_utils.benchmarking.captions import comparison_caption, raw_times_caption, roofline_caption, sweep_caption
from course_utils.benchmarking.measurement import Comparison
from course_utils.benchmarking.plots import plot_sweep
from course_utils.benchmarking.roofline import MeasuredOperation
from course_utils.benchmarking.sweep import Sweep
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
    text = comparison_caption(Comparison("work", (timing("cpu", 0.1),)), [published_times("resnet50-batches-m1")[4]])

    assert "Published, not measured here: mps 113 ms (M1 (MacBook Air)" in text


def test_sweeps_allow_the_cpu_to_win():
    """A small sweep where the CPU wins everywhere claims no speed-up of the GPU."""
    text = sweep_caption(sweep([1, 1], [2, 2], sizes=(4, 8)))

    assert "the CPU is at least as fast as mps:0 at every size measured, from 4 to 8" in text


def test_sweep_with_crossing_and_without():
    """The crossing is named; a GPU that always wins is said to; the CPU alone gets its range."""
    assert "mps:0 is faster than the CPU from size 3 on" in sweep_caption(sweep([1, 2, 4], [3, 3, 3]))
    assert "faster than the CPU at every size measured, from 1 to 2" in sweep_caption(sweep([2, 2], [1, 1]))
    assert "on the CPU, from 1.00 s at size 1 to 2.00 s at 2" in sweep_caption(sweep([1, 2], None))


def test_raw_times():
    """The raw times' sentence gives range, spread and median."""
    assert "5 readings from 1.00 s to 1.00 s" in raw_times_caption([timing("cpu", 1.0)])


def test_roofline_names_both_sides():
    """Each operation stands under the ceiling that limits it; a warning is said, and nothing else is claimed."""
    add = MeasuredOperation("add", flop=1e9, n_bytes=12e9, seconds=0.24)
    product = MeasuredOperation("product", flop=100e9, n_bytes=1e9, seconds=0.01)

    text = roofline_caption(roofline(add, product))

    assert "below 10.0 FLOP/byte" in text
    assert "Limited by memory: add (50% of the roof)." in text
    assert "Limited by arithmetic: product (1000% of the roof)." in text
    assert "Warning: product is 10.0 times as fast" in text
    assert "Limited" not in roofline_caption(roofline())


def claims(text):
    """Read a caption of a sweep over sizes 1, 2, ...: at which sizes it calls mps:0 faster than the CPU."""
    sizes = range(1, 5)
    if match := re.search(r"mps:0 is faster than the CPU from size (\d+) on; below that", text):
        return [size >= int(match[1]) for size in sizes]
    if match := re.search(r"mps:0 is faster than the CPU at size ([^;]+);", text):
        ends = [[int(end) for end in part.split(" to ")] for part in re.split(", | and ", match[1])]
        return [any(part[0] <= size <= part[-1] for part in ends) for size in sizes]
    everywhere = bool(re.search(r"mps:0 is faster than the CPU at (every size measured, from 1 to|size 1\.)", text))
    assert everywhere != ("the CPU is at least as fast as mps:0" in text)
    return [everywhere for _ in sizes]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_pattern_of_winners_is_told_truly(n):
    """Whatever device wins, ties or loses at whichever size, the caption says just that, and the chart can be drawn."""
    patterns = list(itertools.product((0.5, 1.0, 2.0), repeat=n))
    assert len(patterns) == 3**n
    for medians in patterns:
        found = sweep([1.0] * n, medians)
        assert claims(sweep_caption(found))[:n] == [median < 1.0 for median in medians], medians
        if n <= 2:
            plot_sweep(found)


def test_without_a_cpu():
    """A sweep on MPS alone has the times at both ends and compares with nothing."""
    found = Sweep("work", "size", (1, 2), tuple(Comparison("work", (timing("mps:0", t),)) for t in (1.0, 2.0)))

    assert sweep_caption(found) == "work: on mps:0, from 1.00 s at size 1 to 2.00 s at 2."
    assert len(plot_sweep(found).axes[0].lines) == 1


def test_no_device_at_every_size():
    """Devices that failed at some size are named as missing, and nothing is claimed of them."""
    some = (Comparison("work", (timing("cpu", 1.0),)), Comparison("work", (), (("cpu", "out of memory"),)))
    found = Sweep("work", "size", (1, 2), some)

    assert "no device was measured at every size. cpu was not measured here (out of memory)" in sweep_caption(found)
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_sweep(found)
