"""Honest callables at the shapes that people use: modules, functions, linear algebra, attention, losses, models."""

# mypy: disable-error-code="misc, assignment, no-any-return, no-untyped-call, arg-type, var-annotated"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from benchmarks.numerics_zoo.models import MODELS
from course_utils.numerics import draw

Made = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class ZooCallable:
    """One callable with inputs.

    Args:
        name: its name.
        make: makes callable and inputs from a seed.
        half: whether it is asked in float16 and bfloat16 too.
    """

    name: str
    make: Callable[[int], Made]
    half: bool = True

    def meets_onednn_fault(self, dtype: str) -> bool:
        """Return whether a fault of the CPU itself is known for it, which no honest device is blamed for.

        In bfloat16, oneDNN leaves the gradient of a convolution's tap that meets only padding unwritten: old NaNs in 52
        of 600 calls of a Conv1d at length 1, in none without oneDNN (torch 2.14.1, x86-64).
        """
        fn = self.make(0)[0]
        convolves = isinstance(fn, nn.Module) and any(
            isinstance(part, nn.modules.conv._ConvNd) for part in fn.modules()
        )
        return dtype == "bfloat16" and convolves


def _of(fn: Callable[..., Any], *shapes: tuple[int, ...], change: Callable[[Any], Any] = lambda x: x) -> Any:
    return lambda seed: (fn, tuple(change(draw(*shape, seed=seed + place)) for place, shape in enumerate(shapes)))


def _module(make: Callable[[], nn.Module], *shapes: tuple[int, ...]) -> Any:
    def made(seed: int) -> Made:
        torch.manual_seed(seed)
        return make(), tuple(draw(*shape, seed=seed + place) for place, shape in enumerate(shapes))

    return made


def _ids(make: Callable[[], nn.Module], below: int, *shape: int) -> Any:
    def made(seed: int) -> Made:
        torch.manual_seed(seed)
        return make(), (torch.randint(0, below, shape, generator=torch.Generator().manual_seed(seed)),)

    return made


def _positive(x: torch.Tensor) -> torch.Tensor:
    return x.abs() + 0.1


def _unit(x: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x)


def _spd(x: torch.Tensor) -> torch.Tensor:
    return x @ x.mT / x.shape[-1] + torch.eye(x.shape[-1])


def _well(x: torch.Tensor) -> torch.Tensor:
    return x / x.shape[-1] ** 0.5 + 3 * torch.eye(x.shape[-1])


ROWS, IMAGE, VOLUME, SIGNAL, TOKENS = (32, 256), (8, 16, 32, 32), (2, 8, 12, 12, 12), (8, 16, 256), (4, 128, 64)

_ZOO: dict[str, Any] = {}
for name in (
    *("ReLU", "LeakyReLU", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh", "ReLU6"),
    *("Hardsigmoid", "Hardswish", "Hardtanh", "Softplus", "Softsign", "Tanhshrink", "Softshrink", "Hardshrink", "GLU"),
):
    _ZOO[f"nn.{name}"] = _module(getattr(nn, name), ROWS)
for name in (
    *("exp", "expm1", "sin", "cos", "tan", "tanh", "sinh", "atan", "asinh", "erf", "erfc", "sigmoid", "square", "abs"),
    *("floor", "round", "sign", "neg", "exp2", "deg2rad", "logit", "sgn"),
):
    fn = getattr(torch, name)
    _ZOO[f"torch.{name}"] = _of(fn, ROWS, change=_unit) if name == "logit" else _of(fn, ROWS)
for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "digamma", "lgamma", "acosh"):
    change = (lambda x: x.abs() + 1.1) if name == "acosh" else _positive
    _ZOO[f"torch.{name}"] = _of(getattr(torch, name), ROWS, change=change)
for name in ("sum", "mean", "std", "var", "logsumexp", "amax", "amin", "cumsum", "argmax", "sort", "norm", "nansum"):
    fn = getattr(torch, name)
    _ZOO[f"torch.{name} rows"] = _of((lambda x, fn=fn: fn(x, dim=-1)), (8, 8192))
    _ZOO[f"torch.{name} columns"] = _of((lambda x, fn=fn: fn(x, dim=0)), (512, 64))
for name in ("sum", "mean", "std", "var", "prod"):
    _ZOO[f"torch.{name} all"] = _of(getattr(torch, name), (64,) if name == "prod" else (64, 128))
for name in ("add", "sub", "mul", "div", "atan2", "hypot", "maximum", "minimum", "logaddexp", "copysign", "fmod"):
    _ZOO[f"torch.{name}"] = _of(getattr(torch, name), ROWS, ROWS)
