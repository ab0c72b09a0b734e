"""Devices: a device counts as usable only when it computed the CPU's answer."""

import pytest
import torch

from course_utils.devices import probe as devices


def fails() -> float:
    raise RuntimeError("MPS backend out of memory (MPS allocated: 0 bytes)\nsecond line")


def test_not_offered_is_absent():
    """A device that torch does not offer is absent, with the reason given, and nothing is attempted."""
    probe = devices.judge("mps", offered=False, why_not="no Metal", attempt=fails)

    assert (probe.state, probe.reason, probe.usable) == ("absent", "no Metal", False)


def test_offered_but_failing_is_unusable():
    """A virtual Mac offers MPS and fails at the first work: present but unusable, with the error's first line."""
    probe = devices.judge("mps", offered=True, why_not="", attempt=fails)

    assert probe.state == "present but unusable"
    assert "out of memory" in probe.reason
    assert "second line" not in probe.reason
    assert "virtual" in probe.reason


@pytest.mark.parametrize("difference", [0.5, float("nan"), float("inf")])
def test_wrong_answer_is_unusable(difference):
    """A device that computes something else than the CPU is unusable; NaN is no agreement."""
    probe = devices.judge("mps", offered=True, why_not="", attempt=lambda: difference)

    assert probe.state == "present but unusable"
    assert "differs from the CPU" in probe.reason


def test_right_answer_is_usable():
    """A device that gives the CPU's answer is usable."""
    probe = devices.judge("mps", offered=True, why_not="", attempt=lambda: 1e-6)

    assert probe.usable


@pytest.mark.parametrize(
    ("system", "machine", "built", "word"),
    [
        ("Linux", "x86_64", False, "only on macOS"),
        ("Windows", "AMD64", False, "only on macOS"),
        ("Darwin", "x86_64", False, "arm64 Python"),
        ("Darwin", "arm64", False, "built without MPS"),
        ("Darwin", "arm64", True, "no usable Metal device"),
    ],
)
def test_why_mps_is_absent(system, machine, built, word):
    """Each described machine gets its own reason."""
    assert word in devices.why_mps_is_absent(system=system, machine=machine, built=built)


def test_built_is_not_available(monkeypatch):
    """A torch built with MPS that offers none must not be picked: is_built says only how the wheel was made."""
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    assert devices.probe_mps().state == "absent"
    assert devices.pick_device(prefer=("mps", "cpu")) == torch.device("cpu")


def test_available_alone_is_not_enough(monkeypatch):
    """Where is_available lies, the probe finds out by computing, and the CPU is picked."""
    if torch.backends.mps.is_built():
        pytest.skip("needs a torch without MPS, so that work on it fails")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)

    assert devices.probe_mps().state == "present but unusable"
    assert devices.pick_device(prefer=("mps", "cpu")).type == "cpu"


def test_pick_device_by_name():
    """A device asked for by name is used if it works."""
    assert devices.pick_device("cpu") == torch.device("cpu")


def test_pick_device_by_variable(monkeypatch):
    """COURSE_DEVICE overrides the choice for a whole run; an empty one does not."""
    monkeypatch.setenv("COURSE_DEVICE", "bogus")
    with pytest.raises(ValueError, match="knows no device 'bogus'"):
        devices.pick_device()

    monkeypatch.setenv("COURSE_DEVICE", "")
    assert devices.pick_device(prefer=("cpu",)).type == "cpu"


def test_unknown_device_names_the_value():
    """A device torch does not know is refused with the value and the devices of the course."""
    with pytest.raises(ValueError, match=r"'tpu9'.*mps, cuda, cpu"):
        devices.pick_device("tpu9")


def test_absent_device_is_refused_with_reason(monkeypatch):
    """Asking for a device that does not work here gives its state and reason."""
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "absent", "no Metal here"))
    with pytest.raises(ValueError, match=r"'mps' cannot be used here \(absent\): no Metal here"):
        devices.require_usable("mps")


def test_other_backend_is_absent():
    """A device type that torch knows and this machine lacks is absent, with what there is instead."""
    probe = devices.probe("xla")

    assert probe.state == "absent"
    assert "cpu" in probe.reason


def test_cpu_needs_no_waiting():
    """Synchronising the CPU returns at once."""
    assert devices.synchronize("cpu") is None


def test_synchronize_waits_for_the_named_device(monkeypatch):
    """The device named is the one waited for."""
    waited = []
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: waited.append(str(device)))

    devices.synchronize("mps")
    devices.synchronize("cuda:0")

    assert waited == ["mps", "cuda:0"]


def test_synchronize_refuses_unknown_devices():
    """Waiting for a device that does not exist names the value."""
    with pytest.raises(ValueError, match="'gpu'"):
        devices.synchronize("gpu")


def test_one_probe_serves_many_questions(monkeypatch):
    """Devices that were probed once are not probed again, whatever is asked of them."""
    counted = []
    probe_mps = devices.probe_mps
    monkeypatch.setattr(devices, "probe_mps", lambda: counted.append("mps") or probe_mps())
    probed = devices.probe_devices()
    for _ in range(3):
        devices.pick_device(probed=probed)
        devices.require_usable("cpu", probed=probed)
        devices.probe("mps", probed=probed)

    assert counted == ["mps"]
    assert probed.usable == devices.usable_devices()
    assert probed.find("mps") == devices.probe_mps()


def test_what_was_probed_is_believed():
    """A probe that is passed on decides, so that one call cannot answer in two ways."""
    probed = devices.ProbedDevices((devices.Probe("mps", "absent", "not today"), devices.Probe("cpu", "usable", "")))

    assert devices.pick_device(prefer=("mps", "cpu"), probed=probed).type == "cpu"
    with pytest.raises(ValueError, match="not today"):
        devices.require_usable("mps", probed=probed)


@pytest.mark.needs_mps
def test_mps_is_picked_first():
    """On a Mac whose GPU works, MPS is picked and can be waited for."""
    device = devices.pick_device()
    devices.synchronize(device)

    assert device.type == "mps"
