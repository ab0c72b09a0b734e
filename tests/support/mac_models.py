# ruff: noqa: D102  (a model is described by its class; what its forward computes is its only method)
"""Models as people train and run them on Macs, built small: what each takes, and the gaps of torch 2.14 that it has.

`MODELS` maps a name to a function that returns (model, inputs) or (model, inputs, loss); `GAPS` maps the names of those
that MPS lacks something for to the operators or tensors that an audit has to name. Every other model is clean.
"""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.utils import prune

TOKENS = 11


def _tokens(*size):
    return torch.arange(math.prod(size)).remainder(TOKENS).view(size)


class Lambda(nn.Module):
    """A function with some layers as a model: forward(layers, *inputs)."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            if isinstance(layer, torch.Tensor) and not isinstance(layer, nn.Parameter):
                self.register_buffer(name, layer)
            else:
                setattr(self, name, layer)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class CausalAttention(nn.Module):
    """Self-attention of GPT-2: one projection, a triangular mask."""

    def __init__(self, width=8, heads=2, fused=True):
        super().__init__()
        self.qkv, self.out, self.heads, self.fused = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, fused
        self.register_buffer("mask", torch.ones(16, 16).tril().bool())

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(w, 2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1 if self.training else 0.0)
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
            y = scores.masked_fill(~self.mask[:t, :t], float("-inf")).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, w))


class Gpt2(nn.Module):
    """GPT-2 with tied embeddings."""

    def __init__(self, tied=True, fused=True):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(TOKENS, 8), nn.Embedding(16, 8)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(8),
                    "attn": CausalAttention(fused=fused),
                    "ln2": nn.LayerNorm(8),
                    "mlp": nn.Sequential(nn.Linear(8, 16), nn.GELU("tanh"), nn.Linear(16, 8), nn.Dropout(0.1)),
                }
            )
            for _ in range(2)
        )
        self.head = nn.Linear(8, TOKENS, bias=False)
        if tied:
            self.head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = x + block["attn"](block["ln1"](x))
            x = x + block["mlp"](block["ln2"](x))
        return self.head(x)


def rope(x, base=10000.0):
    """Rotate pairs of channels by the position (B, H, T, D)."""
    half = x.size(-1) // 2
    frequency = base ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angle = torch.outer(torch.arange(x.size(-2), device=x.device, dtype=torch.float32), frequency)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class LlamaLayer(nn.Module):
    """RMS norm, RoPE, grouped queries, SwiGLU; with a KV cache where one is given."""

    def __init__(self, width=8, heads=4, kv_heads=2, complex_rope=False):
        super().__init__()
        self.heads, self.kv_heads, self.complex_rope = heads, kv_heads, complex_rope
        size = width // heads
        self.q, self.kv = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * kv_heads * size, bias=False)
        self.o, self.norm1, self.norm2 = nn.Linear(width, width, bias=False), nn.RMSNorm(width), nn.RMSNorm(width)
        self.gate, self.up, self.down = nn.Linear(width, 16), nn.Linear(width, 16), nn.Linear(16, width)

    def rotate(self, x):
        if not self.complex_rope:
            return rope(x)
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        angle = torch.arange(x.size(-2), device=x.device).float()[:, None]
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2).type_as(x)

    def forward(self, x, cache=None):
        b, t, w = x.shape
        h = self.norm1(x)
        q = self.q(h).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = (y.view(b, t, self.kv_heads, -1).transpose(1, 2) for y in self.kv(h).chunk(2, -1))
        q, k = self.rotate(q), self.rotate(k)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, w))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Whisper(nn.Module):
    """Log-mel spectrogram, two convolutions, an encoder layer; the window is a buffer or, wrongly, an attribute."""

    def __init__(self, buffer=True):
        super().__init__()
        window, filters = torch.hann_window(32), torch.rand(6, 17)
        if buffer:
            self.register_buffer("win", window)
            self.register_buffer("filters", filters)
        else:
            self.win, self.filters = window, filters
        self.conv1, self.conv2 = nn.Conv1d(6, 8, 3, padding=1), nn.Conv1d(8, 8, 3, stride=2, padding=1)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")

    def forward(self, audio):
        spectrum = torch.stft(audio, 32, 16, window=self.win, return_complex=True).abs().square()
        mel = (self.filters @ spectrum).clamp(min=1e-10).log10()
        mel = torch.maximum(mel, mel.amax() - 8.0)
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).transpose(1, 2)
        return self.layer(x)


class DiffusionUnet(nn.Module):
    """A denoiser: sinusoidal time embedding, group norm, attention in the middle, nearest upsampling."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
        self.inc, self.down = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.norm, self.attn = nn.GroupNorm(2, 8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.up, self.out = nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x, t):
        f = torch.exp(-math.log(10000.0) * torch.arange(4, device=x.device) / 4)
        angle = t[:, None].float() * f
        e = self.time(torch.cat((angle.sin(), angle.cos()), -1))[:, :, None, None]
        a = F.silu(self.inc(x)) + e
        b = F.silu(self.norm(self.down(a)))
        flat = b.flatten(2).transpose(1, 2)
        b = b + self.attn(flat, flat, flat, need_weights=False)[0].transpose(1, 2).reshape(b.shape)
        return self.out(F.silu(self.up(torch.cat((F.interpolate(b, scale_factor=2.0), a), 1))))


