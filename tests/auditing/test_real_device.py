"""The way over a real MPS, tried on the emulated device with its variable unset: it raises where a Mac raises."""

import math

import pytest
import torch
from torch import nn

from course_utils.auditing import audit
from course_utils.auditing.calls import CallFollower
from course_utils.auditing.real_device import RealDeviceMode, detour_over_cpu
from course_utils.auditing.tracer import Tracer
from course_utils.emulation import KernelTable, emulated_mps, mps_kernels


def _watch(run):
    """Run a function of the device under the mode for a real device, and return what was seen."""
    with emulated_mps(missing="raise") as mps:
        tracer = Tracer(nn.Identity())
        tracer.enter("forward")
        kernels = mps_kernels()
        with tracer.tracing(), RealDeviceMode(CallFollower(tracer), kernels):
            result = run(mps.device)
        return tracer.log, result.cpu()


def test_missing_operators_are_run_on_the_cpu():
    """A missing operator is written down and the step goes on with the CPU's result."""
    log, result = _watch(lambda device: torch.mode(torch.tensor([[1.0, 1.0, 2.0]], device=device), 1).values + 1)

    assert list(log.suspects) == [("aten::mode", "missing")]
    assert result.tolist() == [2.0]
    assert ("aten::add.Tensor", "native") in log.seen


def test_an_operator_inside_a_composite_one_is_named_by_its_error():
    """Where C++ calls the missing operator, the error names it."""
    nothing_known = KernelTable("2.14.1", frozenset(), frozenset())
    with emulated_mps(missing="raise") as mps:
        tracer = Tracer(nn.Identity())
        tracer.enter("forward")
        with RealDeviceMode(CallFollower(tracer), nothing_known):
            x = torch.rand(1, 1, 4, 4, 4, device=mps.device)
            pooled = nn.functional.adaptive_max_pool3d(x, 2)
        assert pooled.shape == (1, 1, 2, 2, 2)
    assert ("aten::adaptive_max_pool3d.out", "missing") in tracer.log.suspects


def test_arguments_that_are_written_come_back():
    """An in-place operator that runs on the CPU writes into the device's tensor."""
    with emulated_mps(missing="raise") as mps:
        x = torch.tensor([0.25, 0.5, 0.0, 1.0], device=mps.device)
        assert detour_over_cpu(torch.ops.aten.logit_.default, x) is x
        assert x.cpu().tolist() == pytest.approx([-1.0986, 0.0, -math.inf, math.inf], abs=1e-3)


@pytest.mark.needs_mps
def test_on_a_real_device():
    """On a Mac the same audit runs on its own MPS."""
    found = audit(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.rand(3, 4))

    assert found.clean, found
    assert "this machine's MPS" in found.source
