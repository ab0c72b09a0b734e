"""What a described Mac offers, what this machine offers, and where the hard limit lies."""

import platform

import pytest
from support.unwrapped import unwrapped

from course_utils import memory_budget
from course_utils.devices.environment_variables import HIGH_WATERMARK, LOW_WATERMARK
from course_utils.memory.budget import describe_budget
from course_utils.reporting.units import GIB


@pytest.mark.parametrize(("ram_gb", "quoted_gib"), [(8, 9.07), (16, 18.13), (32, 36.27), (64, 81.60), (128, 163.20)])
def test_hard_limits_are_those_that_torch_quotes(ram_gb, quoted_gib):
    """MEM-01: 1.7 times the recommended working set is the "max allowed" of public reports (pytorch #105839)."""
    assert memory_budget(ram_gb=ram_gb).hard_limit_bytes / GIB == pytest.approx(quoted_gib, abs=0.005)


def test_the_hard_limit_is_above_the_ram():
    """A job swaps before it fails: the limit lies above the RAM, the working set below."""
    budget = memory_budget("M4", 16)

    assert budget.recommended_bytes < budget.ram_bytes < budget.hard_limit_bytes
    assert budget.ram_bytes == 16 * GIB
    assert "2/3 of RAM" in budget.source


def test_a_chip_alone_is_its_largest():
    """Without RAM the largest Mac with the chip is taken, with a warning; any spelling of the name is found."""
    budget = memory_budget("apple m1 PRO")

    assert budget.ram_bytes == 32 * GIB
    assert "largest M1 Pro" in budget.warnings[0]


@pytest.mark.parametrize(
    ("chip", "ram_gb", "word"),
    [
        ("M44", 16, "'M44' here; the nearest: M4"),
        ("RTX 4090", None, "no Apple chip is called 'RTX 4090'"),
        ("M4", 64, "at most 32 GB"),
        (None, 0, "ram_gb is 0"),
        (None, float("nan"), "ram_gb is nan"),
        (None, -8, "ram_gb is -8"),
    ],
)
def test_bad_input_is_one_sentence(chip, ram_gb, word):
    """An unknown chip gets the nearest names, RAM that makes no sense its value."""
    with pytest.raises(ValueError, match=word):
        memory_budget(chip, ram_gb)


@pytest.mark.skipif(platform.system() == "Darwin", reason="describes a machine that is no Mac")
def test_this_machine_without_metal():
    """Elsewhere than on a Mac, the budget is that of a Mac with as much RAM, and says so."""
    budget = memory_budget()

    assert budget.recommended_bytes < budget.ram_bytes
    assert any("no Metal" in warning for warning in budget.warnings)


@pytest.mark.needs_mps
def test_this_mac():
    """On a Mac the recommended working set is Metal's own number."""
    import torch

    assert memory_budget().recommended_bytes == torch.mps.recommended_max_memory()


def budget_with(high, low="0.5"):
    """Describe a Mac of 16 GB in whose environment the watermarks are set."""
    return describe_budget("M4", 16, environ={HIGH_WATERMARK: high, LOW_WATERMARK: low})


@pytest.mark.parametrize("text", ["0.0", "off", "", "half", "none"])
def test_watermark_switched_off(text):
    """MEM-02: 0.0 removes the limit, and so does a word, with torch's own warning."""
    budget = budget_with(text)

    assert budget.hard_limit_bytes is None
    assert "warns of system failure" in budget.warnings[0]
    assert repr(text) in budget.warnings[0]
    assert "none" in str(budget)


@pytest.mark.parametrize("text", ["2.5", "-1", "nan", "inf", "2.5x"])
def test_watermark_refused(text):
    """MEM-02: a value that torch refuses is named, with the place where to set it (run-llama/llama_index #8743)."""
    budget = budget_with(text)

    assert budget.hard_limit_bytes == memory_budget("M4", 16).hard_limit_bytes
    assert repr(text) in budget.warnings[0]
    assert "before Python starts" in budget.warnings[0]


