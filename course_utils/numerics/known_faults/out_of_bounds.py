"""Indices outside a tensor: the CPU raises IndexError, and memory beside the tensor stays as it was.

Everything written stays inside a tensor of the reproducer, so that nothing else is damaged.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import refused, reproduces


@reproduces("pytorch#189968", right=True)
def index_copy_behind_a_view(device: torch.device) -> bool:
    """Copy to index 8 of a view of five; is that refused, or the storage left alone?"""
    storage, source = torch.zeros(64, device=device), torch.tensor([999.0]).to(device)
    index = torch.tensor([8]).to(device)
    return refused(lambda: storage[:5].index_copy_(0, index, source), device) or _all(storage, 0)


@reproduces("pytorch#189969", right=True)
def index_fill_behind_a_view(device: torch.device) -> bool:
    """Fill index 40 of a view of 32; is that refused, or the storage left alone?"""
    storage, index = torch.zeros(64, device=device), torch.tensor([40]).to(device)
    return refused(lambda: storage[:32].index_fill_(0, index, 7.0), device) or _all(storage, 0)


@reproduces("pytorch#189970", right=True)
def index_reduce_behind_a_view(device: torch.device) -> bool:
    """Reduce to index 11 of a view of five; is that refused, or the storage left alone?"""
    storage, source = torch.ones(64, device=device), torch.tensor([88.0]).to(device)
    index = torch.tensor([11]).to(device)
    return refused(lambda: storage[:5].index_reduce_(0, index, source, "amax"), device) or _all(storage, 1)


@reproduces("pytorch#189971", right=True)
def embedding_bag_behind_its_table(device: torch.device) -> bool:
    """Look up row 5 of a table of five; is that refused?"""
    table, row, offset = torch.arange(18.0).reshape(6, 3).to(device), torch.tensor([5]), torch.tensor([0])
    row, offset = row.to(device), offset.to(device)
    return refused(lambda: functional.embedding_bag(row, table[:5], offset, mode="sum").cpu(), device)


@reproduces("pytorch#111669", right=True)
def assignment_behind_a_view(device: torch.device) -> bool:
    """Assign to index 3 of a view of two; is that refused, or the storage left alone?"""
    storage, index = torch.zeros(4, device=device), torch.tensor([3]).to(device)
    return refused(lambda: storage[:2].index_put_((index,), torch.tensor(-1.0).to(device)), device) or _all(storage, 0)


@reproduces("pytorch#183419", right=[True, True], small={"rows": 2000})
def finite_numbers_of_a_column_slice(device: torch.device, rows: int = 1_500_000) -> list[bool]:
    """Look for infinities in 46 columns of a matrix of 1.5 million rows; is another tensor changed?"""
    big, other = torch.zeros(rows, 464, device=device), torch.ones(1000, device=device)
    return [bool(torch.isfinite(big[:, 10:56]).all().cpu()), _all(other, 1)]


def _all(tensor: torch.Tensor, value: float) -> bool:
    return bool((tensor.cpu() == value).all())
