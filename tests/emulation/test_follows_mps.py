"""Where torch's C++ asks which device a tensor is on: the emulated device does what MPS does, and texts say "mps:0"."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from support.installed_kernels import refused_if_lacked
from torch import nn

from course_utils.emulation import emulated_mps
from course_utils.emulation.refusals import MpsRule, rule_of

MPS = "mps"


def _leaf(*size):
    return torch.rand(*size, device=MPS, requires_grad=True)


def _differentiate(result):
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    sum(each.abs().sum() for each in results if isinstance(each, torch.Tensor) and each.requires_grad).backward()


def _tied():
    embedding, head = nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)
    head.weight = embedding.weight
    model = nn.ModuleList([embedding, head]).to(MPS)
    assert model[0].weight is model[1].weight
    return model


ALREADY_THERE = {
    "tied weights": _tied,
    "a model moved twice": lambda: nn.Linear(2, 2).to(MPS).to(MPS),
    "positional dtype": lambda: torch.rand(2, device=MPS).to(MPS, None, False),
    "keyword": lambda: torch.rand(2, device=MPS).to(device=MPS, non_blocking=True),
}


@pytest.mark.parametrize("name", ALREADY_THERE)
def test_what_is_there_already_stays(name):
    """`.to("mps")` of what is on the device runs and copies nothing."""
    with emulated_mps() as mps:
        moved = ALREADY_THERE[name]()
        first = next(moved.parameters()) if isinstance(moved, nn.Module) else moved
        assert first.device == mps.device


def test_to_still_changes_dtype_and_copies():
    """A dtype, a copy and a memory format are still done for a tensor that is there already."""
    with emulated_mps():
        x = torch.rand(1, 2, 3, 4, device=MPS)
        assert x.to(MPS, torch.float16).dtype is torch.float16
        assert x.to(MPS) is x
        assert x.to(MPS, copy=True) is not x
        assert x.to(MPS, memory_format=torch.channels_last).stride()[1] == 1


# C++ takes a double on the CPU and a float on MPS (pytorch #198345 quotes one such branch)
WITHOUT_FLOAT64 = {
    "quantile": lambda: _differentiate(torch.quantile(_leaf(5), 0.3)),
    "nanquantile": lambda: _differentiate(torch.nanquantile(_leaf(3, 5), 0.3, dim=1)),
    "pinv": lambda: _differentiate(torch.linalg.pinv(_leaf(4, 3))),
    "matrix_rank": lambda: torch.linalg.matrix_rank(_leaf(4, 3)),
    "matrix_rank, hermitian": lambda: torch.linalg.matrix_rank(_leaf(3, 3), hermitian=True),
    "lstsq": lambda: _differentiate(torch.linalg.lstsq(_leaf(4, 3), _leaf(4, 2)).solution),
    "renorm": lambda: _differentiate(torch.renorm(_leaf(4, 3), 2, 0, 1.0)),
    "batch norm of an empty batch": lambda: _differentiate(nn.BatchNorm1d(3).to(MPS)(_leaf(0, 3))),
    "bincount, integer weights": lambda: torch.bincount(
        torch.tensor([1, 2], device=MPS), weights=torch.tensor([1, 2], device=MPS)
    ),
    "linear without features": lambda: _differentiate(F.linear(_leaf(3, 0), _leaf(2, 0))),
}


@pytest.mark.parametrize("name", WITHOUT_FLOAT64)
def test_no_float64_that_mps_does_not_make(name):
    """These run on MPS, forward and backward, and nothing of them runs on the CPU."""
    with emulated_mps() as mps, refused_if_lacked(name):
        WITHOUT_FLOAT64[name]()
        assert mps.ledger().fallbacks == ()


ASKED = {
    "double()": lambda: _leaf(2).double(),
    "a dtype": lambda: torch.zeros(2, dtype=torch.float64, device=MPS),
    "a reduction's dtype": lambda: torch.rand(2, device=MPS).sum(dtype=torch.float64),
    "moving": lambda: torch.zeros(2, dtype=torch.float64).to(MPS),
    "to the CPU as double (2.13 and later, #197715)": lambda: _leaf(2).detach().to("cpu", torch.float64),
    "into a double on the CPU": lambda: torch.zeros(2, dtype=torch.float64).copy_(_leaf(2).detach()),
}


@pytest.mark.parametrize("name", ASKED)
def test_float64_that_the_caller_asks_for_is_refused(name):
    """What the reader's own code asks for raises as on a Mac."""
    with emulated_mps(), pytest.raises(TypeError, match="doesn't support float64") as caught:
        ASKED[name]()
    assert rule_of(caught.value) is MpsRule.UNSUPPORTED_DTYPE