class Unet(nn.Module):
    """A U-Net for segmentation with transposed convolutions or bilinear upsampling."""

    def __init__(self, transposed=True):
        super().__init__()
        block = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True))  # noqa: E731
        self.a, self.b, self.c = block(3, 4), block(4, 8), block(12 if not transposed else 8, 4)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2) if transposed else nn.UpsamplingBilinear2d(scale_factor=2)
        self.out = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.a(x)
        return self.out(self.c(torch.cat((self.up(self.b(F.max_pool2d(a, 2))), a), 1)))


class Vae(nn.Module):
    """A variational autoencoder with its own loss."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 8), nn.Linear(4, 12)

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum()
        return F.binary_cross_entropy(self.decode(z).sigmoid(), x, reduction="sum") + kl


class GraphNetwork(nn.Module):
    """Message passing over an edge list by index_add, with degree normalisation and mean pooling."""

    def __init__(self, reduce="sum"):
        super().__init__()
        self.message, self.update, self.reduce = nn.Linear(4, 4), nn.GRUCell(4, 4), reduce

    def forward(self, x, edges):
        source, target = edges
        messages = self.message(x[source])
        if self.reduce == "sum":
            total = torch.zeros_like(x).index_add(0, target, messages)
            degree = torch.zeros(len(x), device=x.device).scatter_add(0, target, torch.ones_like(target).float())
            total = total / degree.clamp(min=1)[:, None]
        else:
            index = target[:, None].expand_as(messages)
            total = torch.zeros_like(x).scatter_reduce(0, index, messages, self.reduce, include_self=False)
        return self.update(total, x).mean(0)


class PackedLstm(nn.Module):
    """An LSTM over packed sequences of different lengths."""

    def __init__(self, kind=nn.LSTM):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(TOKENS, 6), kind(6, 5, 2, batch_first=True), nn.Linear(5, 3)

    def forward(self, ids, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(ids), lengths.cpu(), True, enforce_sorted=False)
        output, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(output.mean(1))


class MoE(nn.Module):
    """A mixture of experts with top-2 routing by boolean masks."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(6, 3), nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == number)
            out = out.index_add(0, row, expert(x[row]) * weight[row, slot, None])
        return out


class Mamba(nn.Module):
    """A selective scan by a loop, with a causal depthwise convolution."""

    def __init__(self):
        super().__init__()
        self.conv, self.proj = nn.Conv1d(4, 4, 3, padding=2, groups=4), nn.Linear(4, 9)
        self.a = nn.Parameter(torch.rand(4, 4))

    def forward(self, x):
        u = F.silu(self.conv(x.transpose(1, 2))[..., : x.size(1)]).transpose(1, 2)
        delta, b, c = self.proj(u).split((1, 4, 4), -1)
        state, out = x.new_zeros(x.size(0), 4, 4), []
        for t in range(x.size(1)):
            step = F.softplus(delta[:, t])
            state = torch.exp(-step[..., None] * self.a.exp()) * state + (step * u[:, t])[..., None] * b[:, t, None]
            out.append(torch.einsum("bds,bs->bd", state, c[:, t]))
        return torch.stack(out, 1)


class SqueezeExcitation(nn.Module):
    """Channel weights by two linear layers and a hard sigmoid."""

    def __init__(self):
        super().__init__()
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Sequential(nn.Conv2d(6, 2, 1), nn.ReLU(), nn.Conv2d(2, 6, 1))

    def forward(self, x):
        return x * F.hardsigmoid(self.fc(self.pool(x)))


