"""The one wrapper around the system's programs, and the description that stands beside a result."""

import pytest

from course_utils.devices import machine


def test_programs_that_cannot_answer():
    """A program that is missing, fails or hangs is unknown, not an error."""
    assert machine.ask("no-such-program-of-the-doctor") is None
    assert machine.ask("false") is None
    assert machine.ask("sleep", "60", time_limit_s=0.1) is None
    assert machine.ask("echo", "yes") == "yes"


@pytest.mark.parametrize(("answer", "expected"), [("1", True), ("0", False), (None, None), ("2", None)])
def test_flags(monkeypatch, answer, expected):
    """A switch is 0 or 1; an unknown name, or anything else, is unknown."""
    monkeypatch.setattr(machine, "ask", lambda *command: answer)

    assert machine.sysctl_flag("sysctl.proc_translated") is expected


def test_a_mac_is_asked_by_its_own_programs(monkeypatch):
    """Chip and build come from sysctl and sw_vers, and stand in the description."""
    answers = {("sysctl", "-n", "machdep.cpu.brand_string"): "Apple M4", ("sw_vers", "-buildVersion"): "24G90"}
    monkeypatch.setattr(machine, "ask", lambda *command: answers.get(command))
    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(machine.platform, "mac_ver", lambda: ("15.6.1", ("", "", ""), "arm64"))
    machine.this_chip.cache_clear()
    here = machine.this_machine()
    machine.this_chip.cache_clear()

    assert str(here).endswith("macOS 15.6.1 (build 24G90), Apple M4")


def test_an_intel_mac_has_no_apple_chip(monkeypatch):
    """Another maker's processor is not a chip of the table."""
    monkeypatch.setattr(machine, "ask", lambda *command: "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz")
    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    machine.this_chip.cache_clear()
    chip = machine.this_chip()
    machine.this_chip.cache_clear()

    assert chip is None