def test_double_on_the_cpu_works():
    """The way around: first the copy, then the dtype."""
    with emulated_mps():
        assert torch.rand(2, device=MPS).cpu().double().dtype is torch.float64


@pytest.mark.parametrize("function", [torch.cov, torch.corrcoef])
def test_version_counters_are_apart(function):
    """In-place work on one tensor is no news to another of the same dtype; the gradient equals the CPU's."""
    x = torch.rand(3, 5)
    expected = torch.autograd.functional.vjp(function, x, torch.ones(3, 3))[1]
    with emulated_mps():
        there = x.to(MPS).requires_grad_()
        function(there).sum().backward()
        torch.testing.assert_close(there.grad.cpu(), expected)


DEVICE_IN_TEXT = {
    "stft with a window on the CPU": lambda: torch.stft(
        _leaf(800), 400, window=torch.hann_window(400), return_complex=True
    ),
    "attention with a key on the CPU": lambda: F.scaled_dot_product_attention(
        _leaf(1, 2, 3, 4), torch.rand(1, 2, 3, 4), _leaf(1, 2, 3, 4)
    ),
    "tensor_split": lambda: torch.tensor_split(_leaf(6), torch.tensor([2, 3], device=MPS)),
    "pin_memory": lambda: _leaf(2).pin_memory(),
}


@pytest.mark.parametrize("name", DEVICE_IN_TEXT)
def test_no_text_says_meta(name):
    """Errors of C++ name the device that the reader has."""
    with emulated_mps(), pytest.raises(RuntimeError, match=r"mps:0|MPS") as caught:
        DEVICE_IN_TEXT[name]()
    assert "meta" not in str(caught.value).lower()


def test_real_meta_tensors_keep_their_name():
    """Who works with meta tensors inside the block still reads "meta"."""
    with emulated_mps(), pytest.raises(RuntimeError, match="meta"):
        torch.rand(1, device="meta").item()


def test_pickle_and_copies():
    """A tensor and a model of the device go through pickle and deepcopy with their values."""
    with emulated_mps():
        x = torch.rand(3, device=MPS)
        again = pickle.loads(pickle.dumps(x))
        assert again.device == x.device
        assert torch.equal(again, x)
        model = copy.deepcopy(nn.Linear(2, 2).to(MPS))
        assert pickle.loads(pickle.dumps(model)).weight.device == x.device


def test_compiled_functions_run_eagerly():
    """torch.compile, before or inside the block, computes by the device's kernels, and the ledger says so."""
    before = torch.compile(nn.Linear(2, 2), backend="eager")
    before(torch.rand(1, 2))
    with emulated_mps() as mps:
        inside = torch.compile(nn.Linear(2, 2)).to(MPS)
        for model in (before.to(MPS), inside):
            model(torch.rand(1, 2, device=MPS)).sum().backward()
        assert mps.ledger().operators["aten::linear"] == 2
        assert any("torch.compile was left out" in warning for warning in mps.ledger().warnings)


def test_export_names_the_way():
    """torch.export is refused with what to do instead."""
    with emulated_mps(), pytest.raises(RuntimeError, match="move_to_device_pass"):
        torch.export.export(nn.Linear(2, 2).to(MPS), (torch.rand(1, 2, device=MPS),))


def test_half_convolution_gru_and_adam_in_one_script():
    """A mixed script, moved twice, gives the CPU's numbers."""

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.gru = nn.Conv1d(2, 3, 3).half(), nn.GRU(4, 3, batch_first=True)

        def forward(self, x):
            return self.gru(self.conv(x.half()).float())[0]

    def step(device):
        torch.manual_seed(0)
        model = Mixed().to(device).to(device)
        optimizer = torch.optim.Adam(model.parameters())
        x = torch.linspace(0, 1, 24).view(2, 2, 6).to(device)
        model(x).pow(2).sum().backward()
        optimizer.step()
        return [parameter.detach().cpu().float() for parameter in model.parameters()]

    expected = step("cpu")
    with emulated_mps():
        found = step(MPS)
    assert found
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