@pytest.mark.parametrize(
    ("text", "ratio", "n_warnings"),
    [("0.9", 0.9, 0), (" 2 ", 2.0, 0), ("1.5x", 1.5, 1), ("0x1", 1.0, 1), ("1,5", 1.0, 1)],
)
def test_watermark_of_ones_own(text, ratio, n_warnings):
    """A ratio moves the limit to where torch reads it; what torch reads differently than it is written is named."""
    budget = budget_with(text)

    assert budget.hard_limit_bytes == int(ratio * budget.recommended_bytes)
    assert len(budget.warnings) == n_warnings
    assert all(f"reads as {ratio:g}" in warning for warning in budget.warnings)


def test_it_prints_and_goes_to_json():
    """The three limits print with their source, as text and as HTML."""
    budget = memory_budget("M4", 16)

    assert "recommended working set  10.7 GiB" in str(budget)
    assert "18.1 GiB" in budget._repr_html_()
    assert budget.to_dict()["ram_bytes"] == 16 * GIB


def test_both_limits_by_default():
    """The soft limit is 1.4 times, the hard one 1.7 times the recommended working set."""
    budget = memory_budget("M4", 16)

    assert budget.soft_limit_bytes == int(1.4 * budget.recommended_bytes)
    assert budget.hard_limit_bytes == int(1.7 * budget.recommended_bytes)
    assert "soft limit" in str(budget)
    assert "without affecting its runtime performance" in unwrapped(budget)


@pytest.mark.parametrize(("text", "ratio"), [("1.0", 1.0), ("0x1", 1.0), (" 0.8y", 0.8), ("low", None), ("0", None)])
def test_low_watermark(text, ratio):
    """The low watermark moves the soft limit to where torch reads it; a word is 0, which switches it off."""
    budget = budget_with("1.7", text)

    assert budget.soft_limit_bytes == (None if ratio is None else int(ratio * budget.recommended_bytes))
    assert budget.hard_limit_bytes == int(1.7 * budget.recommended_bytes)


@pytest.mark.parametrize(
    ("environ", "refused"),
    [
        ({HIGH_WATERMARK: "1.0"}, True),
        ({HIGH_WATERMARK: "1.4"}, False),
        ({HIGH_WATERMARK: "0"}, False),
        ({HIGH_WATERMARK: "0", LOW_WATERMARK: "2"}, False),
        ({LOW_WATERMARK: "1.8"}, True),
        ({HIGH_WATERMARK: "1.0", LOW_WATERMARK: "0.9"}, False),
    ],
)
def test_the_low_watermark_is_not_above_the_high_one(environ, refused):
    """Setting only the high one below 1.4 makes torch refuse both, which the budget says."""
    budget = describe_budget("M4", 16, environ=environ)

    assert any("invalid low watermark ratio" in warning for warning in budget.warnings) == refused
    if refused:
        assert budget.hard_limit_bytes == memory_budget("M4", 16).hard_limit_bytes


def test_wired_limit():
    """A limit set by hand replaces the share of RAM, and all other limits move with it."""
    budget = memory_budget("M4 Max", 64, wired_limit_mb=57344)

    assert budget.recommended_bytes == 56 * GIB
    assert budget.hard_limit_bytes == int(1.7 * 56 * GIB)
    assert budget.warnings == ()
    assert "iogpu.wired_limit_mb is 57344" in str(budget)
    assert memory_budget("M4", 16, wired_limit_mb=0) == memory_budget("M4", 16)


def test_wired_limit_that_leaves_macos_too_little():
    """A limit that leaves macOS less than 4 GiB is called dangerous, with the way back."""
    budget = memory_budget("M4", 16, wired_limit_mb=15000)

    assert "sudo sysctl iogpu.wired_limit_mb=0" in budget.warnings[0]


@pytest.mark.parametrize(
    ("arguments", "wired", "word"),
    [(("M4", 16), 20000, "at most the RAM"), (("M4", 16), -5, "wired_limit_mb is -5"), ((), 8000, "give ram_gb")],
)
def test_wired_limits_that_make_no_sense(arguments, wired, word):
    """A limit above the RAM, below 0 or of no described Mac is refused with its value."""
    with pytest.raises(ValueError, match=word):
        memory_budget(*arguments, wired_limit_mb=wired)
