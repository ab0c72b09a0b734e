"""Errors on the emulated device are MPS's, type and text."""

import numpy as np
import pytest
import torch
from torch import nn

from course_utils.emulation import KernelTable, emulated_mps, mps_kernels

FLOAT64 = (
    "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
    "Please use float32 instead."
)
SAME_DEVICE = "Expected all tensors to be on the same device, but found at least two devices, {}!"
NUMPY = "can't convert mps:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."


@pytest.fixture
def mps():
    """An emulated device that raises at missing operators."""
    with emulated_mps(missing="raise") as device:
        yield device


def _message(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


MAKE_FLOAT64 = {
    "zeros": lambda: torch.zeros(2, dtype=torch.float64, device="mps"),
    "tensor": lambda: torch.tensor([1.0], dtype=torch.float64, device="mps"),
    "as_tensor of numpy": lambda: torch.as_tensor(np.ones(2), device="mps"),
    "to device": lambda: torch.ones(2, dtype=torch.float64).to("mps"),
    "to dtype": lambda: torch.ones(2, device="mps").to(torch.float64),
    "double": lambda: torch.ones(2, device="mps").double(),
    "sum": lambda: torch.ones(2, device="mps").sum(dtype=torch.float64),
    "module": lambda: nn.Linear(2, 2).double().to("mps"),
    "copy of a view": lambda: torch.ones(2, 3, dtype=torch.float64).t().to("mps"),
}


@pytest.mark.parametrize("name", MAKE_FLOAT64)
def test_float64_is_refused(mps, name):
    """float64 never reaches the device, however it is asked for (DT-01)."""
    assert _message(TypeError, MAKE_FLOAT64[name]) == FLOAT64


def test_complex128_is_refused(mps):
    """complex128 is refused by its C++ name."""
    text = _message(TypeError, lambda: torch.ones(1, dtype=torch.complex128).to("mps"))
    assert text == "Trying to convert ComplexDouble to the MPS backend but it does not have support for that dtype."


def test_float64_scalars_stay_harmless(mps):
    """A Python float, a NumPy float64 or a zero-dimensional float64 tensor on the CPU keeps float32."""
    x = torch.ones(2, device="mps")
    for scalar in (2.0, np.float64(2.0), torch.tensor(2.0, dtype=torch.float64)):
        assert (x * scalar).dtype == torch.float32
    assert (torch.ones(2, device="mps", dtype=torch.int64) * 0.5).dtype == torch.float32
    assert (torch.tensor(1.0, device="mps") % 3).item() == 1.0


MIXED = {
    "add": (lambda x, c: x + c, SAME_DEVICE.format("mps:0 and cpu")),
    "add, CPU first": (lambda x, c: c + x, SAME_DEVICE.format("cpu and mps:0")),
    "in place": (lambda x, c: x.add_(c), SAME_DEVICE.format("mps:0 and cpu")),
    "cat": (lambda x, c: torch.cat([x, c]), SAME_DEVICE.format("mps:0 and cpu")),
    "mm": (
        lambda x, c: x @ c.t(),
        "Tensor for argument #2 'mat2' is on CPU, but expected it to be on GPU (while checking arguments for mm)",
    ),
    "linear weight": (
        nn.functional.linear,
        "Tensor for argument weight is on cpu but expected on mps",
    ),
    "linear input": (
        lambda x, c: nn.functional.linear(c, x),
        "Tensor for argument input is on cpu but expected on mps",
    ),
    "conv weight": (
        lambda x, c: nn.functional.conv2d(x.view(1, 1, 2, 2), c.view(1, 1, 2, 2)),
        "Input type (MPSFloatType) and weight type (torch.FloatTensor) should be the same",
    ),
    "conv input": (
        lambda x, c: nn.functional.conv2d(c.view(1, 1, 2, 2), x.view(1, 1, 2, 2)),
        "slow_conv2d_forward_mps: input(device='cpu') and weight(device=mps:0')  must be on the same device",
    ),
    "embedding": (
        lambda x, c: nn.functional.embedding(torch.tensor([0]), x),
        "Placeholder storage has not been allocated on MPS device!",
    ),
    "layer_norm": (lambda x, c: nn.functional.layer_norm(x, (2,), c[0]), "Passed CPU tensor to MPS op"),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_devices(mps, name):
    """A CPU tensor among the device's raises the text of the operator's kernel (DEV-01)."""
    call, text = MIXED[name]
    assert _message(RuntimeError, lambda: call(torch.ones(2, 2, device="mps"), torch.ones(2, 2))) == text


def test_forgotten_buffer_or_input(mps):
    """A model left on the CPU names the weight, an input left there names the input (DEV-01)."""
    model = nn.Linear(2, 2)
    text = _message(RuntimeError, lambda: model(torch.ones(1, 2, device="mps")))
    assert text == "Tensor for argument weight is on cpu but expected on mps"
    text = _message(RuntimeError, lambda: model.to("mps")(torch.ones(1, 2)))
    assert text == "Tensor for argument input is on cpu but expected on mps"


MISSING = {
    "aten::linalg_eig": torch.linalg.eig,
    "aten::_linalg_eigvals": torch.linalg.eigvals,
    "aten::adaptive_max_pool3d.out": lambda x: nn.AdaptiveMaxPool3d(1)(x.view(1, 1, 1, 2, 2)),
    "aten::_pdist_forward": torch.pdist,
    "aten::logit_": lambda x: x.logit_(),
    "aten::multi_margin_loss": lambda x: nn.functional.multi_margin_loss(x, torch.tensor([0, 1], device="mps")),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_operator(mps, name):
    """An operator without an MPS kernel raises torch's text with the name that the dispatcher sees (OP-03)."""
    text = _message(NotImplementedError, lambda: MISSING[name](torch.eye(2, device="mps")))
    assert text == (
        f"The operator '{name}' is not currently implemented for the MPS device. If you want this op to be considered "
        "for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that "
        f"resulted in missing op as well as commit hash {torch.version.git_version}. As a temporary fix, you can set "
        "the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback for this op. WARNING: "
        "this will be slower than running natively on MPS."
    )


def test_missing_in_backward(mps):
    """An operator that only the backward needs raises there, with the same type."""
    x = torch.rand(1, 1, 4, 4, 4, device="mps", requires_grad=True)
    with pytest.raises(NotImplementedError, match="aten::"):
        nn.functional.adaptive_avg_pool3d(x, 2).sum().backward()


def test_numpy_needs_the_cpu(mps):
    """`.numpy()` and np.asarray refuse with torch's text; after `.cpu()` they work."""
    x = torch.ones(2, device="mps")
    assert _message(TypeError, x.numpy) == NUMPY
    assert _message(TypeError, lambda: np.asarray(x)) == NUMPY
    assert x.cpu().numpy().tolist() == [1.0, 1.0]
    assert x.numpy(force=True).tolist() == [1.0, 1.0]


def test_other_refusals(mps):
    """Too many dimensions, an LSTM with projections and a CPU generator are refused as on a Mac."""
    text = _message(RuntimeError, lambda: torch.ones([1] * 17, device="mps"))
    assert text == "MPS supports tensors with dimensions <= 16, but got 17."
    lstm = nn.LSTM(3, 4, proj_size=2).to("mps")
    text = _message(RuntimeError, lambda: lstm(torch.ones(2, 1, 3, device="mps")))
    assert text == "LSTM with projections is not currently supported with MPS."
    text = _message(RuntimeError, lambda: torch.randn(2, device="mps", generator=torch.Generator()))
    assert text == "Expected a 'mps' device type for generator but found 'cpu'"


def test_what_the_emulation_lacks_says_so(mps):
    """Sparse tensors, times, compiled shaders and other libraries' access are refused in one sentence."""
    with pytest.raises(NotImplementedError, match="dense tensors only"):
        torch.eye(2).to_sparse().to("mps")
    start, end = torch.mps.Event(enable_timing=True), torch.mps.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="never gives a time"):
        start.elapsed_time(end)
    if hasattr(torch.mps, "load_metallib"):  # younger than torch 2.9
        with pytest.raises(NotImplementedError, match="no Metal"):
            torch.mps.load_metallib(b"MTLB")
    with pytest.raises(RuntimeError, match="does not hand its memory"):
        torch.from_dlpack(torch.ones(1, device="mps"))


def test_kernels_of_another_release():
    """With another release's kernels the same code meets that release's gaps (OP-09)."""
    table = mps_kernels()
    older = KernelTable("2.13", table.native - {"_ctc_loss", "_ctc_loss.Tensor"}, table.cpu_always)
    with emulated_mps(kernels=older, missing="raise"), pytest.raises(NotImplementedError, match="aten::_ctc_loss'"):
        nn.functional.ctc_loss(
            torch.rand(3, 1, 4, device="mps").log_softmax(-1), torch.tensor([[1]]), torch.tensor([3]), torch.tensor([1])
        )
