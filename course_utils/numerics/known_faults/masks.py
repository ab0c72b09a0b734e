"""Attention masks that let a query see what they hide."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, normal, reproduces


@reproduces("pytorch#195910", right=0.0, tolerance=5e-2)
def causal_attention_in_half_precision(device: torch.device) -> Values:
    """Attend causally in float16, change keys and values from position 33 on, and compare the first 33 results."""
    q, k, v = (normal(1, 4, 64, 64, seed=seed, dtype=torch.float16) for seed in range(3))
    later_k, later_v = k.clone(), v.clone()
    later_k[:, :, 33:], later_v[:, :, 33:] = 3, 50
    first, second = (
        functional.scaled_dot_product_attention(q.to(device), keys.to(device), values.to(device), is_causal=True)
        for keys, values in ((k, v), (later_k, later_v))
    )
    return (first - second)[:, :, :33].float()


@reproduces("pytorch#184180", tolerance=1e-4)
def mask_shared_by_the_heads(device: torch.device) -> Values:
    """Attend with a mask of shape (2, 1, 8, 8), whose two halves differ."""
    q, mask = normal(2, 4, 8, 64), torch.zeros(2, 1, 8, 8)
    mask[0, 0, 4:, :4] = float("-inf")
    return functional.scaled_dot_product_attention(q.to(device), q.to(device), q.to(device), attn_mask=mask.to(device))


@reproduces("pytorch#182285", tolerance=1e-4)
def boolean_mask_of_few_queries(device: torch.device) -> Values:
    """Attend from 8 positions to 512 with a triangle of booleans as mask."""
    q, k = normal(1, 1, 8, 64).to(device), normal(1, 1, 512, 64, seed=1).to(device)
    mask = torch.ones(8, 512, dtype=torch.bool).tril().to(device)
    return functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)


@reproduces("pytorch#156707", right=False)
def row_that_sees_nothing(device: torch.device) -> bool:
    """Attend with a mask that hides every key from the first query; is a result NaN?"""
    q, mask = normal(1, 1, 2, 4).to(device), torch.tensor([[False, False], [True, True]]).to(device)
    return bool(functional.scaled_dot_product_attention(q, q, q, attn_mask=mask).isnan().any().cpu())
