"""torch itself is asked whether it falls back to the CPU."""

import os

import pytest

from course_utils.devices.environment_variables import fallback_is_on
from course_utils.doctor.fallback_check import runs_without_kernel, torch_falls_back


@pytest.mark.parametrize(("device", "expected"), [("cpu", True), ("meta", False), ("no-such-device", None)])
def test_operator_without_a_kernel(device, expected):
    """The check's operator runs where it has a kernel, raises where it has none, and is unknown where torch refuses."""
    assert runs_without_kernel(device) is expected


@pytest.mark.needs_mps
def test_torch_answers_for_its_fallback():
    """On a Mac, torch itself says whether its fallback is on, as the environment of this process does."""
    import torch

    assert torch.backends.mps.is_available()
    assert torch_falls_back() is (fallback_is_on(os.environ))