_ZOO["torch.pow"] = _of(lambda x: x**2.5, ROWS, change=_positive)
_ZOO["torch.lerp"] = _of(lambda x, y: torch.lerp(x, y, 0.3), ROWS, ROWS)
_ZOO["torch.addcmul"] = _of(torch.addcmul, ROWS, ROWS, ROWS)
_ZOO["torch.where"] = _of(lambda x, y: torch.where(x > 0, x, y), ROWS, ROWS)
_ZOO["torch.clamp"] = _of(lambda x: x.clamp(-0.5, 0.5), ROWS)
_ZOO["torch.topk"] = _of(lambda x: x.topk(5, -1), ROWS)
_ZOO["torch.median"] = _of(lambda x: x.median(-1), (32, 65))
_ZOO["torch.cdist"] = _of(torch.cdist, (64, 16), (48, 16))
_ZOO["torch.cumprod"] = _of(lambda x: (1 + 0.1 * x).cumprod(-1), (8, 64))
_ZOO["torch.outer"] = _of(torch.outer, (128,), (64,))
_ZOO["torch.cat"] = _of(lambda x, y: torch.cat([x, y], -1), ROWS, ROWS)
_ZOO["torch.roll"] = _of(lambda x: x.roll(3, -1), ROWS)
_ZOO["index_add"] = _of(lambda x: torch.zeros_like(x).index_add(0, torch.arange(32) % 5, x), ROWS)
_ZOO["scatter_add"] = _of(lambda x: torch.zeros_like(x).scatter_add(1, torch.arange(256).expand(32, 256) % 7, x), ROWS)
for rows, inner, columns in ((32, 64, 16), (64, 1024, 32), (8, 8192, 8), (128, 128, 128)):
    _ZOO[f"mm {rows}x{inner}x{columns}"] = _of(torch.mm, (rows, inner), (inner, columns))
