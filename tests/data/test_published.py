"""Published measurements: each with its provenance."""

import pytest

from course_utils.data import published
from course_utils.devices.chips import find_chip


def test_every_measurement_has_its_provenance():
    """Chip, torch, date, source and method stand with every number, and times are positive."""
    entries = published._all_published()

    assert entries
    for entry in entries:
        assert all((entry.chip, entry.torch_version, entry.date, entry.source, entry.method)), entry
        assert entry.seconds > 0
        assert entry.device in ("cpu", "mps")


def test_a_script_that_never_waits_is_called_so():
    """The times that lesson 05 doubts have sizes for both devices, and their method says what is wrong with it."""
    claims = published.published_times("resnet50-batches-m1")

    assert {(entry.device, entry.size) for entry in claims} == {
        (device, size) for device in ("cpu", "mps") for size in (1, 2, 4, 8)
    }
    assert all("never waits" in entry.method for entry in claims)


def test_copies_stay_below_the_published_bandwidth():
    """A published copy of a chip is no faster than the bandwidth that its maker states."""
    copies = published.published_times("copy-one-gigabyte")

    assert {entry.device for entry in copies} == {"cpu", "mps"}
    for entry in copies:
        gb_per_s = 1 / entry.seconds
        assert gb_per_s < max(find_chip(entry.chip).bandwidth_gb_per_s), entry


def test_unknown_key_lists_the_known():
    """An unknown key lists what there is."""
    with pytest.raises(ValueError, match=r"'nope'.*resnet50-batches-m1"):
        published.published_times("nope")
