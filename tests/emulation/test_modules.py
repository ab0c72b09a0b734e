"""torch.nn modules, functionals and optimizers run on the emulated device, forward and backward, as on the CPU."""

import copy

import pytest
import torch
from support.callables import FUNCTIONS, MODULES, OPTIMIZERS, floats
from support.installed_kernels import refused_if_lacked
from torch import nn

from course_utils.emulation import emulated_mps


def _first_tensors(out):
    """Flatten a module's output into its tensors; the shape of the nest does not matter here."""
    if isinstance(out, torch.Tensor):
        return [out]
    return [tensor for item in out if item is not None for tensor in _first_tensors(item)]


def _forward_backward(module, inputs):
    """Run a module and return outputs, input gradients, parameter gradients and buffers."""
    leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    outputs = _first_tensors(module(*leaves))
    total = sum((out * torch.arange(1, out.numel() + 1, device=out.device).view(out.shape)).sum() for out in outputs)
    if total.requires_grad:
        total.backward()
    parameters = list(module.parameters()) if isinstance(module, nn.Module) else []
    buffers = list(module.buffers()) if isinstance(module, nn.Module) else []
    found = outputs + [x.grad for x in leaves + parameters] + buffers
    return [None if tensor is None else tensor.detach() for tensor in found]


def _compare(expected, found):
    assert len(expected) == len(found)
    for want, got in zip(expected, found, strict=True):
        if want is None:
            assert got is None
        else:
            assert got.device.type == "mps"
            torch.testing.assert_close(got.cpu(), want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", MODULES)
def test_module_equals_cpu(name):
    """A module gives the CPU's outputs, gradients and buffers, and no operator is reported missing."""
    torch.manual_seed(0)
    module, inputs = MODULES[name]()
    twin = copy.deepcopy(module)
    expected = _forward_backward(module, inputs)
    with emulated_mps() as mps, refused_if_lacked(name):
        found = _forward_backward(twin.to("mps"), [x.to("mps") for x in inputs])
        _compare(expected, found)
        assert mps.ledger().fallbacks == ()


# Tensor.norm takes this older route on MPS, and there it warns on a Mac too
@pytest.mark.filterwarnings("ignore:at..frobenius_norm is deprecated")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_equals_cpu(name):
    """A functional gives the CPU's result and gradient, and no operator is reported missing."""
    expected = _forward_backward(FUNCTIONS[name], [floats(3, 8)])
    with emulated_mps() as mps, refused_if_lacked(name):
        found = _forward_backward(FUNCTIONS[name], [floats(3, 8).to("mps")])
        _compare(expected, found)
        assert mps.ledger().fallbacks == ()


def _train(device, name, options):
    torch.manual_seed(0)
    layer = nn.Linear(8, 3).to(device)
    x = floats(5, 8).to(device)
    optimizer = getattr(torch.optim, name.split()[0])(layer.parameters(), lr=0.05, **options)

    def closure():
        optimizer.zero_grad()
        loss = layer(x).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    return [p.detach().cpu() for p in layer.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_equals_cpu(name):
    """Three steps of an optimizer end at the CPU's parameters, and no operator is reported missing."""
    expected = _train("cpu", name, OPTIMIZERS[name])
    with emulated_mps() as mps:
        found = _train("mps", name, OPTIMIZERS[name])
        assert mps.ledger().fallbacks == ()
    for want, got in zip(expected, found, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-6)
