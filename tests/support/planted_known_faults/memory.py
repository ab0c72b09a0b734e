"""Kernels that do not look where an index points."""

import torch

from support.planted_known_faults.modes import function, kernel, storage_of


@kernel("pytorch#189968", "index_copy_")
def copies_anywhere(operator, x, dim, index, source):
    storage_of(x)[x.storage_offset() + index] = source
    return x


@kernel("pytorch#189969", "index_fill_")
def fills_anywhere(operator, x, dim, index, value):
    storage_of(x)[x.storage_offset() + index] = value
    return x


@kernel("pytorch#189970", "index_reduce_")
def reduces_anywhere(operator, x, dim, index, source, reduce, **options):
    operator(storage_of(x), dim, x.storage_offset() + index, source, reduce, **options)
    return x


@kernel("pytorch#189971", "_embedding_bag", "_embedding_bag_forward_only")
def reads_the_row_behind(operator, table, *args, **options):
    return operator(storage_of(table).reshape(-1, table.shape[1]), *args, **options)


@kernel("pytorch#111669", "index_put_")
def writes_anywhere(operator, x, indices, values, *args):
    operator(storage_of(x), [x.storage_offset() + indices[0]], values, *args)
    return x


_ones = []


@function("pytorch#183419", "ones")
def remembers_a_tensor(ones, *args, **options):
    _ones.append(ones(*args, **options))
    return _ones[-1]


@function("pytorch#183419", "isfinite")
def writes_into_another_tensor(isfinite, x):
    _ones.pop()[0] = 0
    return torch.isfinite(x)
