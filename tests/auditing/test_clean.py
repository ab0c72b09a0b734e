"""No false alarms: what torch.nn and torch.optim offer and MPS has is clean, forward and backward."""

import pytest
import torch
from support.callables import FUNCTIONS, MODULES, OPTIMIZERS
from support.installed_kernels import lacked
from torch import nn

from course_utils import audit

ROWS = torch.linspace(-1, 1, 24).view(3, 8)


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        """Call it."""
        return self.function(x)


def _leaves(inputs):
    return tuple(x.requires_grad_(x.is_floating_point()) for x in inputs)


def check_clean(name, found):
    """The audit is clean, or names the operator that the installed torch lacks."""
    gap = lacked(name)
    assert found.clean == (gap is None), found
    if gap is not None:
        stem = gap.partition(".")[0].strip("_")
        assert any(stem in finding.what for finding in found.findings), found


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_clean(name):
    """A module of torch.nn that MPS has is clean through forward, backward and optimizer; else the gap is named."""
    torch.manual_seed(0)
    module, inputs = MODULES[name]()
    found = audit(module, _leaves(inputs))

    check_clean(name, found)
    assert found.phases[:3] == ("forward", "loss", "backward")


# Tensor.norm takes this older route on MPS, and there it warns on a Mac too
@pytest.mark.filterwarnings("ignore:at..frobenius_norm is deprecated")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_clean(name):
    """A functional or loss that MPS has is clean, forward and backward; else the gap is named."""
    found = audit(Function(FUNCTIONS[name]), ROWS.clone().requires_grad_())

    check_clean(name, found)
    assert "forward" in found.phases


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_are_clean(name):
    """The step of an optimizer that MPS has is clean."""
    found = audit(
        nn.Linear(8, 3),
        ROWS,
        loss=lambda output: output.pow(2).mean(),
        optimizer=lambda parameters: getattr(torch.optim, name.split()[0])(parameters, lr=0.05, **OPTIMIZERS[name]),
    )

    assert found.clean, found
    assert found.phases[-1] == "optimizer"


def test_the_clean_list_is_long_enough():
    """The three lists hold more than sixty cases together."""
    assert len(MODULES) + len(FUNCTIONS) + len(OPTIMIZERS) >= 60
