"""Sweeps: the crossing is where the GPU wins for good."""

import pytest
import torch
from support.described_timings import sweep, timing
from support.unwrapped import unwrapped

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.sweep import Sweep, sweep_devices
from course_utils.devices import probe as devices


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
    """Warnings of the single measurements are those of the sweep, with size and device, and are printed."""
    comparison = Comparison("work", (timing("cpu", 1.0),))
    few = Comparison("work", (Timing("work", "cpu", (1.0,), 1, 1.0, 3, "2.14.1", 2),))
    found = Sweep("work", "size", (1, 2), (comparison, few))

    assert [warning.startswith("size 2, cpu: too few readings") for warning in found.warnings] == [True]
    assert found.warnings[0] in unwrapped(found)
    assert "too few readings" in found._repr_html_()


@pytest.mark.parametrize(("sizes", "count"), [((), 0), ((1, 2), 1), ((2, 1), 2), ((1, 1), 2)])
def test_a_sweep_needs_one_comparison_for_each_ascending_size(sizes, count):
    """A sweep that no chart could draw is refused."""
    with pytest.raises(ValueError, match="sweep"):
        Sweep("work", "size", sizes, (Comparison("work", (timing("cpu", 1.0),)),) * count)


def test_devices_are_probed_once_for_a_sweep(monkeypatch):
    """However many sizes there are, each device is probed once."""
    probes = []

    def probe(kind):
        probes.append(kind)
        return devices.Probe(kind, "absent", "described")

    monkeypatch.setattr(devices, "probe_mps", lambda: probe("mps"))
    monkeypatch.setattr(devices, "probe_cuda", lambda: probe("cuda"))
    sweep_devices(
        lambda size: torch.relu, range(1, 9), inputs_of_size=lambda n: (torch.ones(n),), label="relu", repetitions=1
    )

    assert sorted(probes) == ["cuda", "mps"]
