"""The shape of a transformer decoder, such as Llama's, and what its KV cache takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class CacheShape:
    """What sets the size of a decoder's KV cache.

    Args:
        layers: number of layers.
        kv_heads: key and value heads of a layer; fewer than query heads with grouped-query attention.
        head_width: width of one head.

    Raises:
        ValueError: when one of them is below 1.
    """

    layers: int
    kv_heads: int
    head_width: int

    def __post_init__(self) -> None:
        _check_sizes(self)

    def kv_cache_bytes(self, batch: int, tokens: int, dtype: torch.dtype) -> int:
        """Return what the keys and values of T tokens in B sequences take, in bytes.

        One key and one value for each layer, key and value head, and token.
        """
        return 2 * self.layers * batch * self.kv_heads * tokens * self.head_width * dtype.itemsize


def _check_sizes(shape: object) -> None:
    for name, value in vars(shape).items():
        if value < 1:
            raise ValueError(f"{name} is {value}; it has to be 1 or more")


@dataclass(frozen=True)
class DecoderShape:
    """The sizes of a decoder with rotary positions, grouped key and value heads and a gated feed-forward part.

    Args:
        layers: number of layers.
        width: embedding width D.
        heads: query heads.
        kv_heads: key and value heads; fewer than `heads` with grouped-query attention.
        feed_forward: inner width of the feed-forward part.
        vocabulary: number of tokens known.
        head_width: width of one head; by default D / heads.
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    head_width: int = 0

    def __post_init__(self) -> None:
        if not self.head_width:
            object.__setattr__(self, "head_width", self.width // self.heads)
        _check_sizes(self)
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} key and value heads evenly")

    def kv_cache_bytes(self, batch: int, tokens: int, dtype: torch.dtype) -> int:
        """Return what the keys and values of T tokens in B sequences take, in bytes."""
        return CacheShape(self.layers, self.kv_heads, self.head_width).kv_cache_bytes(batch, tokens, dtype)


# Touvron et al. 2023, Llama 2, table 1 and the published configurations
LLAMA_2_7B = DecoderShape(layers=32, width=4096, heads=32, kv_heads=32, feed_forward=11008, vocabulary=32000)
