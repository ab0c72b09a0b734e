"""Rooflines: the lower of two ceilings, which one it is, and what cannot be."""

import pytest
from support.described_timings import roofline
from support.unwrapped import unwrapped

from course_utils.benchmarking.roofline import MeasuredOperation, Roofline


@pytest.mark.parametrize(
    ("intensity", "attainable", "limit"),
    [(0.1, 10e9, "memory"), (9.9, 990e9, "memory"), (10.0, 1000e9, "arithmetic"), (200.0, 1000e9, "arithmetic")],
)
def test_the_lower_ceiling_counts(intensity, attainable, limit):
    """Below the ridge the memory limits, in proportion to the intensity; from the ridge on the arithmetic does."""
    roof = roofline()

    assert roof.ridge == pytest.approx(10)
    assert roof.attainable(intensity) == pytest.approx(attainable)
    assert roof.limit(intensity) == limit


def test_least_time_is_the_longer_part():
    """Moving and computing overlap, so the shortest time is the longer of both, not their sum."""
    assert roofline().least_s(flop=1e9, n_bytes=1e9) == pytest.approx(0.01)
    assert roofline().least_s(flop=100e9, n_bytes=1e9) == pytest.approx(0.1)
    assert roofline().least_s(flop=0, n_bytes=1e9) == pytest.approx(0.01)


def test_share_of_the_roof():
    """An operation at half the attainable rate has a share of one half, under either ceiling."""
    slow_copy = MeasuredOperation("copy", flop=0, n_bytes=1e9, seconds=0.02)
    slow_product = MeasuredOperation("product", flop=100e9, n_bytes=1e9, seconds=0.2)

    assert roofline().share(slow_copy) == pytest.approx(0.5)
    assert roofline().share(slow_product) == pytest.approx(0.5)


def test_above_the_roof_is_a_warning():
    """What is clearly faster than the roof allows is named; a little above is the ceilings' own uncertainty."""
    impossible = MeasuredOperation("cached add", flop=1e9, n_bytes=12e9, seconds=0.04)
    good = MeasuredOperation("add", flop=1e9, n_bytes=12e9, seconds=0.11)

    warnings = roofline(impossible, good).warnings

    assert len(warnings) == 1
    assert warnings[0].startswith("cached add is 3.0 times as fast as the roof allows")


def test_text_and_html():
    """Both views have ceilings, operations and warnings; without operations the text is the ceilings alone."""
    named = roofline(MeasuredOperation("a < b", flop=1e9, n_bytes=12e9, seconds=0.04))

    assert "100.0 GB/s, 1000 GFLOP/s, ridge at 10.0 FLOP/byte" in unwrapped(named)
    assert "memory" in str(named)
    assert "  warning: a < b is" in str(named)
    assert "a &lt; b" in named._repr_html_()
    assert "operation" not in str(roofline())


@pytest.mark.parametrize("wrong", [{"n_bytes": 0}, {"seconds": 0.0}, {"flop": -1}])
def test_impossible_operations_are_refused(wrong):
    """An operation that moves nothing, takes no time or computes less than nothing is refused with its name."""
    with pytest.raises(ValueError, match="'add'"):
        MeasuredOperation(**({"label": "add", "flop": 1, "n_bytes": 12, "seconds": 1.0} | wrong))


def test_ceilings_have_to_be_positive():
    """A ceiling of zero would make everything impossible; it is refused."""
    with pytest.raises(ValueError, match="two ceilings above 0"):
        Roofline("cpu", bytes_per_s=0, flop_per_s=1, source="described")
