"""The models and operations that lessons measure: random weights, a fixed seed, nothing downloaded.

Weights and inputs are drawn on the CPU and moved, because the same seed gives other numbers on another device
(pytorch #84288). So every device computes the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import torch
from torch import nn

from course_utils.reporting.near_names import suggest

WorkloadMode = Literal["forward", "train"]
MODES: tuple[WorkloadMode, ...] = get_args(WorkloadMode)
SEED = 0
CLASSES = 1000
IMAGE_SIDE = 224
TOKENS = 128
VOCABULARY = 30522


class EncoderClassifier(nn.Module):
    """A transformer encoder with a classification head: the shape of BERT, none of its weights.

    Token and position embeddings, a stack of encoder layers, and a linear head on the first token.

    Args:
        layers: number of encoder layers.
        width: embedding width D.
        heads: attention heads in each layer.
        feed_forward: width of the feed-forward part.
        vocabulary: number of tokens known.
        tokens: longest sequence T.
        classes: number of outputs C.
    """

    def __init__(
        self, *, layers: int, width: int, heads: int, feed_forward: int, vocabulary: int, tokens: int, classes: int
    ) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.position_embedding = nn.Embedding(tokens, width)
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Classify sequences.

        Args:
            tokens: token numbers, int64, (B, T).

        Returns:
            Logits, (B, C).
        """
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        hidden = self.token_embedding(tokens) + self.position_embedding(positions)  # (B, T, D)
        logits: torch.Tensor = self.head(self.encoder(hidden)[:, 0])
        return logits


