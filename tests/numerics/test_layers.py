"""The first module whose output is not finite while its inputs are."""

import pytest
import torch
from torch import nn

from course_utils.numerics import FaultyDevice, TorchDevice, compare_numerics, draw, first_nonfinite_layer

CPU = TorchDevice("cpu")


class Poisoned(nn.Module):
    """Divides by zero."""

    def forward(self, x):
        """Return infinities."""
        return x / torch.zeros_like(x)


class BetaZero(nn.Module):
    """A linear layer through baddbmm at beta=0, as attention kernels do."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(draw(1, 4, 4))

    def forward(self, x):
        """Multiply; the first argument must not be read."""
        unset = torch.full_like(x, float("nan"))
        return torch.baddbmm(unset, x, self.weight.expand(x.shape[0], 4, 4), beta=0)


def test_first_layer_is_named_and_followers_are_not():
    """Of a model, the module that makes the infinities is named; those that pass them on are not."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), Poisoned()), nn.Linear(3, 3))
    found = first_nonfinite_layer(model, (draw(2, 3),), CPU)

    assert (found.name, found.type_name, found.count, found.total) == ("1.1", "Poisoned", 6, 6)
    assert "module '1.1' (Poisoned): 6 of 6" in str(found)


def test_no_layer_where_all_is_finite():
    """A healthy model has none."""
    assert first_nonfinite_layer(nn.Linear(3, 3), (draw(2, 3),), CPU) is None


def test_no_layer_where_the_inputs_are_not_finite():
    """NaN that came in is nobody's fault."""
    assert first_nonfinite_layer(nn.Linear(3, 3), (torch.full((2, 3), float("nan")),), CPU) is None


def test_hooks_are_gone_afterwards():
    """The caller's model has no hooks left, also when it raises."""
    model = nn.Sequential(nn.Linear(3, 3))
    first_nonfinite_layer(model, (draw(2, 3),), CPU)
    with pytest.raises(RuntimeError):
        first_nonfinite_layer(model, (draw(2, 5),), CPU)

    assert not model._forward_hooks
    assert not model[0]._forward_hooks


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_uninitialised_memory_at_beta_zero(dtype):
    """A kernel that reads its first argument at beta=0 is found at its layer (diffusers #11229, #14438)."""
    model = nn.Sequential(nn.Tanh(), BetaZero(), nn.Tanh())
    report = compare_numerics(model, (draw(2, 3, 4),), dtypes=[dtype], device=FaultyDevice("uninitialised memory"))

    assert report.kinds == ("non-finite",)
    assert "it begins in module '1' (BetaZero)" in report.findings[0].sentence
    assert compare_numerics(model, (draw(2, 3, 4),), dtypes=[dtype], device="cpu").clean


def test_overflow_in_float16_names_the_layer():
    """A layer whose exact output is above 65504 is named, in float16 only."""
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU())
    nn.init.constant_(model[0].weight, 3e4)
    x = torch.full((2, 4), 2.0)
    report = compare_numerics(model, (x,), dtypes=[torch.float16], device="cpu", gradients=False)

    assert report.kinds == ("overflow",)
    assert "module '0' (Linear)" in report.findings[0].sentence
    assert compare_numerics(model, (x,), dtypes=[torch.float32], device="cpu", gradients=False).clean
