"""Small models of everyday kinds, with global pooling, attention, recurrence, skips and norms."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from course_utils.numerics import draw


class ResidualBlock(nn.Module):
    """Two convolutions with batch norm and a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()),
            *(nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)),
        )
        same = stride == 1 and before == after
        self.shortcut = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add body and shortcut."""
        return F.relu(self.body(x) + self.shortcut(x))


def resnet18(width: int = 64) -> nn.Module:
    """Make a ResNet-18; with a width of 64 it is the usual one."""
    blocks = []
    before = width
    for stage, after in enumerate((width, 2 * width, 4 * width, 8 * width)):
        blocks += [ResidualBlock(before, after, 1 if stage == 0 else 2), ResidualBlock(after, after, 1)]
        before = after
    stem = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 100))


def pooled_cnn(*, relu: bool = True) -> nn.Module:
    """Make the CNN of the README: convolution, global average pool, linear."""
    middle = [nn.ReLU()] if relu else []
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), *middle, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
    )


def normed_cnn() -> nn.Module:
    """Make two blocks with batch norm in front of a global average pool."""
    blocks = []
    for before, after in ((3, 16), (16, 32)):
        blocks += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


class TinyGPT(nn.Module):
    """Two decoder blocks over token numbers."""

    def __init__(self, vocabulary: int = 65, width: int = 64, heads: int = 4, context: int = 64) -> None:
        super().__init__()
        self.heads = heads
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Parameter(0.02 * torch.randn(context, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(5))
        self.mix = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.join = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(2))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(2))
        self.read = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        x = self.embed(tokens) + self.place[: tokens.shape[1]]
        for block in range(2):
            parts = self.mix[block](self.norms[2 * block](x)).chunk(3, -1)
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + self.join[block](mixed)
            x = x + self.down[block](F.gelu(self.up[block](self.norms[2 * block + 1](x)), approximate="tanh"))
        return self.read(self.norms[4](x))


class TinyViT(nn.Module):
    """A vision transformer: patches, a class token, two encoder layers."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(2)
        )
        self.read = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        for layer in self.layers:
            x = layer(x)
        return self.read(x[:, 0])


class TinyUNet(nn.Module):
    """A U-Net of two levels."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = self._block(3, 12), self._block(12, 24)
        self.up, self.last = self._block(36, 12), nn.Conv2d(12, 2, 1)

    @staticmethod
    def _block(before: int, after: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(4, after), nn.SiLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return two numbers for each pixel."""
        top = self.down(x)
        deep = F.interpolate(self.deep(F.max_pool2d(top, 2)), scale_factor=2.0, mode="bilinear")
        return self.last(self.up(torch.cat([top, deep], 1)))


class LanguageLSTM(nn.Module):
    """An LSTM over token numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.lstm, self.read = nn.Embedding(50, 24), nn.LSTM(24, 32, batch_first=True), nn.Linear(32, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        return self.read(self.lstm(self.embed(tokens))[0])


def mlp() -> nn.Module:
    """Make a three-layer perceptron."""
    return nn.Sequential(nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10))


def mobile() -> nn.Module:
    """Make an inverted bottleneck with depthwise convolution and global pooling."""
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()),
        *(nn.Conv2d(16, 48, 1, bias=False), nn.BatchNorm2d(48), nn.Hardswish()),
        *(nn.Conv2d(48, 48, 3, 1, 1, groups=48, bias=False), nn.BatchNorm2d(48), nn.Hardswish()),
        *(nn.Conv2d(48, 24, 1, bias=False), nn.BatchNorm2d(24)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)),
    )


def autoencoder() -> nn.Module:
    """Make convolutions down and transposed ones up."""
    return nn.Sequential(
        *(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU()),
        *(nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(12, 3, 4, 2, 1), nn.Sigmoid()),
    )


def _made(make: Callable[[], nn.Module], *shape: int, train: bool = False, below: int = 0) -> Any:
    def made(seed: int) -> Any:
        torch.manual_seed(seed)
        model = make().train(train)
        if below:
            return model, (torch.randint(0, below, shape, generator=torch.Generator().manual_seed(seed)),)
        return model, (draw(*shape, seed=seed),)

    return made


MODELS: dict[str, Any] = {
    "pooled CNN": _made(pooled_cnn, 8, 3, 32, 32),
    "pooled CNN train": _made(pooled_cnn, 8, 3, 64, 64, train=True),
    "pooled CNN linear": _made(lambda: pooled_cnn(relu=False), 8, 3, 32, 32),
    "normed CNN": _made(normed_cnn, 8, 3, 32, 32),
    "normed CNN train": _made(normed_cnn, 8, 3, 32, 32, train=True),
    "ResNet-18 narrow": _made(lambda: resnet18(16), 8, 3, 64, 64),
    "ResNet-18 narrow train": _made(lambda: resnet18(16), 8, 3, 64, 64, train=True),
    "GPT": _made(TinyGPT, 4, 64, below=65),
    "GPT short": _made(TinyGPT, 2, 8, below=65),
    "ViT": _made(TinyViT, 8, 3, 64, 64),
    "ViT train": _made(TinyViT, 8, 3, 64, 64, train=True),
    "U-Net": _made(TinyUNet, 8, 3, 32, 32),
    "LSTM model": _made(LanguageLSTM, 4, 32, below=50),
    "MLP": _made(mlp, 32, 512),
    "mobile": _made(mobile, 8, 3, 64, 64),
    "mobile train": _made(mobile, 8, 3, 64, 64, train=True),
    "autoencoder": _made(autoencoder, 8, 3, 32, 32),
}