class ListOfLayers(nn.Module):
    """Layers in a plain list, which Module.to() does not see."""

    def __init__(self):
        super().__init__()
        self.layers, self.head = [nn.Linear(4, 4)], nn.Linear(4, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class StrayMask(nn.Module):
    """A mask kept in an object that is not a module."""

    class Cache:
        """Holds a tensor."""

        def __init__(self):
            self.mask = torch.ones(4, 4).tril()

    def __init__(self):
        super().__init__()
        self.cache, self.layer = StrayMask.Cache(), nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) @ self.cache.mask


def _ctc(output):
    targets = torch.tensor([[1, 2], [2, 3]], device=output.device)
    return F.ctc_loss(output.log_softmax(-1), targets, torch.tensor([6, 6]), torch.tensor([2, 2]))


def _vision(name, size=64, **options):
    def make():
        from torchvision import models

        return models.get_model(name, weights=None, num_classes=5, **options).eval(), torch.rand(1, 3, size, size)

    return make


def _detection():
    from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign, nms

    def forward(self, x, boxes):
        features = self.fpn({"0": self.stem(x), "1": self.deeper(self.stem(x))})
        pooled = self.align(features, [boxes], [(32, 32)]).flatten(1)
        kept = nms(boxes, pooled.mean(1).detach(), 0.5)
        return self.head(pooled)[kept]

    model = Lambda(
        forward,
        stem=nn.Conv2d(3, 4, 3, stride=4, padding=1),
        deeper=nn.Conv2d(4, 4, 3, stride=2, padding=1),
        fpn=FeaturePyramidNetwork([4, 4], 4),
        align=MultiScaleRoIAlign(["0", "1"], 2, 2),
        head=nn.Linear(16, 3),
    )
    return model, (torch.rand(1, 3, 32, 32), torch.tensor([[0.0, 0, 16, 16], [1, 1, 17, 17], [8, 8, 30, 30]]))


def _simple(function, *inputs, **layers):
    return lambda: (Lambda(function, **{name: make() for name, make in layers.items()}), inputs)


def _spectral(self, x):
    spectrum = torch.fft.rfft2(x)
    return torch.fft.irfft2(spectrum * torch.view_as_complex(self.weight), s=x.shape[-2:])


X, IMAGE, SERIES, VOLUME = torch.rand(6, 8), torch.rand(2, 3, 16, 16), torch.rand(2, 3, 24), torch.rand(1, 2, 6, 6, 6)
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])

