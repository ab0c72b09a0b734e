"""torch.nn modules, functionals and optimizers with inputs, of which every device should give the same numbers."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


def floats(*size):
    return torch.randn(*size, generator=torch.Generator().manual_seed(0))


def _positive(*size):
    return torch.rand(*size, generator=torch.Generator().manual_seed(0)) + 0.1


def _classes(n, *size):
    return torch.randint(0, n, size, generator=torch.Generator().manual_seed(1))


image, volume, signal, rows = (2, 4, 8, 8), (1, 4, 6, 6, 6), (2, 4, 12), (3, 8)

# name -> (module, its inputs); the module is compared in its training mode
MODULES = {
    "Linear": lambda: (nn.Linear(8, 5), [floats(3, 8)]),
    "Linear 1-d": lambda: (nn.Linear(8, 5), [floats(8)]),
    "Linear 3-d, no bias": lambda: (nn.Linear(8, 5, bias=False), [floats(2, 3, 8)]),
    "Bilinear": lambda: (nn.Bilinear(8, 6, 4), [floats(3, 8), floats(3, 6)]),
    "Identity": lambda: (nn.Identity(), [floats(3, 8)]),
    "Conv1d": lambda: (nn.Conv1d(4, 6, 3, padding=1, stride=2), [floats(*signal)]),
    "Conv2d": lambda: (nn.Conv2d(4, 6, 3, padding=1, dilation=2), [floats(*image)]),
    "Conv2d grouped, same padding": lambda: (nn.Conv2d(4, 8, 3, groups=4, padding="same"), [floats(*image)]),
    "Conv2d reflect": lambda: (nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), [floats(*image)]),
    "Conv3d": lambda: (nn.Conv3d(4, 3, 3), [floats(*volume)]),
    "ConvTranspose1d": lambda: (nn.ConvTranspose1d(4, 3, 3, stride=2), [floats(*signal)]),
    "ConvTranspose2d": lambda: (nn.ConvTranspose2d(4, 3, 3, stride=2, output_padding=1), [floats(*image)]),
    "ConvTranspose3d": lambda: (nn.ConvTranspose3d(4, 2, 2), [floats(*volume)]),
    "Unfold": lambda: (nn.Unfold(3), [floats(*image)]),
    "Fold": lambda: (nn.Fold((8, 8), 2, stride=2), [floats(2, 16, 16)]),
    "MaxPool1d": lambda: (nn.MaxPool1d(2), [floats(*signal)]),
    "MaxPool2d": lambda: (nn.MaxPool2d(3, stride=2, padding=1), [floats(*image)]),
    "MaxPool3d": lambda: (nn.MaxPool3d(2), [floats(*volume)]),
    "AvgPool1d": lambda: (nn.AvgPool1d(2), [floats(*signal)]),
    "AvgPool2d": lambda: (nn.AvgPool2d(3, stride=2, padding=1), [floats(*image)]),
    "AvgPool3d": lambda: (nn.AvgPool3d(2), [floats(*volume)]),
    "LPPool2d": lambda: (nn.LPPool2d(2, 2), [_positive(*image)]),
    "AdaptiveAvgPool1d": lambda: (nn.AdaptiveAvgPool1d(3), [floats(*signal)]),
    "AdaptiveAvgPool2d": lambda: (nn.AdaptiveAvgPool2d((4, 2)), [floats(*image)]),
    "AdaptiveMaxPool1d": lambda: (nn.AdaptiveMaxPool1d(3), [floats(*signal)]),
    "AdaptiveMaxPool2d": lambda: (nn.AdaptiveMaxPool2d(4), [floats(*image)]),
    "BatchNorm1d": lambda: (nn.BatchNorm1d(8), [floats(3, 8)]),
    "BatchNorm2d": lambda: (nn.BatchNorm2d(4), [floats(*image)]),
    "BatchNorm3d": lambda: (nn.BatchNorm3d(4), [floats(*volume)]),
    "BatchNorm2d eval": lambda: (nn.BatchNorm2d(4).eval(), [floats(*image)]),
    "InstanceNorm2d": lambda: (nn.InstanceNorm2d(4, affine=True), [floats(*image)]),
    "LayerNorm": lambda: (nn.LayerNorm(8), [floats(3, 8)]),
    "GroupNorm": lambda: (nn.GroupNorm(2, 4), [floats(*image)]),
    "RMSNorm": lambda: (nn.RMSNorm(8), [floats(3, 8)]),
    "LocalResponseNorm": lambda: (nn.LocalResponseNorm(2), [floats(*image)]),
    "Embedding": lambda: (nn.Embedding(10, 6, padding_idx=0), [_classes(10, 3, 5)]),
    "EmbeddingBag": lambda: (nn.EmbeddingBag(10, 6, mode="mean"), [_classes(10, 3, 5)]),
    "RNN": lambda: (nn.RNN(5, 7, 2, batch_first=True), [floats(2, 4, 5)]),
    "LSTM": lambda: (nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True), [floats(2, 4, 5)]),
    "LSTM no bias": lambda: (nn.LSTM(5, 7, bias=False), [floats(4, 2, 5)]),
    "GRU": lambda: (nn.GRU(5, 7, 2, batch_first=True), [floats(2, 4, 5)]),
    "LSTMCell": lambda: (nn.LSTMCell(5, 7), [floats(2, 5)]),
    "GRUCell": lambda: (nn.GRUCell(5, 7), [floats(2, 5)]),
    "RNNCell": lambda: (nn.RNNCell(5, 7), [floats(2, 5)]),
    "MultiheadAttention": lambda: (nn.MultiheadAttention(8, 2, batch_first=True), [floats(2, 4, 8)] * 3),
    "TransformerEncoderLayer": lambda: (
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        [floats(2, 4, 8)],
    ),
    "TransformerEncoder eval": lambda: (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval(),
        [floats(2, 4, 8)],
    ),
    "Transformer": lambda: (
        nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True),
        [floats(2, 4, 8), floats(2, 3, 8)],
    ),
    "Upsample nearest": lambda: (nn.Upsample(scale_factor=2), [floats(*image)]),
    "Upsample bilinear": lambda: (nn.Upsample(scale_factor=2, mode="bilinear"), [floats(*image)]),
    "Upsample bicubic": lambda: (nn.Upsample(scale_factor=2, mode="bicubic"), [floats(*image)]),
    "Upsample trilinear": lambda: (nn.Upsample(scale_factor=2, mode="trilinear"), [floats(*volume)]),
    "PixelShuffle": lambda: (nn.PixelShuffle(2), [floats(*image)]),
    "PixelUnshuffle": lambda: (nn.PixelUnshuffle(2), [floats(*image)]),
    "ZeroPad2d": lambda: (nn.ZeroPad2d(1), [floats(*image)]),
    "ReplicationPad2d": lambda: (nn.ReplicationPad2d(1), [floats(*image)]),
    "ReflectionPad1d": lambda: (nn.ReflectionPad1d(1), [floats(*signal)]),
    "CircularPad2d": lambda: (nn.CircularPad2d(1), [floats(*image)]),
    "Flatten": lambda: (nn.Flatten(), [floats(*image)]),
    "Unflatten": lambda: (nn.Unflatten(1, (2, 2)), [floats(*image)]),
    "CosineSimilarity": lambda: (nn.CosineSimilarity(), [floats(3, 8), _positive(3, 8)]),
    "PairwiseDistance": lambda: (nn.PairwiseDistance(), [floats(3, 8), _positive(3, 8)]),
    "PReLU": lambda: (nn.PReLU(4), [floats(*image)]),
    "Softmax": lambda: (nn.Softmax(dim=-1), [floats(3, 8)]),
    "Softmin": lambda: (nn.Softmin(dim=-1), [floats(3, 8)]),
    "LogSoftmax": lambda: (nn.LogSoftmax(dim=-1), [floats(3, 8)]),
    "GLU": lambda: (nn.GLU(), [floats(3, 8)]),
    "weight norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(8, 5)), [floats(3, 8)]),
    **{
        name: lambda name=name: (getattr(nn, name)(), [floats(3, 8)])
        for name in (
            "ReLU",
            "ReLU6",
            "LeakyReLU",
            "ELU",
            "SELU",
            "CELU",
            "GELU",
            "SiLU",
            "Mish",
            "Sigmoid",
            "LogSigmoid",
            "Tanh",
            "Hardtanh",
            "Hardsigmoid",
            "Hardswish",
            "Hardshrink",
            "Softshrink",
            "Softplus",
            "Softsign",
            "Tanhshrink",
        )
    },
}


def _clipped(x):
    layer = nn.Linear(8, 2).to(x.device)
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)
    layer(x.detach()).pow(2).sum().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 0.5)
    return x * layer.weight.grad.sum()


_target = _classes(8, 3)
# name -> (function of the first input, inputs); inputs of floats get gradients
FUNCTIONS = {
    "cross_entropy": lambda x: F.cross_entropy(x, _target.to(x.device)),
    "cross_entropy smoothed": lambda x: F.cross_entropy(x, _target.to(x.device), label_smoothing=0.1),
    "cross_entropy weighted": lambda x: F.cross_entropy(x, _target.to(x.device), weight=torch.ones_like(x[0])),
    "cross_entropy of probabilities": lambda x: F.cross_entropy(x, x.detach().softmax(-1)),
    "nll_loss": lambda x: F.nll_loss(x.log_softmax(-1), _target.to(x.device)),
    "mse_loss": lambda x: F.mse_loss(x, torch.zeros_like(x)),
    "l1_loss": lambda x: F.l1_loss(x, torch.zeros_like(x)),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, torch.zeros_like(x)),
    "huber_loss": lambda x: F.huber_loss(x, torch.zeros_like(x)),
    "kl_div": lambda x: F.kl_div(x.log_softmax(-1), x.detach().softmax(-1), reduction="batchmean"),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), torch.ones_like(x)),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, torch.ones_like(x)),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, torch.ones_like(x)),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, torch.zeros_like(x), torch.ones_like(x)),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, torch.ones_like(x)),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, torch.ones_like(x)),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x[0], x[1], torch.ones_like(x[0])),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x.flip(0), x.roll(1, 0)),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(x, x.flip(0), torch.ones_like(x[:, 0])),
    "multilabel_soft_margin_loss": lambda x: F.multilabel_soft_margin_loss(x, torch.ones_like(x)),
    "ctc_loss": lambda x: F.ctc_loss(
        x.unsqueeze(1).log_softmax(-1),
        torch.tensor([[1, 2]], device=x.device),
        torch.tensor([3]),
        torch.tensor([2]),
    ),
    "normalize": F.normalize,
    "one_hot": lambda x: (F.one_hot(_target.to(x.device), 8) * x).sum(),
    "scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(
        x.view(1, 1, 3, 8), x.view(1, 1, 3, 8), x.view(1, 1, 3, 8), is_causal=True
    ),
    "attention with a mask": lambda x: F.scaled_dot_product_attention(
        x.view(1, 1, 3, 8),
        x.view(1, 1, 3, 8),
        x.view(1, 1, 3, 8),
        attn_mask=torch.ones(3, 3, dtype=torch.bool, device=x.device).tril(),
    ),
    "grid_sample": lambda x: F.grid_sample(
        x.view(1, 1, 3, 8), torch.zeros(1, 2, 2, 2, device=x.device), align_corners=False
    ),
    "affine_grid": lambda x: F.affine_grid(x[:2, :3].unsqueeze(0), [1, 1, 4, 4], align_corners=False),
    "interpolate area": lambda x: F.interpolate(x.view(1, 1, 4, 6), size=(2, 3), mode="area"),
    "pad constant": lambda x: F.pad(x, (1, 2), value=3.0),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "cumsum": lambda x: x.cumsum(1),
    "sort": lambda x: x.sort().values,
    "topk": lambda x: x.topk(3).values,
    "gather": lambda x: x.gather(1, _target.to(x.device).unsqueeze(1)),
    "scatter_add": lambda x: torch.zeros_like(x).scatter_add(1, _classes(8, 3, 8).to(x.device), x),
    "index_select": lambda x: x.index_select(1, _target.to(x.device)),
    "boolean mask": lambda x: x[x > 0],
    "fancy index": lambda x: x[_target.to(x.device) % 3, _target.to(x.device)],
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "where": lambda x: torch.where(x > 0, x, -x),
    "stack, cat, split": lambda x: torch.cat([torch.stack([x, x]), torch.stack([x, x]).split(1)[0]]),
    "std, var, norm": lambda x: x.std() + x.var(0).sum() + x.norm() + torch.linalg.vector_norm(x),
    "linalg.inv": lambda x: torch.linalg.inv(x[:, :3] + 4 * torch.eye(3, device=x.device)),
    "linalg.svd": torch.linalg.svdvals,
    "linalg.eigh": lambda x: torch.linalg.eigvalsh(x @ x.t()),
    "linalg.qr": lambda x: torch.linalg.qr(x.t()).R.abs(),
    "fft": lambda x: torch.fft.rfft(x).abs(),
    "stft": lambda x: torch.stft(
        x.flatten(), 8, window=torch.hann_window(8, device=x.device), return_complex=True
    ).abs(),
    "cdist": lambda x: torch.cdist(x, x.flip(0) + 1),
    "logsumexp": lambda x: x.logsumexp(1),
    "cross": lambda x: torch.linalg.cross(x[:, :3], x[:, 3:6]),
    "roll, flip, rot90": lambda x: x.roll(1, 1).flip(0).rot90(),
    "unfold": lambda x: x.unfold(1, 3, 2),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
    "bucketize": lambda x: x * torch.bucketize(x.detach(), torch.tensor([-1.0, 0.0, 1.0], device=x.device)),
    "tril, triu, diag": lambda x: x[:, :3].tril() + x[:, :3].triu() + x[:, :3].diag(),
    "clamp, sign, round": lambda x: x.clamp(-1, 1) + x.sign() + x.round(),
    "max, min, argmax": lambda x: x.max(1).values + x.min(1).values + x.argmax(1),
    "meshgrid": lambda x: torch.stack(torch.meshgrid(x[0], x[1], indexing="ij")),
    "lerp, addcmul": lambda x: torch.lerp(x, x.flip(0), 0.3).addcmul(x, x, value=2.0),
    "clip_grad_norm_": _clipped,
    "checkpoint": lambda x: torch.utils.checkpoint.checkpoint(torch.tanh, x, use_reentrant=False),
}

OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "NAdam": {},
    "RAdam": {},
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"momentum": 0.5, "centered": True},
    "Rprop": {},
    "ASGD": {},
    "LBFGS": {"max_iter": 3},
    "SGD fused": {"fused": True, "momentum": 0.9},
    "Adam fused": {"fused": True},
    "AdamW fused": {"fused": True},
    "AdamW foreach": {"foreach": True},
}
