"""Leaving the emulated device leaves torch as it was, and entering is refused where it must not happen."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from course_utils import emulation
from course_utils.emulation import emulated_mps, is_active


def _surface():
    """Everything that the emulation touches, as it looks now."""
    owners = (torch.Tensor, torch.UntypedStorage, torch.mps, torch.mps.event, torch.autograd, torch.backends.mps)
    attributes = {(owner, name): value for owner in owners for name, value in vars(owner).items()}
    attributes |= {(torch, name): vars(torch)[name] for name in ("Generator", "device", "tensor")}
    attributes |= {(torch._C, name): getattr(torch._C, name) for name in dir(torch._C)}
    return attributes


def _kernels():
    keys = ("MPS", "AutogradMPS", "AutocastMPS", "Meta", "CPU")
    return {key: sorted(torch._C._dispatch_get_registrations_for_dispatch_key(key)) for key in keys}


def _compute():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    x = torch.randn(1, 1, 4, 4)
    loss = model(x).pow(2).sum()
    loss.backward()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = model(x)
    return [loss.detach(), model[0].weight.grad, low.detach(), torch.rand(3)]


def test_everything_is_undone():
    """Attributes, kernels, flags, results and availability after a block are those before it."""
    surface, kernels, results = _surface(), _kernels(), _compute()
    registered = set(torch.library._impls)
    with emulated_mps():
        assert is_active()
        _compute()
        nn.Linear(2, 2).to("mps")(torch.ones(1, 2, device="mps")).sum().backward()
    assert not is_active()
    assert _surface() == surface
    assert _kernels() == kernels
    # torch itself registers kernels in other namespaces when it loads more of its modules
    assert [name for name in _kernels()["MPS"] if name.startswith("aten::")] == []
    assert torch.library._impls == registered
    assert not torch.backends.mps.is_available()
    assert not torch.backends.mps.is_built()
    assert torch._C._len_torch_function_stack() == 0
    for before, after in zip(results, _compute(), strict=True):
        assert torch.equal(before, after)
    meta = torch.zeros(2, 3, device="meta")
    assert (meta.device.type, meta.stride()) == ("meta", (3, 1))
    with pytest.raises(RuntimeError, match="mps"):
        torch.ones(1).to("mps")


def test_undone_after_an_exception():
    """An exception in the block, also one of torch's in backward, passes through and everything is undone."""
    surface, kernels = _surface(), _kernels()
    with pytest.raises(ZeroDivisionError), emulated_mps():
        raise ZeroDivisionError
    with pytest.raises(NotImplementedError), emulated_mps(missing="raise"):
        torch.linalg.eig(torch.eye(2, device="mps"))
    assert _surface() == surface
    assert _kernels() == kernels
    assert not is_active()


def test_nested_use_is_refused():
    """A block inside a block is refused in one sentence, and the outer one goes on."""
    with emulated_mps():
        with pytest.raises(RuntimeError, match=r"already on in this process; leave that block"), emulated_mps():
            pass
        assert torch.ones(1, device="mps").item() == 1.0
    assert not is_active()


def test_refused_where_torch_has_mps(monkeypatch):
    """Where torch was built with MPS the real device is named instead."""
    monkeypatch.setattr(torch._C, "_has_mps", True)
    with pytest.raises(RuntimeError, match=r"built with MPS.*use torch.device\('mps'\)"), emulated_mps():
        pass


def test_a_tensor_that_outlives_its_block_does_no_harm():
    """A tensor left over from a block raises when used, instead of giving wrong numbers."""
    with emulated_mps():
        left = torch.ones(2, device="mps")
    with pytest.raises(RuntimeError):  # NotImplementedError or RecursionError, as the operator goes
        left + 1
    with pytest.raises(NotImplementedError):
        left.cpu()


def test_blocks_can_follow_each_other():
    """A second block works like the first and starts with an empty ledger and no memory."""
    for _ in range(2):
        with emulated_mps() as mps:
            assert mps.ledger().operators == {}
            assert torch.mps.current_allocated_memory() == 0
            assert torch.ones(2, device="mps").sum().item() == 2.0


def test_asking_is_cheap():
    """`is_active` needs neither torch nor the emulation itself."""
    code = (
        "import sys; from course_utils.emulation import is_active; assert is_active() is False; "
        "assert 'torch' not in sys.modules and 'course_utils.emulation.context' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_unknown_name_lists_the_public_ones():
    """A wrong name in the package names what there is."""
    with pytest.raises(AttributeError, match="emulated_mps"):
        emulation.emulate  # noqa: B018
