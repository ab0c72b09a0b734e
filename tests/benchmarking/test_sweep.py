"""Sweeps: the crossing is where the GPU wins for good."""

import pytest
import torch
from support.described_timings import sweep, timing

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.sweep import Sweep, sweep_devices


@pytest.mark.parametrize(
    ("cpu", "mps", "expected"),
    [
        ([1, 2, 4, 8], [3, 3, 3, 3], 3),
        ([1, 1], [2, 2], None),
        ([2, 2], [1, 1], 1),
        ([1, 1, 1, 1], [2, 0.5, 2, 0.5], 4),
        ([1, 1], [2, 1], None),
        ([1, 1, 1], [2, 0.5, 2], None),
    ],
)
def test_crossing(cpu, mps, expected):
    """A GPU wins from the size at which, and above which, it is faster; equal is not faster, luck does not count."""
    assert sweep(cpu, mps).crossing("mps") == expected


def test_no_claim_without_a_gpu():
    """Without MPS there is no crossing to ask for, and the sentence says what was measured."""
    with pytest.raises(ValueError, match="measured: cpu"):
        sweep([1, 2], None).crossing("mps")


def test_sizes_are_measured_in_order():
    """Sizes given in any order come back ascending, each with its own comparison."""
    result = sweep_devices(
        lambda size: torch.relu,
        [8, 2],
        inputs_of_size=lambda size: (torch.ones(size),),
        label="relu",
        repetitions=1,
        devices_to_try=["cpu"],
    )

    assert result.sizes == (2, 8)
    assert len(result.medians_s("cpu")) == 2
    assert "relu" in str(result)
    assert result.to_dict()["points"][1]["size"] == 8


def test_no_sizes():
    """A sweep over nothing is refused."""
    with pytest.raises(ValueError, match="no sizes"):
        sweep_devices(lambda size: torch.relu, [], label="nothing")


def test_warnings_carry_their_size():
    """Doubts of the single measurements are those of the sweep, with size and device."""
    comparison = Comparison("work", (timing("cpu", 1.0),))
    doubtful = Comparison("work", (Timing("work", "cpu", (1.0,), 1, 1.0, 3, "2.14.1", 2, warnings=("too few",)),))

    assert Sweep("work", "size", (1, 2), (comparison, doubtful)).warnings == ("2: cpu: too few",)