_ZOO["mm of positive numbers"] = _of(torch.mm, (16, 2048), (2048, 16), change=_positive)
_ZOO["mm of equal numbers"] = _of(lambda x: x.mean() * torch.ones_like(x) @ torch.ones_like(x).mT / 3, (16, 2048))
_ZOO["bmm"] = _of(torch.bmm, (8, 32, 128), (8, 128, 16))
_ZOO["baddbmm"] = _of(torch.baddbmm, (8, 32, 16), (8, 32, 64), (8, 64, 16))
_ZOO["mv"] = _of(torch.mv, (64, 512), (512,))
_ZOO["dot"] = _of(torch.dot, (8192,), (8192,))
_ZOO["einsum"] = _of(lambda x, y: torch.einsum("bij,bkj->bik", x, y), (4, 16, 64), (4, 24, 64))
_ZOO["Linear"] = _module(lambda: nn.Linear(256, 64), ROWS)
_ZOO["Linear tokens"] = _module(lambda: nn.Linear(64, 128), TOKENS)
_ZOO["Linear deep"] = _module(lambda: nn.Linear(4096, 16), (8, 4096))
_ZOO["Bilinear"] = _module(lambda: nn.Bilinear(32, 24, 16), (16, 32), (16, 24))
for name, make, shape in (
    ("Conv1d", lambda: nn.Conv1d(16, 24, 5, padding=2), SIGNAL),
    ("Conv1d long", lambda: nn.Conv1d(8, 8, 5), (8, 8, 2048)),
    ("Conv2d", lambda: nn.Conv2d(16, 24, 3, padding=1), IMAGE),
    ("Conv2d large", lambda: nn.Conv2d(3, 8, 3), (16, 3, 64, 64)),
    ("Conv2d stride", lambda: nn.Conv2d(16, 24, 3, stride=2), IMAGE),
    ("Conv2d dilated", lambda: nn.Conv2d(16, 8, 3, dilation=2), IMAGE),
    ("Conv2d grouped", lambda: nn.Conv2d(16, 32, 3, groups=4), IMAGE),
    ("Conv2d depthwise", lambda: nn.Conv2d(16, 16, 3, groups=16), IMAGE),
    ("Conv2d 1x1", lambda: nn.Conv2d(16, 64, 1), IMAGE),
    ("Conv3d", lambda: nn.Conv3d(8, 6, 3), VOLUME),
    ("ConvTranspose1d", lambda: nn.ConvTranspose1d(16, 8, 4, stride=2), SIGNAL),
    ("ConvTranspose2d", lambda: nn.ConvTranspose2d(16, 8, 3, stride=2), (8, 16, 16, 16)),
    ("MaxPool2d", lambda: nn.MaxPool2d(3, 2), IMAGE),
    ("MaxPool2d indices", lambda: nn.MaxPool2d(2, return_indices=True), IMAGE),
    ("AvgPool2d", lambda: nn.AvgPool2d(3, 2), IMAGE),
    ("AvgPool1d", lambda: nn.AvgPool1d(4), SIGNAL),
    ("AdaptiveAvgPool2d 1", lambda: nn.AdaptiveAvgPool2d(1), IMAGE),
    ("AdaptiveAvgPool2d 4x3", lambda: nn.AdaptiveAvgPool2d((4, 3)), IMAGE),
    ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d(3), IMAGE),
    ("AvgPool3d", lambda: nn.AvgPool3d(2), VOLUME),
    ("MaxPool3d", lambda: nn.MaxPool3d(2), VOLUME),
    ("LPPool2d", lambda: nn.LPPool2d(2, 3), IMAGE),
    ("BatchNorm1d", lambda: nn.BatchNorm1d(32), (4096, 32)),
    ("BatchNorm2d", lambda: nn.BatchNorm2d(16), IMAGE),
    ("BatchNorm2d eval", lambda: nn.BatchNorm2d(16).eval(), IMAGE),
    ("BatchNorm3d", lambda: nn.BatchNorm3d(8), VOLUME),
    ("InstanceNorm2d", lambda: nn.InstanceNorm2d(16, affine=True), IMAGE),
    ("GroupNorm", lambda: nn.GroupNorm(4, 16), IMAGE),
    ("LayerNorm", lambda: nn.LayerNorm(64), (2, 512, 64)),
    ("LayerNorm wide", lambda: nn.LayerNorm(1024), (32, 1024)),
    ("RMSNorm", lambda: nn.RMSNorm(64), TOKENS),
    ("LocalResponseNorm", lambda: nn.LocalResponseNorm(3), IMAGE),
    ("Softmax", lambda: nn.Softmax(-1), (32, 512)),
    ("Softmax over channels", nn.Softmax2d, IMAGE),
    ("LogSoftmax", lambda: nn.LogSoftmax(-1), (32, 512)),
    ("PReLU", lambda: nn.PReLU(16), IMAGE),
    ("Unfold", lambda: nn.Unfold(3), (4, 8, 16, 16)),
    ("Fold", lambda: nn.Fold((16, 16), 3), (4, 72, 196)),
    ("PixelShuffle", lambda: nn.PixelShuffle(2), IMAGE),
    ("Upsample nearest", lambda: nn.Upsample(scale_factor=2), IMAGE),
    ("Upsample bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE),
    ("Upsample bicubic x3", lambda: nn.Upsample(scale_factor=3, mode="bicubic"), (4, 4, 16, 16)),
    ("Upsample linear", lambda: nn.Upsample(scale_factor=2, mode="linear"), SIGNAL),
    ("Upsample trilinear", lambda: nn.Upsample(scale_factor=2, mode="trilinear"), (2, 4, 6, 6, 6)),
    ("ReflectionPad2d", lambda: nn.ReflectionPad2d(2), IMAGE),
    ("ReplicationPad2d", lambda: nn.ReplicationPad2d(2), IMAGE),
    ("Flatten", nn.Flatten, IMAGE),
    ("RNN", lambda: nn.RNN(16, 24), (32, 8, 16)),
    ("GRU", lambda: nn.GRU(16, 24), (32, 8, 16)),
    ("LSTM", lambda: nn.LSTM(16, 16, batch_first=True), (8, 128, 16)),
    ("LSTM two layers", lambda: nn.LSTM(16, 24, 2, batch_first=True), (8, 16, 16)),
    ("LSTMCell", lambda: nn.LSTMCell(16, 24), (8, 16)),
    ("GRUCell", lambda: nn.GRUCell(16, 24), (8, 16)),
    ("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True), TOKENS),
    ("TransformerEncoderLayer eval", lambda: nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).eval(), TOKENS),
):
    _ZOO[name] = _module(make, shape)
_ZOO["MultiheadAttention"] = _module(lambda: nn.MultiheadAttention(64, 4, batch_first=True), *((4, 64, 64),) * 3)
_ZOO["Embedding"] = _ids(lambda: nn.Embedding(100, 32, padding_idx=0), 100, 8, 64)
_ZOO["EmbeddingBag"] = _ids(lambda: nn.EmbeddingBag(100, 32, mode="mean"), 100, 8, 16)
_ZOO["CosineSimilarity"] = _module(nn.CosineSimilarity, ROWS, ROWS)
_ZOO["PairwiseDistance"] = _module(nn.PairwiseDistance, ROWS, ROWS)
for queries, keys, causal in ((512, 512, False), (128, 512, False), (256, 256, True)):
    shapes = ((1, 4, queries, 64), (1, 4, keys, 64), (1, 4, keys, 64))
    fn = lambda q, k, v, causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
    _ZOO[f"attention {queries}x{keys}{' causal' if causal else ''}"] = _of(fn, *shapes)