MODELS = {
    "GPT-2, tied": lambda: (Gpt2(), _tokens(2, 6)),
    "GPT-2, untied": lambda: (Gpt2(tied=False), _tokens(2, 6)),
    "GPT-2, attention by hand": lambda: (Gpt2(fused=False), _tokens(2, 6)),
    "Llama layer": lambda: (LlamaLayer(), torch.rand(2, 5, 8)),
    "Llama layer, complex RoPE": lambda: (LlamaLayer(complex_rope=True), torch.rand(2, 5, 8)),
    "Llama decoding with a KV cache": lambda: (
        LlamaLayer(),
        (torch.rand(1, 1, 8), (torch.rand(1, 2, 7, 2), torch.rand(1, 2, 7, 2))),
    ),
    "BERT layer with a padding mask": lambda: (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        {"src": torch.rand(2, 5, 8), "src_key_padding_mask": torch.tensor([[False] * 5, [False] * 3 + [True] * 2])},
    ),
    "encoder and decoder": lambda: (
        nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        (torch.rand(2, 5, 8), torch.rand(2, 4, 8)),
    ),
    "T5's relative positions": _simple(
        lambda self, x: (
            x
            + self.bias(
                torch.bucketize(
                    (torch.arange(6, device=x.device)[:, None] - 3).abs().float(),
                    torch.tensor([1.0, 2.0], device=x.device),
                )
            )[:, 0]
        ),
        X,
        bias=lambda: nn.Embedding(4, 8),
    ),
    "mixture of experts": lambda: (MoE(), torch.rand(7, 6)),
    "Mamba": lambda: (Mamba(), torch.rand(2, 5, 4)),
    "Whisper": lambda: (Whisper(), torch.rand(2, 320)),
    "Whisper, window not a buffer": lambda: (Whisper(buffer=False), torch.rand(2, 320)),
    "CTC recogniser": lambda: (nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 5)), torch.rand(6, 2, 8), _ctc),
    "wav2vec encoder": lambda: (
        nn.Sequential(nn.Conv1d(1, 4, 10, 5), nn.GroupNorm(4, 4), nn.GELU(), nn.Conv1d(4, 4, 3, 2)),
        torch.rand(2, 1, 200),
    ),
    "diffusion U-Net": lambda: (DiffusionUnet(), (torch.rand(2, 3, 8, 8), torch.tensor([3, 7]))),
    "U-Net, transposed": lambda: (Unet(), IMAGE),
    "U-Net, bilinear": lambda: (Unet(transposed=False), IMAGE),
    "U-Net 3D": lambda: (
        nn.Sequential(
            nn.Conv3d(2, 4, 3, padding=1),
            nn.InstanceNorm3d(4),
            nn.LeakyReLU(),
            nn.MaxPool3d(2),
            nn.ConvTranspose3d(4, 2, 2, stride=2),
        ),
        VOLUME,
    ),
    "VAE": lambda: (Vae(), torch.rand(3, 12)),
    "VQ-VAE": _simple(
        lambda self, x: (
            x + (self.book(torch.cdist(x, self.book.weight).argmin(-1)) - x).detach() + self.book.weight.sum()
        ),
        X,
        book=lambda: nn.Embedding(5, 8),
    ),
    "GAN generator": lambda: (
        nn.Sequential(
            nn.ConvTranspose2d(4, 8, 4), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh()
        ),
        torch.rand(2, 4, 1, 1),
    ),
    "GAN discriminator, spectral norm": lambda: (
        nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 4, 4, 2, 1)),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(256, 1),
        ),
        IMAGE,
    ),
    "graph network, mean": lambda: (GraphNetwork(), (torch.rand(4, 4), EDGES)),
    "graph network, max": lambda: (GraphNetwork("amax"), (torch.rand(4, 4), EDGES)),
    "graph attention": _simple(
        lambda self, x, e: (
            self.w(x)[e[0]]
            * torch.zeros(4, device=x.device)
            .scatter_reduce(0, e[1], F.leaky_relu(self.a(x)[e[0]]).squeeze(-1), "mean")
            .exp()[e[1], None]
        ).sum(0),
        torch.rand(4, 4),
        EDGES,
        w=lambda: nn.Linear(4, 3),
        a=lambda: nn.Linear(4, 1),
    ),
    "packed LSTM": lambda: (PackedLstm(), (_tokens(3, 5), torch.tensor([5, 3, 2]))),
    "packed GRU": lambda: (PackedLstm(nn.GRU), (_tokens(3, 5), torch.tensor([5, 3, 2]))),
    "bidirectional LSTM with dropout": _simple(
        lambda self, x: self.rnn(x)[0],
        torch.rand(2, 5, 4),
        rnn=lambda: nn.LSTM(4, 3, 2, bidirectional=True, dropout=0.2, batch_first=True),
    ),
    "LSTM cell loop": _simple(
        lambda self, x: self.cell(x[:, 1], self.cell(x[:, 0]))[0], torch.rand(2, 2, 4), cell=lambda: nn.LSTMCell(4, 3)
    ),
    "temporal convolution, weight norm": lambda: (
        nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 3, dilation=2)), nn.ReLU()),
        SERIES,
    ),
    "N-BEATS block": lambda: (nn.Sequential(nn.Flatten(), nn.Linear(72, 16), nn.ReLU(), nn.Linear(16, 6)), SERIES),
    "Fourier neural operator": _simple(
        _spectral, torch.rand(2, 4, 4), weight=lambda: nn.Parameter(torch.rand(4, 3, 2))
    ),
    "NeRF": _simple(
        lambda self, x: self.mlp(torch.cat([f(x * 2**n) for n in range(3) for f in (torch.sin, torch.cos)], -1)),
        torch.rand(5, 3),
        mlp=lambda: nn.Sequential(nn.Linear(18, 8), nn.ReLU(), nn.Linear(8, 4)),
    ),
    "SIREN": _simple(lambda self, x: torch.sin(30 * self.layer(x)), torch.rand(5, 2), layer=lambda: nn.Linear(2, 4)),
    "spatial transformer": _simple(
        lambda self, x: F.grid_sample(
            x, F.affine_grid(self.theta(x.flatten(1)).view(-1, 2, 3), x.shape, align_corners=False), align_corners=False
        ),
        IMAGE,
        theta=lambda: nn.Linear(768, 6),
    ),
    "super-resolution": lambda: (nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.PReLU()), IMAGE),
    "bicubic upsampling": _simple(
        lambda self, x: F.interpolate(self.conv(x), scale_factor=2, mode="bicubic"),
        IMAGE,
        conv=lambda: nn.Conv2d(3, 3, 1),
    ),
    "squeeze and excite": _simple(
        lambda self, x: x * self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)).sigmoid()[..., None, None],
        IMAGE,
        fc=lambda: nn.Linear(3, 3),
    ),
    "pyramid pooling that divides": _simple(
        lambda self, x: sum(F.adaptive_avg_pool2d(self.conv(x), n).sum() for n in (1, 2, 4)),
        IMAGE,
        conv=lambda: nn.Conv2d(3, 3, 1),
    ),
    "contrastive pair (CLIP)": _simple(
        lambda self, a, b: F.cross_entropy(
            self.scale.exp() * F.normalize(self.p(a), dim=-1) @ F.normalize(self.p(b), dim=-1).t(),
            torch.arange(6, device=a.device),
        ),
        X,
        X,
        p=lambda: nn.Linear(8, 4),
        scale=lambda: nn.Parameter(torch.tensor(0.1)),
    ),
    "triplet loss": _simple(
        lambda self, a, b, c: F.triplet_margin_loss(self.p(a), self.p(b), self.p(c)), X, X, X, p=lambda: nn.Linear(8, 4)
    ),
    "Barlow twins": _simple(
        lambda self, x: (torch.corrcoef(self.p(x).t()) - torch.eye(4, device=x.device)).pow(2).sum(),
        X,
        p=lambda: nn.Linear(8, 4),
    ),
    "policy gradient": _simple(
        lambda self, x: (
            -torch.distributions.Categorical(logits=self.p(x)).log_prob(torch.ones(6, device=x.device)).mean()
        ),
        X,
        p=lambda: nn.Linear(8, 3),
    ),
    "Gaussian policy": _simple(
        lambda self, x: torch.distributions.Normal(self.p(x), 1.0).rsample().tanh(), X, p=lambda: nn.Linear(8, 2)
    ),
    "deep sets": _simple(
        lambda self, x: self.out(self.phi(x).relu().logsumexp(0)),
        X,
        phi=lambda: nn.Linear(8, 4),
        out=lambda: nn.Linear(4, 2),
    ),
    "embedding bag": _simple(lambda self, i: self.bag(i), _tokens(3, 4), bag=lambda: nn.EmbeddingBag(TOKENS, 4)),
    "factorisation machine": _simple(
        lambda self, i: self.e(i).sum(1).pow(2).sum(1) - self.e(i).pow(2).sum(1).sum(1),
        _tokens(3, 4),
        e=lambda: nn.Embedding(TOKENS, 4),
    ),
    "quantile regression": _simple(lambda self, x: torch.quantile(self.p(x), 0.9, dim=0), X, p=lambda: nn.Linear(8, 3)),
    "whitening by SVD": _simple(lambda self, x: torch.linalg.svdvals(self.p(x)), X, p=lambda: nn.Linear(8, 4)),
    "Gaussian process by Cholesky": _simple(
        lambda self, x: torch.cholesky_solve(
            x[:, :1],
            torch.linalg.cholesky(self.s.exp() * torch.exp(-torch.cdist(x, x)) + torch.eye(6, device=x.device)),
        ),
        X,
        s=lambda: nn.Parameter(torch.tensor(0.1)),
    ),
    "least squares layer": _simple(
        lambda self, x: torch.linalg.lstsq(self.p(x), x[:, :1]).solution, X, p=lambda: nn.Linear(8, 3)
    ),
    "pruned": lambda: (prune.l1_unstructured(nn.Linear(8, 4), "weight", 0.5), X),
    "old weight norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), X),
    "scripted": lambda: (torch.jit.script(nn.Sequential(nn.Linear(8, 4), nn.ReLU())), X),
    "compiled": lambda: (torch.compile(nn.Sequential(nn.Linear(8, 4), nn.ReLU())), X),
    "detection head": _detection,
    "ResNet-18": _vision("resnet18"),
    "MobileNet block": lambda: (
        nn.Sequential(
            nn.Conv2d(3, 6, 3, 2, 1, groups=3),
            nn.BatchNorm2d(6),
            nn.Hardswish(),
            SqueezeExcitation(),
            nn.Conv2d(6, 4, 1),
        ),
        IMAGE,
    ),
    "ConvNeXt block": _simple(
        lambda self, x: x + self.scale * self.mlp(self.norm(self.depthwise(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2),
        IMAGE,
        depthwise=lambda: nn.Conv2d(3, 3, 7, padding=3, groups=3),
        norm=lambda: nn.LayerNorm(3),
        mlp=lambda: nn.Sequential(nn.Linear(3, 12), nn.GELU(), nn.Linear(12, 3)),
        scale=lambda: nn.Parameter(torch.tensor(1e-6)),
    ),
    "ViT": lambda: (__import__("torchvision").models.VisionTransformer(16, 8, 1, 2, 8, 16, num_classes=3), IMAGE),
    "Swin": lambda: (
        __import__("torchvision").models.SwinTransformer([2, 2], 8, [1, 1], [2, 2], [4, 4], num_classes=3),
        IMAGE,
    ),
    # with a gap of torch 2.14
    "channel shuffle by nn": lambda: (nn.Sequential(nn.Conv2d(3, 4, 1), nn.ChannelShuffle(2)), IMAGE),
    "RReLU": lambda: (nn.Sequential(nn.Linear(8, 4), nn.RReLU()), X),
    "PSPNet that does not divide": _simple(
        lambda self, x: F.adaptive_avg_pool2d(self.c(x), 3), IMAGE, c=lambda: nn.Conv2d(3, 2, 1)
    ),
    "3D adaptive pooling": lambda: (nn.Sequential(nn.Conv3d(2, 2, 1), nn.AdaptiveAvgPool3d(2)), VOLUME),
    "fractional pooling": lambda: (nn.Sequential(nn.Conv2d(3, 2, 1), nn.FractionalMaxPool2d(2, output_size=4)), IMAGE),
    "spectral radius": _simple(
        lambda self, x: torch.linalg.eigvals(self.p(x)).abs(), torch.rand(4, 8), p=lambda: nn.Linear(8, 4)
    ),
    "pairwise distances": _simple(lambda self, x: torch.pdist(self.p(x)), X, p=lambda: nn.Linear(8, 4)),
    "mode pooling": _simple(lambda self, x: torch.mode(self.p(x), 1).values, X, p=lambda: nn.Linear(8, 4)),
    "multi-margin loss": lambda: (
        nn.Linear(8, 4),
        X,
        lambda out: F.multi_margin_loss(out, torch.zeros(6, dtype=torch.int64).to(out.device)),
    ),
    "layers in a list": lambda: (ListOfLayers(), torch.rand(3, 4)),
    "mask in an object": lambda: (StrayMask(), torch.rand(3, 4)),
    "positions made on the CPU": _simple(lambda self, x: self.p(x) + torch.arange(4), X, p=lambda: nn.Linear(8, 4)),
    "double in the middle": _simple(lambda self, x: self.p(x).double().sum(), X, p=lambda: nn.Linear(8, 4)),
    "LSTM with projections": lambda: (nn.LSTM(4, 5, proj_size=2), torch.rand(3, 1, 4)),
    "max-norm embedding": lambda: (nn.Embedding(TOKENS, 4, max_norm=1.0), _tokens(2, 3)),
}

# name -> what an audit has to name, and nothing else (a part of the finding's name suffices)
GAPS = {
    "Whisper, window not a buffer": {"attribute win", "attribute filters"},
    "channel shuffle by nn": {"channel_shuffle"},
    "RReLU": {"rrelu_with_noise"},
    "PSPNet that does not divide": {"adaptive_avg_pool2d"},
    "3D adaptive pooling": {"adaptive_avg_pool3d"},
    "fractional pooling": {"fractional_max_pool2d"},
    "spectral radius": {"linalg_eig"},
    "pairwise distances": {"pdist"},
    "mode pooling": {"mode"},
    "multi-margin loss": {"multi_margin_loss"},
    "layers in a list": {"attribute layers[0]"},
    "mask in an object": {"attribute cache.mask"},
    "positions made on the CPU": {"a tensor on the CPU"},
    "double in the middle": {"torch.Tensor.double"},
    "LSTM with projections": {"RuntimeError"},
    "max-norm embedding": {"embedding_renorm_"},
}
