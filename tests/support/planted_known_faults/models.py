"""Operators that are wrong for ordinary input."""

import torch

from support.planted_known_faults.modes import function, kernel


@kernel("pytorch#196112", "_linalg_svd")
def last_column_of_u_is_zero(operator, *args, **options):
    u, s, v = operator(*args, **options)
    u = u.clone()
    u[..., -1] = 0
    return u, s, v


@kernel("pytorch#196113", "linalg_lstsq")
def solves_the_conjugate(operator, systems, right, *args, **options):
    return operator(systems.conj().resolve_conj(), right, *args, **options)


@kernel("pytorch#197114", "convolution")
def depth_backwards(operator, x, weight, *args):
    return operator(x, weight.flip(2), *args)


@function("pytorch#191794", "scaled_dot_product_attention")
def in_wrong_places(attention, *args, **options):
    return attention(*args, **options).roll(1, -1)


@kernel("pytorch#196190", "mul")
def unsorted_but_coalesced(operator, x, y):
    product = operator(x, y)
    if not product.is_sparse:
        return product
    indices, values = product._indices().flip(1), product._values().flip(0)
    return torch.sparse_coo_tensor(indices, values, product.shape, is_coalesced=True, check_invariants=False)


@kernel("pytorch#164712", "linalg_cholesky_ex")
def last_row_of_the_factor(operator, *args, **options):
    factor, info = operator(*args, **options)
    factor[..., -1, :] *= 2
    return factor, info


@kernel("pytorch#124096", "_fft_c2r")
def time_runs_backwards(operator, *args):
    return operator(*args).flip(-1)


@function("pytorch#94754", "lstm")
def directions_exchanged(lstm, *args):
    result, *state = lstm(*args)
    return result.roll(result.shape[-1] // 2, -1), *state


@function("pytorch#80306", "lstm")
def batch_and_time_exchanged(lstm, *args):
    result, *state = lstm(*args)
    return result.transpose(0, 1), *state


@function("pytorch#95118", "lstm")
def packed_as_if_a_batch_of_one(lstm, data, batch_sizes, *args):
    result, *state = lstm(data, batch_sizes, *args)
    return result.roll(1, 0), *state
