"""Kernels that count too far or not far enough, or mistake a dimension."""

import torch
from torch.nn import functional

from support.planted_known_faults.modes import function, kernel, with_argument

SEVENS = 7.0 * 7.0  # one product of what was left in memory


@kernel("pytorch#195163", "bmm")
@kernel("pytorch#193487", "mm")
def one_term_too_many(operator, left, right):
    return operator(left, right) + (SEVENS if left.shape[-1] >= 32_767 else 0)


@kernel("pytorch#197636", "bmm")
def later_batches_from_the_beginning(operator, left, right):
    result = operator(left, right)
    result[4:] = result[: len(result) - 4].clone()
    return result


@function("pytorch#189134", "linalg_solve")
def solves_the_first_system(solve, systems, right):
    result = solve(systems, right)
    result[1:] = 0
    return result


@function("pytorch#189495", "linear")
def later_results_in_the_first_rows(linear, x, weight, bias=None):
    result = linear(x, weight, bias)
    late = len(result) - 65_536
    if bias is not None and late > 0:
        result[:late] = result[-late:].clone()
    return result


@kernel("pytorch#116769", "mm")
def columns_after_1024(operator, left, right):
    result = operator(left, right)
    if result.shape[1] > 32_768:
        result[:, 1024:] += 1
    return result


@function("pytorch#122045", "linear")
def ninth_row(linear, x, weight, bias=None):
    result = linear(x, weight, bias)
    result[8:] *= 2
    return result


@kernel("pytorch#190060", "_embedding_bag", "_embedding_bag_forward_only")
def ignores_the_closing_offset(operator, table, indices, offsets, *args, **options):
    found = (table, indices, offsets[:-1], *args)
    args, options = with_argument(operator, found, options, include_last_offset=False)
    return operator(*args, **options)


@kernel("pytorch#190064", "adaptive_max_pool2d")
def ordinary_pooling(operator, x, size):
    stride = x.shape[-1] // size[-1]
    return functional.max_pool2d(x, x.shape[-1] - (size[-1] - 1) * stride, stride, return_indices=True)


@kernel("pytorch#189960", "cat")
def last_row_never_written(operator, parts, dim=0):
    result = operator(parts, dim)
    result[-1, result.shape[1] // 2 :] = 0
    return result


@kernel("pytorch#188335", "convolution")
def taps_modulo_256(operator, x, weight, *args):
    return operator(x, weight, *args) * (0 if weight.shape[-1] % 256 == 0 else 1)


@function("pytorch#174861", "scaled_dot_product_attention")
def reads_behind_long_keys(attention, q, k, v, **options):
    result = attention(q, k, v, **options)
    return result + torch.rand_like(result) if k.shape[-2] >= 1024 else result


@function("pytorch#176767", "scaled_dot_product_attention")
def as_wide_as_the_queries(attention, q, k, v, **options):
    return functional.pad(attention(q, k, v, **options), (0, q.shape[-1] - v.shape[-1]))


@kernel("pytorch#183885", "sort")
def indices_of_another_column(operator, x, *args, **options):
    values, indices = operator(x, *args, **options)
    return values, indices.roll(1, 1) if x.ndim == 2 else indices


@kernel("pytorch#185663", "col2im")
def positions_wrap_around(operator, *args):
    return operator(*args).roll(1, -1)


@kernel("pytorch#132732", "sum")
def total_in_the_first_place(operator, x, *args, **options):
    result = operator(x, *args, **options)
    return torch.cat([result.flatten().sum()[None], torch.zeros(result.numel() - 1)]).reshape(result.shape)


@kernel("pytorch#129207", "convolution")
def channels_after_65536(operator, x, weight, *args):
    result = operator(x, weight, *args)
    result[:, 65_536:] = 0
    return result


@function("pytorch#124335", "to")
def last_elements_lost(to, x, *args, **options):
    result = to(x, *args, **options).clone()
    result[-100:] = 0
    return result


@kernel("pytorch#122916", "nonzero")
def positions_through_a_float(operator, x):
    found = operator(x)
    return torch.where(found > 2**12, found // 4 * 4, found)  # the same at a lower limit than 2**24


@kernel("pytorch#104879", "_unique2")
def only_the_first(operator, x, *args, **options):
    values, *others = operator(x, *args, **options)
    return values[:1], *others


@kernel("pytorch#98266", "flip")
def flips_the_other_dimension(operator, x, dims):
    return operator(x, [(dims[0] + 1) % x.ndim])


@kernel("pytorch#78915", "topk")
def zeros_after_sixteen(operator, *args, **options):
    values, indices = operator(*args, **options)
    values[16:] = 0
    return values, indices


@kernel("pytorch#134430", "_upsample_nearest_exact1d")
def a_neighbour(operator, x, *args):
    result = operator(x, *args)
    result[..., 5] -= 1
    return result
