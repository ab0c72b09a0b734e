"""Attention step by step: the fused kernels hide where they round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


def _weights(query: Any, key: Any, causal: bool, mask: Any, scale: float | None) -> tuple[Any, Any, Any]:
    scores = (query * (scale or 1 / math.sqrt(query.shape[-1]))) @ key.mT
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -math.inf)
    if mask is not None:
        scores = scores + mask
    largest = scores.amax(-1, keepdim=True).nan_to_num(0, 0, 0)
    powers = (scores - largest).exp()
    total = powers.sum(-1, keepdim=True)
    # a row without keys has no weights
    return powers / total.masked_fill(total == 0, 1.0), largest, total


def attention(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> tuple[Any, Any]:
    """Compute attention and the logarithm of its normalisers, as the fused CPU operator returns them.

    Args:
        query: (batch, heads, queries, size).
        key: (batch, heads, keys, size).
        value: (batch, heads, keys, size).
        dropout: 0; random numbers have no reference.
        causal: whether later keys are masked.
        attn_mask: added to the scores.
        scale: of the scores; None: 1/sqrt(size).
    """
    weights, largest, total = _weights(query, key, causal, attn_mask, scale)
    return weights @ value, (largest + total.log()).squeeze(-1)


def attention_backward(  # noqa: PLR0917 (the operator's own signature)
    gradient: Any,
    query: Any,
    key: Any,
    value: Any,
    out: Any,
    logarithm: Any,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> tuple[Any, Any, Any]:
    """Compute the gradients of attention for query, key and value; arguments as for `attention`."""
    weights, _, _ = _weights(query, key, causal, attn_mask, scale)
    change = gradient @ value.mT
    scores = weights * (change - (gradient * out).sum(-1, keepdim=True)) * (scale or 1 / math.sqrt(query.shape[-1]))
    return scores @ key, scores.mT @ query, weights.mT @ gradient


STEP_BY_STEP: dict[str, Callable[..., Any]] = {
    "_scaled_dot_product_flash_attention_for_cpu": attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": attention_backward,
}
