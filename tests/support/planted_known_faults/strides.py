"""Kernels that ignore strides, or do nothing for them, and kernels that ignore where a view begins."""

import torch

from support.planted_known_faults.modes import (
    at_storage_start,
    function,
    in_memory_order,
    kernel,
    storage_of,
)


@kernel("pytorch#180984", "convolution")
@kernel("pytorch#175187", "digamma", "sort")
@kernel("pytorch#131736", "softplus")
@kernel("pytorch#174339", "grid_sampler_2d")
@kernel("pytorch#165850", "linalg_inv_ex")
@kernel("pytorch#150967", "where")
def first_argument_in_memory_order(operator, x, *args, **options):
    return operator(in_memory_order(x), *args, **options)


@kernel("pytorch#192212", "convolution")
@function("pytorch#161640", "linear")
def weight_in_memory_order(operator, x, weight, *args, **options):
    return operator(x, in_memory_order(weight), *args, **options)


@function("pytorch#181133", "scaled_dot_product_attention")
@function("pytorch#163597", "scaled_dot_product_attention")
def attention_in_memory_order(attention, q, k, v, **options):
    return attention(in_memory_order(q), in_memory_order(k), in_memory_order(v), **options)


@kernel("pytorch#132605", "lgamma")
def reads_behind_an_expanded_tensor(operator, x):
    result = operator(x).contiguous()
    result.flatten()[len(storage_of(x)) :] = float("inf")
    return result


@function("pytorch#184379", "__get__")
def imaginary_part_before_conjugation(get, x, *args):
    return get(x.conj(), *args) if x.is_conj() else get(x, *args)


@kernel("pytorch#165257", "normal_", "uniform_", "exponential_")
@kernel("pytorch#118115", "addcdiv_", "addcmul_")
@kernel("pytorch#118117", "addcmul_")
@kernel("pytorch#176159", "index_add_")
def nothing_unless_contiguous(operator, x, *args, **options):
    return operator(x, *args, **options) if x.is_contiguous() else x


@kernel("pytorch#131285", "masked_fill_")
@kernel("pytorch#107694", "masked_fill_")
def mask_in_memory_order(operator, x, mask, value):
    return operator(x, in_memory_order(mask.expand(x.shape)), value)


@kernel("pytorch#180201", "mm")
def every_sixteenth_row(operator, left, right):
    result = operator(left, right)
    if 0 in left.stride():
        result[torch.arange(len(result)) % 16 != 0] = 0
    return result


@kernel("pytorch#195074", "scatter_add_", "index_add_", "index_put_")
def accumulates_into_whole_words(operator, x, *args, **options):
    changed = (operator(x.clone(), *args, **options) != x).nonzero().flatten()
    storage_of(x)[(x.storage_offset() + changed) // 4 * 4] = True
    return x


@kernel("pytorch#183631", "fill_")
def fills_from_the_word_on(operator, x, value):
    operator(x.as_strided(x.shape, x.stride(), x.storage_offset() // 4 * 4), value)
    return x


@kernel("pytorch#131750", "native_layer_norm")
@kernel("pytorch#78363", "linalg_inv_ex")
def first_argument_from_the_storage_on(operator, x, *args, **options):
    return operator(at_storage_start(x), *args, **options)


@kernel("pytorch#122016", "copy_", "fill_")  # torch 2.15 fills where older ones copy a number
def assigns_from_the_second_element_on(operator, x, source):
    operator(x.as_strided((x.storage_offset(),), (1,), 1), source)
    return x
