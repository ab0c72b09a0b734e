"""Attention that sees what its mask hides."""

import torch

from support.planted_known_faults.modes import function


@function("pytorch#195910", "scaled_dot_product_attention")
def one_mask_for_four_queries(attention, q, k, v, *, is_causal):
    last_seen = torch.arange(q.shape[-2]) // 4 * 4 + 3
    return attention(q, k, v, attn_mask=torch.arange(k.shape[-2])[None, :] <= last_seen[:, None])


@function("pytorch#184180", "scaled_dot_product_attention")
def mask_of_the_first_batch(attention, q, k, v, *, attn_mask):
    return attention(q, k, v, attn_mask=attn_mask[:1].expand_as(attn_mask))


@function("pytorch#182285", "scaled_dot_product_attention")
def no_mask(attention, q, k, v, *, attn_mask):
    return attention(q, k, v)


@function("pytorch#156707", "scaled_dot_product_attention")
def softmax_of_nothing(attention, q, k, v, *, attn_mask):
    return (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~attn_mask, float("-inf")).softmax(-1) @ v
