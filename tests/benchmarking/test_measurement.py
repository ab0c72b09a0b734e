"""Measurements: statistics agree with torch's, warnings are stated, tables escape."""

import json
from dataclasses import replace

import pytest
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.reporting.units import format_duration

STEADY = Timing(
    label="work",
    device="cpu",
    times_s=(0.0050, 0.0051, 0.0049, 0.0050, 0.0052, 0.0050, 0.0051),
    calls_per_reading=1,
    first_call_s=0.006,
    warmup_calls=3,
    torch_version="2.14.1",
    threads=2,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (3.2e-9, "3.20 ns"),
        (999e-9, "999 ns"),
        (1e-6, "1.00 µs"),
        (0.000_999_9, "1.00 ms"),
        (0.01234, "12.3 ms"),
        (0.85, "850 ms"),
        (0.99999, "1.00 s"),
        (75.25, "75.2 s"),
    ],
)
def test_durations_read_well(seconds, text):
    """A duration has three digits and the unit that suits it, also just below a unit's edge."""
    assert format_duration(seconds) == text


def test_statistics_agree_with_torch():
    """Median and interquartile range are those of torch.utils.benchmark for the same raw times."""
    theirs = Measurement(1, list(STEADY.times_s), TaskSpec("pass", "pass"))

    assert STEADY.median_s == pytest.approx(theirs.median)
    assert STEADY.iqr_s == pytest.approx(theirs.iqr, rel=1e-5)


def test_one_reading_has_no_spread():
    """A single reading has a median and a spread of zero."""
    assert replace(STEADY, times_s=(0.25,)).iqr_s == 0


def test_no_readings_are_refused():
    """A timing without readings cannot be made."""
    with pytest.raises(ValueError, match="at least one reading"):
        replace(STEADY, times_s=())


def test_steady_readings_have_no_warning():
    """Enough steady readings come without a warning, however slow the first call was."""
    assert STEADY.warnings == ()
    assert replace(STEADY, first_call_s=30.0).warnings == ()


@pytest.mark.parametrize("time_s", [float("nan"), float("inf"), -1.0])
def test_a_time_is_a_number_of_seconds(time_s):
    """NaN, infinite and negative times are refused with their value."""
    with pytest.raises(ValueError, match=str(time_s)):
        replace(STEADY, times_s=(1.0, time_s))
    with pytest.raises(ValueError, match=str(time_s)):
        replace(STEADY, first_call_s=time_s)


def test_a_clock_that_stands_still():
    """Times of zero end in a warning and no ratio, not in a division by zero."""
    still = replace(STEADY, times_s=(0.0,) * 9, device="mps:0", flop=1e9, peak_flops=1e12)
    comparison = Comparison("work", (STEADY, still))

    assert any("stood still" in warning for warning in still.warnings)
    assert comparison.speedup("mps") is None
    assert comparison.speedup("cpu", over="mps") is None
    assert "0 s" in str(comparison)


def test_the_first_call_as_only_reading():
    """Where max_time_s left time for nothing else, the warning says what the only reading is."""
    assert ["first call" in warning for warning in replace(STEADY, times_s=(1.0,), warmup_calls=0).warnings] == [True]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"times_s": (0.005, 0.005, 0.005, 0.005)}, "too few readings (4"),
        ({"times_s": (1.0, 1.0, 1.15, 1.15, 1.15)}, "wide spread"),
        ({"times_s": (1.0, 2.0, 1.0, 2.0, 3.0, 3.0)}, "very wide spread"),
        ({"flop": 1e11, "peak_flops": 5e12}, "implausibly fast: 20.00 TFLOP/s"),
    ],
)
def test_each_warning_is_stated(changes, word):
    """Each reason not to trust a number is named with its value."""
    found = replace(STEADY, **changes).warnings

    assert len(found) == 1
    assert word in found[0]


def test_only_a_rate_above_the_peak_is_implausible():
    """A rate just below the peak is fine, and so is any where no peak is known."""
    assert replace(STEADY, flop=0.0050 * 5e12, peak_flops=5e12).warnings == ()
    assert replace(STEADY, flop=1e15, peak_flops=None).warnings == ()


def test_comparison_finds_devices_and_ratios():
    """A comparison finds "mps:0" as mps, and a ratio below 1 says slower."""
    slow_gpu = replace(STEADY, device="mps:0", times_s=(0.01,) * 5)
    comparison = Comparison("work", (STEADY, slow_gpu))

    assert comparison.on("mps") is slow_gpu
    assert comparison.speedup("mps") == pytest.approx(0.5)
    assert comparison.speedup("cuda") is None
    assert comparison.fastest is STEADY


def test_missing_devices_are_named_and_have_no_time():
    """A device that did not run is named with its reason, and its row is not in the table."""
    comparison = Comparison("work", (STEADY,), missing=(("mps", "absent: no Metal"),))

    assert "mps: not measured - absent: no Metal" in str(comparison)
    assert [row[0] for row in comparison.rows()] == ["device", "cpu"]


def test_html_escapes_labels():
    """Text from outside cannot become markup in a notebook."""
    html = Comparison("<script>alert(1)</script>", (STEADY,))._repr_html_()

    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_raw_times_survive_json():
    """The JSON form keeps raw times, statistics and warnings."""
    few = replace(STEADY, times_s=(1.0, 2.0))
    data = json.loads(json.dumps(few.to_dict()))

    assert data["times_s"] == [1.0, 2.0]
    assert data["median_s"] == 1.5
    assert data["warnings"] == list(few.warnings)
    assert few.warnings