_ZOO["attention by hand"] = _of(
    lambda q, k, v: torch.softmax(q @ k.mT / 8, -1) @ v, *((2, 4, 128, 64),) * 3
)  # fmt: skip
for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "cosine_embedding_loss"):
    fn = getattr(F, name)
    if name == "cosine_embedding_loss":
        fn = lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(32))  # noqa: E731
    _ZOO[f"F.{name}"] = _of(fn, ROWS, ROWS)
_ZOO["F.cross_entropy"] = _of(lambda x: F.cross_entropy(x, torch.arange(32) % 10), (32, 100))
_ZOO["F.cross_entropy of pixels"] = _of(
    lambda x: F.cross_entropy(x, torch.arange(256).view(1, 16, 16) % 5), (1, 5, 16, 16)
)
_ZOO["F.nll_loss"] = _of(lambda x: F.nll_loss(x.log_softmax(-1), torch.arange(32) % 7), (32, 7))
_ZOO["F.kl_div"] = _of(lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"), ROWS, ROWS)
_ZOO["F.binary_cross_entropy_with_logits"] = _of(
    lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()), ROWS, ROWS
)
_ZOO["F.triplet_margin_loss"] = _of(F.triplet_margin_loss, ROWS, ROWS, ROWS)
_ZOO["F.gaussian_nll_loss"] = _of(lambda x, y: F.gaussian_nll_loss(x, y, torch.ones(32, 256)), ROWS, ROWS)
_ZOO["F.normalize"] = _of(F.normalize, ROWS)
_ZOO["F.grid_sample"] = _of(
    lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), (4, 8, 16, 16), (4, 12, 12, 2)
)
_ZOO["F.affine_grid"] = _of(lambda t: F.affine_grid(t, [4, 3, 16, 16], align_corners=False), (4, 2, 3))
_LINALG: dict[str, Any] = {}
for size in (8, 48):
    square = ((4, size, size),)
    for name, call, change in (
        ("qr", torch.linalg.qr, _well),
        ("svd", torch.linalg.svd, _well),
        ("svdvals", torch.linalg.svdvals, _well),
        ("eigh", torch.linalg.eigh, _spd),
        ("eigvalsh", torch.linalg.eigvalsh, _spd),
        ("cholesky", torch.linalg.cholesky, _spd),
        ("inv", torch.linalg.inv, _well),
        ("pinv", torch.linalg.pinv, _well),
        ("det", torch.linalg.det, lambda x: _well(x) / 3),
        ("slogdet", torch.linalg.slogdet, _well),
        ("matrix_exp", torch.linalg.matrix_exp, lambda x: x / x.shape[-1] ** 0.5),
        ("matrix_norm", torch.linalg.matrix_norm, _well),
    ):
        _LINALG[f"linalg.{name} {size}"] = _of(call, *square, change=change)
    _LINALG[f"linalg.solve {size}"] = _of(lambda a, b: torch.linalg.solve(_well(a), b), *square, (4, size, 3))
    _LINALG[f"linalg.lstsq {size}"] = _of(
        lambda a, b: torch.linalg.lstsq(a, b).solution, (size + 4, size), (size + 4, 2)
    )
for name, call in (
    ("rfft", torch.fft.rfft),
    ("rfft abs", lambda x: torch.fft.rfft(x).abs()),
    ("fft2", lambda x: torch.view_as_real(torch.fft.fft2(x))),
    ("ifft(fft)", lambda x: torch.fft.ifft(torch.fft.fft(x)).real),
    ("irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x) * 0.5)),
    ("fftshift", torch.fft.fftshift),
    ("stft", lambda x: torch.stft(x, 64, window=torch.hann_window(64).to(x), return_complex=True).abs()),
):
    _LINALG[f"fft.{name}"] = _of(call, (4, 256))

CALLABLES: tuple[ZooCallable, ...] = (
    *(ZooCallable(name, make) for name, make in _ZOO.items()),
    *(ZooCallable(name, make, half=False) for name, make in _LINALG.items()),
    *(ZooCallable(name, make) for name, make in MODELS.items()),
)
