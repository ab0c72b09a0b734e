"""The device of a lesson: the real device where it works, the emulated one where torch has no MPS, else the CPU."""

import pytest
import torch

from course_utils.devices.probe import Probe
from course_utils.emulation import is_active, mps_or_emulated
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


def test_real_where_it_works():
    """On a described Mac the real device is used, and its ledger says that nothing was counted."""
    real = choose_device(built=True, probe=Probe("mps", "usable", "equals the CPU's"))

    assert real.device == torch.device("mps")
    assert "counted on emulated ones only" in real.ledger().warnings[0]
    assert real.ledger().copies == ()


def test_cpu_on_a_virtual_mac():
    """Where MPS is built in but unusable, the CPU is used and the line says why."""
    real = choose_device(built=True, probe=Probe("mps", "present but unusable", "out of memory"))

    assert real.device.type == "cpu"
    assert "present but unusable" in real.note


def test_no_choice_to_make_elsewhere():
    """Without MPS in torch the answer is always to emulate."""
    assert choose_device(built=False, probe=Probe("mps", "absent", "Linux")) is None
