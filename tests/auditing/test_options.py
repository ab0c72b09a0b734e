"""Audits of another macOS and release, and the advice for gaps that have a way around."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.auditing import audit
from course_utils.emulation import emulated_mps


class Function(nn.Module):
    """A function as a module, behind a linear layer."""

    def __init__(self, function, size=4):
        super().__init__()
        self.layer, self.function = nn.Linear(size, size), function

    def forward(self, x):
        """Call it."""
        return self.function(self.layer(x))


def test_the_macos_decides():
    """matrix_exp wants macOS 15; without one named, every macOS is thought of."""
    model = Function(torch.linalg.matrix_exp)
    kinds = {
        macos: [
            finding.kind
            for finding in audit(model, torch.rand(4, 4), mode="eval", macos=macos, release="2.14.1").findings
        ]
        for macos in ("14", "14.8", "15.0", "26.1", None)
    }
    assert kinds == {"14": ["may refuse"], "14.8": ["may refuse"], "15.0": [], "26.1": [], None: ["may refuse"]}
    with pytest.raises(ValueError, match="'Sonoma' is not a version"):
        audit(model, torch.rand(4, 4), macos="Sonoma")


def test_a_newer_decomposition_is_not_blamed():
    """2.14's attention reaches isneginf through _safe_softmax, which 2.3 does not have: a warning, and no finding."""
    model = Function(lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]))
    found = audit(model, torch.rand(2, 3, 4), release="2.3")
    assert found.clean, found
    assert any("aten::isneginf" in warning and "aten::_safe_softmax" in warning for warning in found.warnings)


def test_max_pooling_of_sizes_that_do_not_divide():
    """Clean on 2.14.1; up to 2.13 a known fault with wrong numbers (pytorch #190064)."""
    model = nn.AdaptiveMaxPool2d(3)
    assert audit(model, torch.rand(1, 1, 5, 5), mode="eval", release="2.14.1").clean
    (finding,) = audit(model, torch.rand(1, 1, 5, 5), mode="eval", release="2.13.0").findings
    assert finding.kind == "wrong result"
    assert "190064" in finding.source


def test_torchvision_belongs_to_torch():
    """Torch 2.0 goes with torchvision 0.15, whose nms has no MPS kernel."""
    import torchvision

    class Nms(nn.Module):
        def forward(self, boxes):
            return torchvision.ops.nms(boxes, boxes[:, 2], 0.5)

    boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9]])
    (finding,) = audit(Nms(), boxes, mode="eval", release="2.0.1").findings
    assert (finding.kind, finding.name) == ("missing", "torchvision::nms")
    assert audit(Nms(), boxes, mode="eval", release="2.2.2").clean


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_quantized_layers_are_missing():
    """Nothing quantized is registered for MPS."""
    model = nn.Sequential(torch.ao.nn.quantized.dynamic.Linear(4, 4))
    (finding,) = audit(model, torch.rand(2, 4), mode="eval").findings
    assert (finding.kind, finding.name) == ("missing", "quantized::linear_dynamic")


def test_a_padding_mask_in_evaluation():
    """The fast path of TransformerEncoder makes nested tensors: the argument that switches it off is named."""
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)
    inputs = {"src": torch.rand(2, 3, 4), "src_key_padding_mask": torch.tensor([[False] * 3, [False, False, True]])}
    (finding,) = audit(encoder, inputs, mode="eval").findings
    assert finding.kind == "missing"
    assert "enable_nested_tensor=False" in finding.advice


CONVOLUTIONS = {
    "conv3d": (lambda: nn.Conv3d(1, 1, 2), 3, "slow_conv3d_forward"),
    "dilated": (lambda: nn.Conv2d(1, 1, 2, dilation=2), 2, "slow_conv_dilated2d"),
    "transposed": (lambda: nn.ConvTranspose2d(1, 1, 2), 2, "slow_conv_transpose2d"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_of_an_input_on_the_cpu(name):
    """The error names an operator of the CPU; the audit names what it means: mixed devices."""
    make, sides, operator = CONVOLUTIONS[name]
    x = torch.rand(1, 1, *[5] * sides)
    with emulated_mps() as mps, pytest.raises(NotImplementedError, match=operator):
        make().to(mps.device)(x)

    class Forgetful(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.scale = make(), nn.Parameter(torch.ones(1))

        def forward(self, y):
            return self.conv(torch.ones_like(y, device="cpu")) * self.scale

    found = audit(Forgetful(), x)
    assert {finding.kind for finding in found.findings} == {"mixed devices"}, found


def test_checkpointed_dropout_draws_twice():
    """Checkpointing restores the CPU's random state only, so the recomputation has another mask (pytorch #127676)."""
    with emulated_mps() as mps:
        torch.manual_seed(0)
        x = torch.ones(64, device=mps.device, requires_grad=True)
        y = checkpoint(lambda value: F.dropout(value, 0.5), x, use_reentrant=False)
        y.sum().backward()
        assert not torch.equal(x.grad, y.detach())


def test_a_kernel_that_torch_registers_from_python():
    """Torch 2.10 to 2.13 registers linalg_lu_solve.out for MPS itself: the device overrides it and gives it back."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("linalg_lu_solve.out", lambda *args, **kwargs: kwargs["out"], "MPS")
    registered = set(torch.library._impls)
    try:
        model = Function(lambda x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), x))
        for release in ("2.11.0", "2.14.1"):
            assert audit(model, torch.rand(4, 4), mode="eval", release=release).clean
        assert torch.library._impls == registered
        assert "aten::linalg_lu_solve.out" in torch._C._dispatch_get_registrations_for_dispatch_key("MPS")
    finally:
        library._destroy()