@dataclass(frozen=True)
class Workload:
    """One thing to measure, not yet on any device.

    Args:
        name: the name that `load_workload` knows.
        title: the name in tables and charts.
        mode: "forward" (evaluation, no gradients) or "train" (forward, backward and optimizer step).
        batch: examples in one call; for "matmul", 1.
        size: the side of the matrices for "matmul", else the image side or the number of tokens.
    """

    name: str
    title: str
    mode: WorkloadMode
    batch: int
    size: int

    @property
    def label(self) -> str:
        """The title with what was done and on which shape."""
        if self.name == "matmul":
            return f"{self.title} {self.size}x{self.size}"
        return f"{self.title}, {self.mode}, batch {self.batch}"

    @property
    def flop(self) -> float:
        """Floating-point operations of one call.

        Convolutions and matrix products of the forward pass as torch's FlopCounterMode counts them (attention's own
        products are left out); a training step is taken as three forward passes, since backward needs about two.
        Counting the backward pass itself fails on grouped convolutions: torch 2.14 gives MobileNet v3 eight times
        too many.
        """
        return _forward_flop(self) * (3 if self.mode == "train" else 1)

    def build(self) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
        """Build the model, its inputs and its target classes on the CPU, from the course's seed.

        Raises:
            ValueError: for "matmul", which has no model.
        """
        if self.name not in _MODELS:
            raise ValueError(f"workload {self.name!r} has no model; these have: {', '.join(_MODELS)}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return _MODELS[self.name](self)

    def on(self, device: torch.device | str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Set the work up on a device.

        Returns:
            A callable and its inputs; "train" callables return the loss as a tensor, and never read it.
        """
        if self.name == "matmul":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(SEED)
                left, right = torch.rand(self.size, self.size), torch.rand(self.size, self.size)
            return torch.matmul, (left.to(device), right.to(device))
        model, inputs, targets = self.build()
        model = model.to(device)
        if self.mode == "forward":
            return _forward(model), (inputs.to(device),)
        return _training_step(model), (inputs.to(device), targets.to(device))


def _forward(model: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    model.eval()

    def forward(inputs: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            output: torch.Tensor = model(inputs)
        return output

    return forward


def _training_step(model: nn.Module) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    model.train()
    # a small step: thousands of them on the same batch must not end in NaN
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    loss_function = nn.CrossEntropyLoss()

    def step(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss: torch.Tensor = loss_function(model(inputs), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss.detach()  # not .item(): reading a number would make the host wait for the device

    return step


def _vision(build: Callable[[], nn.Module]) -> Callable[[Workload], tuple[nn.Module, torch.Tensor, torch.Tensor]]:
    def make(work: Workload) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
        model = build()
        images = torch.rand(work.batch, 3, work.size, work.size)  # (B, C, H, W)
        return model, images, torch.randint(CLASSES, (work.batch,))

    return make


def _encoder(layers: int) -> Callable[[Workload], tuple[nn.Module, torch.Tensor, torch.Tensor]]:
    def make(work: Workload) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
        model = EncoderClassifier(
            layers=layers, width=768, heads=12, feed_forward=3072, vocabulary=VOCABULARY, tokens=work.size, classes=2
        )
        tokens = torch.randint(VOCABULARY, (work.batch, work.size))  # (B, T)
        return model, tokens, torch.randint(2, (work.batch,))

    return make


def _torchvision(build: str) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        from torchvision import models

        model: nn.Module = getattr(models, build)(weights=None)
        return model

    return make


def _vit_tiny() -> nn.Module:
    # ViT-Ti/16: 12 layers, 3 heads, 192 wide (Touvron et al. 2021, DeiT, table 1)
    from torchvision.models import VisionTransformer

    model: nn.Module = VisionTransformer(
        image_size=IMAGE_SIDE, patch_size=16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768
    )
    return model


_MODELS: dict[str, Callable[[Workload], tuple[nn.Module, torch.Tensor, torch.Tensor]]] = {
    "resnet18": _vision(_torchvision("resnet18")),
    "resnet50": _vision(_torchvision("resnet50")),
    "mobilenet_v3": _vision(_torchvision("mobilenet_v3_large")),
    "vit_tiny": _vision(_vit_tiny),
    "bert_base": _encoder(layers=12),  # Devlin et al. 2019: 12 layers, 768 wide, 12 heads
    "distilbert": _encoder(layers=6),  # Sanh et al. 2019: half of BERT-base's layers
}

# name -> (title, default size)
_CATALOGUE: dict[str, tuple[str, int]] = {
    "matmul": ("Matrix product", 1024),
    "resnet18": ("ResNet-18", IMAGE_SIDE),
    "resnet50": ("ResNet-50", IMAGE_SIDE),
    "mobilenet_v3": ("MobileNet v3 large", IMAGE_SIDE),
    "vit_tiny": ("ViT-Tiny", IMAGE_SIDE),
    "bert_base": ("BERT-base shaped encoder", TOKENS),
    "distilbert": ("DistilBERT shaped encoder", TOKENS),
}


def workload_names() -> tuple[str, ...]:
    """List the workloads that `load_workload` knows."""
    return tuple(_CATALOGUE)


def load_workload(name: str, mode: WorkloadMode = "forward", *, batch: int = 1, size: int | None = None) -> Workload:
    """Find a workload by name.

    Args:
        name: one of `workload_names()`.
        mode: "forward" or "train" (forward, backward and optimizer step); "matmul" knows only "forward".
        batch: examples in one call.
        size: the side of the matrices for "matmul" (1024); the number of tokens for encoders (128); images are
            224x224 for ViT-Tiny, and for the convolutional models by default.

    Raises:
        ValueError: for an unknown name (with the nearest ones), mode, or a size that makes no sense.
    """
    if name not in _CATALOGUE:
        raise ValueError(f"no workload is called {name!r}; {suggest(name, _CATALOGUE)}")
    if mode not in MODES or (name == "matmul" and mode != "forward"):
        allowed = ("forward",) if name == "matmul" else MODES
        raise ValueError(f"workload {name!r} has no mode {mode!r}; it has {' and '.join(allowed)}")
    title, default_size = _CATALOGUE[name]
    chosen = default_size if size is None else size
    for what, value in (("batch", batch), ("size", chosen)):
        if value < 1:
            raise ValueError(f"{what} is {value}; it has to be 1 or more")
    if name == "vit_tiny" and chosen != IMAGE_SIDE:
        raise ValueError(f"vit_tiny takes {IMAGE_SIDE}x{IMAGE_SIDE} images only, got size={chosen}")
    return Workload(name=name, title=title, mode=mode, batch=batch, size=chosen)


@cache
def _forward_flop(work: Workload) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    with torch.random.fork_rng(devices=[]), FlopCounterMode(display=False) as counter:
        if work.name == "matmul":
            torch.matmul(
                torch.empty(work.size, work.size, device="meta"), torch.empty(work.size, work.size, device="meta")
            )
        else:
            model, inputs, _ = _MODELS[work.name](work)
            # in training mode: the encoder's fused inference operator counts as nothing
            model.to("meta").train()(inputs.to("meta"))
    return float(counter.get_total_flops())
