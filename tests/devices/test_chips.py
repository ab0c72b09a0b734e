"""Chips: published figures with their sources, and the peak that follows."""

import pytest
from support.found import found

from course_utils.devices import chips, machine


def test_every_chip_has_sources():
    """No figure stands without a source, and core counts and bandwidths pair up."""
    for chip in found(chips.all_chips()):
        assert chip.sources, chip.name
        assert len(chip.gpu_cores) == len(chip.bandwidth_gb_per_s), chip.name


@pytest.mark.parametrize("brand", ["Apple M1 Pro", "M1 Pro", " Apple M1 Pro\n"])
def test_chips_are_found_by_macos_name(brand):
    """The name macOS gives finds the chip, and only that chip."""
    chip = chips.find_chip(brand)

    assert chip is not None
    assert chip.name == "M1 Pro"


def test_unknown_chip_is_none():
    """An unknown chip is None, never a neighbour's figures."""
    assert chips.find_chip("Apple M99 Ultra") is None
    assert chips.find_chip("Intel(R) Core(TM) i7") is None


def test_peak_of_the_m1_pro():
    """16 cores at 1296 MHz make the 5.3 TFLOP/s that are published for the M1 Pro."""
    peak = chips.find_chip("M1 Pro").peak_flops(16)

    assert peak == pytest.approx(5.308e12, rel=1e-3)


def test_peak_without_clock_is_unknown():
    """A chip without a published clock has no peak, so nothing is held against it."""
    assert chips.find_chip("M5").peak_flops() is None


def test_no_apple_chip_elsewhere(monkeypatch):
    """Off macOS there is no Apple chip and no peak."""
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    machine.this_chip.cache_clear()

    assert machine.this_chip() is None
    assert chips.peak_flops_here("mps") is None
    machine.this_chip.cache_clear()


def test_peak_on_a_described_mac(monkeypatch):
    """On an M1 Max with 24 cores the peak is that of 24 cores; the CPU has none."""
    import torch

    monkeypatch.setattr(chips, "this_chip", lambda: "Apple M1 Max")
    monkeypatch.setattr(torch.backends.mps, "get_core_count", lambda: 24)

    assert chips.peak_flops_here("mps") == pytest.approx(24 * 256 * 1296e6)
    assert chips.peak_flops_here("cpu") is None


@pytest.mark.parametrize(
    "brand", ["Apple M3", "Apple M3 Pro", "Apple M3 Ultra", "Apple M4", "Apple M5", "Apple M9 Max"]
)
def test_a_chip_without_a_published_clock_has_a_bound(monkeypatch, brand):
    """A time that would need 17 PFLOP/s is above what any chip does; the real peaks are far below the bound."""
    import torch

    cores = 80 if "Ultra" in brand else 10
    monkeypatch.setattr(chips, "this_chip", lambda: brand)
    monkeypatch.setattr(torch.backends.mps, "get_core_count", lambda: cores)
    bound = chips.peak_flops_here("mps")

    assert bound < 17e15
    assert bound > 5 * chips.FLOP_PER_CORE_AND_CYCLE * cores * 1.7e9
