"""A training step of whole models on the emulated device equals the CPU's."""

import copy

import pytest
import torch
import torchvision
from torch import nn

from course_utils.emulation import emulated_mps


class Recurrent(nn.Module):
    """A text classifier with an LSTM or a GRU."""

    def __init__(self, kind):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.recurrent = kind(16, 24, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(48, 5)

    def forward(self, tokens):
        """Classify token numbers (batch, length)."""
        return self.head(self.recurrent(self.embedding(tokens))[0].mean(1))


class SmallBert(nn.Module):
    """An encoder with token and position embeddings and a padding mask, BERT's shape but small."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 32)
        self.positions = nn.Embedding(16, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 5)

    def forward(self, tokens):
        """Classify token numbers (batch, length); 0 is padding."""
        positions = torch.arange(tokens.size(1), device=tokens.device)
        hidden = self.tokens(tokens) + self.positions(positions)
        return self.head(torch.tanh(self.encoder(hidden, src_key_padding_mask=tokens == 0)[:, 0]))


def _vit_tiny():
    # ViT-Tiny's width and heads; fewer and smaller layers for the test
    vision_transformer = torchvision.models.VisionTransformer
    return vision_transformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=3, hidden_dim=192, mlp_dim=384, num_classes=5
    )


def _images():
    return torch.randn(2, 3, 32, 32)


def _tokens():
    return torch.randint(0, 50, (3, 9))


MODELS = {
    "resnet18": (lambda: torchvision.models.resnet18(num_classes=5), _images),
    "mobilenet_v3_small": (lambda: torchvision.models.mobilenet_v3_small(num_classes=5, dropout=0.0), _images),
    "vit_tiny": (_vit_tiny, _images),
    "bert": (SmallBert, _tokens),
    "lstm": (lambda: Recurrent(nn.LSTM), _tokens),
    "gru": (lambda: Recurrent(nn.GRU), _tokens),
}
OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
    # a large eps, because Adam turns the rounding noise of gradients that are zero into whole steps
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.01, eps=1e-3),
}


def _two_steps(model, inputs, targets, make_optimizer):
    optimizer = make_optimizer(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = nn.functional.cross_entropy(outputs, targets)
        loss.backward()
        optimizer.step()
    return [outputs, loss, *(p.grad for p in model.parameters()), *model.state_dict().values()]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_training_step_equals_cpu(name, optimizer):
    """Outputs, gradients, parameters and buffers after two steps are the CPU's, without a wait or a fallback."""
    torch.manual_seed(0)
    build, make_inputs = MODELS[name]
    model, inputs, targets = build(), make_inputs(), torch.randint(0, 5, (3,))
    targets = targets[: len(inputs)]
    twin = copy.deepcopy(model)
    expected = _two_steps(model, inputs, targets, OPTIMIZERS[optimizer])
    with emulated_mps() as mps:
        twin.to("mps")
        inputs, targets = inputs.to("mps"), targets.to("mps")
        found = _two_steps(twin, inputs, targets, OPTIMIZERS[optimizer])
        ledger = mps.ledger()
        assert ledger.waits_of("read") == ()
        assert ledger.fallbacks == ()
        assert all(tensor.device == torch.device("mps:0") for tensor in found)
        found = [tensor.detach().cpu() for tensor in found]
    for want, got in zip(expected, found, strict=True):
        torch.testing.assert_close(got, want.detach(), rtol=1e-3, atol=1e-5)


def test_routes_are_those_of_a_mac():
    """Linear, convolution, pooling and LSTM reach the operators that only MPS has, attention its own in inference."""
    with emulated_mps() as mps:
        x = torch.ones(1, 3, 8, 8, device="mps", requires_grad=True)
        pooled = nn.functional.max_pool2d(nn.Conv2d(3, 4, 3).to("mps")(x), 2)
        nn.Linear(3, 2).to("mps")(pooled).sum().backward()
        out, _ = nn.LSTM(3, 2).to("mps")(torch.ones(5, 1, 3, device="mps"))
        out.sum().backward()
        with torch.no_grad():
            query = torch.ones(1, 2, 4, 8, device="mps")
            nn.functional.scaled_dot_product_attention(query, query, query)
        operators = mps.ledger().operators
    only_mps = {"_mps_convolution", "mps_convolution_backward", "linear_backward", "max_pool2d_backward"}
    only_mps |= {"linear", "max_pool2d", "_lstm_mps", "lstm_mps_backward"}
    only_mps |= {"_scaled_dot_product_attention_math_for_mps"}
    assert {f"aten::{name}" for name in only_mps} <= operators.keys()
    assert not {"aten::addmm", "aten::convolution_backward", "aten::max_pool2d_with_indices"} & operators.keys()


def test_lstm_dropout_repeats_in_backward():
    """The backward of an LSTM with dropout uses the forward's dropout: gradients agree with a difference quotient."""
    with emulated_mps():
        lstm = nn.LSTM(3, 4, num_layers=2, dropout=0.5).to("mps")
        x = torch.linspace(-1, 1, 15, device="mps").view(5, 1, 3).requires_grad_()

        def run(value):
            torch.manual_seed(3)
            return lstm(value)[0].sum()

        run(x).backward()
        nudge = torch.zeros_like(x)
        nudge[2, 0, 1] = 1e-2
        slope = (run(x + nudge) - run(x - nudge)) / 2e-2
        torch.testing.assert_close(x.grad[2, 0, 1].cpu(), slope.detach().cpu(), rtol=2e-2, atol=1e-4)


def test_torchvision_operators_are_native():
    """Operators that torchvision itself registers for MPS run there without a fallback, nms and roi_align."""
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.9], [5.0, 5.0, 8.0, 8.0]])
    scores = torch.tensor([0.9, 0.8, 0.7])
    features = torch.arange(64.0).view(1, 1, 8, 8)
    expected = torchvision.ops.roi_align(features, [boxes], 2)
    with emulated_mps(missing="raise") as mps:
        kept = torchvision.ops.nms(boxes.to("mps"), scores.to("mps"), 0.5)
        assert kept.tolist() == [0, 2]
        pooled = torchvision.ops.roi_align(features.to("mps").requires_grad_(), [boxes.to("mps")], 2)
        pooled.sum().backward()
        torch.testing.assert_close(pooled.detach().cpu(), expected)
        assert mps.ledger().operators["torchvision::nms"] == 1


def test_inference_mode_runs():
    """An encoder in inference mode gives the CPU's result, although its tensors skip autograd."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(2, 4, 8)
    expected = layer(x).detach()
    with emulated_mps() as mps, torch.inference_mode():
        found = layer.to("mps")(x.to("mps")).cpu()
        assert mps.ledger().operators["aten::linear"] == 4
    torch.testing.assert_close(found, expected)
