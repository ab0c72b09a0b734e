"""The device of a lesson: the real one where it works, the emulated one where torch has no MPS, else the CPU."""

import pytest
import torch

from course_utils.devices.probe import Probe
from course_utils.emulation import is_active, mps_or_emulated, select_device
from course_utils.emulation.select_device import choose_device


def test_emulated_where_torch_has_no_mps():
    """A torch without MPS gets the emulated device, and nothing of it is left afterwards."""
    if torch.backends.mps.is_built():
        pytest.skip("emulation refuses to start where torch has MPS")
    with mps_or_emulated() as mps:
        assert is_active()
        assert torch.ones(2, device=mps.device).sum().item() == 2
        assert len(mps.ledger().waits) == 1

    assert not is_active()


@pytest.mark.parametrize(
    ("built", "state", "choice"),
    [
        (True, "usable", "real"),
        (True, "present but unusable", "cpu"),
        (True, "absent", "cpu"),
        (False, "absent", "emulated"),
    ],
)
def test_choice(built, state, choice):
    """A real device that works is used and counted; MPS that is built in and does not work rules emulation out."""
    assert choose_device(built=built, probe=Probe("mps", state, "described")) == choice


def test_cpu_on_a_virtual_mac(monkeypatch):
    """Where MPS is built in but unusable, the CPU is used, and the ledger's one line says that nothing was counted."""
    monkeypatch.setattr(select_device, "choose_device", lambda **_: "cpu")
    with mps_or_emulated() as mps:
        assert mps.device.type == "cpu"
        mps.clear_ledger()
        text = str(mps.ledger())
    assert "nothing was counted" in text
