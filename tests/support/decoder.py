"""A runnable transformer decoder of a given shape, that of Llama, with random weights."""

import torch
from torch import nn
from torch.nn import functional

from course_utils.memory.decoder import DecoderShape

LLAMA_2_70B = DecoderShape(layers=80, width=8192, heads=64, kv_heads=8, feed_forward=28672, vocabulary=32000)


class DecoderLayer(nn.Module):
    """Attention and a gated feed-forward part, each behind a norm and around a residual.

    Args:
        shape: the decoder's sizes.
    """

    def __init__(self, shape: DecoderShape) -> None:
        super().__init__()
        self.shape = shape
        query, key = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        self.attention_norm = nn.RMSNorm(shape.width)
        self.query = nn.Linear(shape.width, query, bias=False)
        self.key = nn.Linear(shape.width, key, bias=False)
        self.value = nn.Linear(shape.width, key, bias=False)
        self.output = nn.Linear(query, shape.width, bias=False)
        self.feed_forward_norm = nn.RMSNorm(shape.width)
        self.gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, hidden: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """Transform hidden states, (B, T, D) to (B, T, D); `cosine` and `sine` are (T, head width)."""
        hidden = hidden + self._attend(self.attention_norm(hidden), cosine, sine)
        normed = self.feed_forward_norm(hidden)
        result: torch.Tensor = hidden + self.down(functional.silu(self.gate(normed)) * self.up(normed))
        return result

    def _attend(self, hidden: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        def split(projected: torch.Tensor) -> torch.Tensor:
            batch, tokens, _ = projected.shape
            return projected.view(batch, tokens, -1, self.shape.head_width).transpose(1, 2)  # (B, heads, T, head width)

        query, key, value = split(self.query(hidden)), split(self.key(hidden)), split(self.value(hidden))
        query, key = _rotate(query, cosine, sine), _rotate(key, cosine, sine)
        repeats = self.shape.heads // self.shape.kv_heads
        if repeats > 1:
            key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        result: torch.Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return result


def _rotate(heads: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of components by their position's angle."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cosine + torch.cat((-second, first), dim=-1) * sine


class Decoder(nn.Module):
    """Token embedding, a stack of decoder layers, a norm and a linear head over the vocabulary.

    Args:
        shape: the decoder's sizes.
    """

    def __init__(self, shape: DecoderShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(DecoderLayer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Predict the next token at each position.

        Args:
            tokens: token numbers, int64, (B, T).

        Returns:
            Logits, (B, T, vocabulary).
        """
        hidden = self.embedding(tokens)
        half = self.shape.head_width // 2
        frequencies = 10000.0 ** (-torch.arange(half, device=tokens.device) / half)
        angles = torch.outer(torch.arange(tokens.shape[1], device=tokens.device), frequencies).repeat(1, 2)
        cosine, sine = angles.cos().to(hidden.dtype), angles.sin().to(hidden.dtype)
        for layer in self.layers:
            hidden = layer(hidden, cosine, sine)
        logits: torch.Tensor = self.head(self.norm(hidden))
        return logits
