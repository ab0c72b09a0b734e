"""Integers that pass through float32, stop at the end of their type, or are not computed at all."""

from __future__ import annotations

import torch

from course_utils.numerics.known_faults.reproducer import Values, reproduces


@reproduces("pytorch#195595", right=0)
def unique_with_inverse_of_large_keys(device: torch.device) -> int:
    """Find the unique values of 200,000 keys up to 450 million; how many does the inverse not give back?"""
    keys = 450_000_000 - torch.arange(200_000) // 2
    values, inverse = torch.unique(keys.to(device), return_inverse=True)
    return int((values[inverse].cpu() != keys).sum())


@reproduces("pytorch#190052", right=[2**24 + 1, 2**33 + 7])
def absolute_value_of_large_integers(device: torch.device) -> Values:
    """Compute the absolute value of integers beyond 2**24."""
    return torch.tensor([-(2**24 + 1), -(2**33 + 7)]).to(device).abs()


@reproduces("pytorch#187976", right=[5, -5])
def smallest_and_largest_of_a_short_row(device: torch.device) -> Values:
    """Find the smallest of 5 to 9, and the largest of -5 to -9, in int64."""
    x = torch.arange(5, 10).to(device)
    return torch.stack([x.amin(), (-x).amax()])


@reproduces("pytorch#179415", right=16)
def sum_of_bytes(device: torch.device) -> Values:
    """Sum bytes to 272 in uint8, which wraps around to 16."""
    return torch.tensor([255, 2, 1, 5, 3, 6], dtype=torch.uint8).to(device).sum(dtype=torch.uint8)


@reproduces("pytorch#154171", right=6)
def remainder_of_a_large_integer(device: torch.device) -> Values:
    """Compute 42,309,891 modulo 31."""
    return torch.tensor(42_309_891).to(device) % 31


@reproduces("pytorch#96614", right=300)
def running_sum_of_booleans(device: torch.device) -> Values:
    """Count 300 times true with a running sum."""
    return torch.ones(300, dtype=torch.bool, device=device).cumsum(0)[-1]


@reproduces("pytorch#92311", right=[1, 0, 0])
def position_of_the_largest_integer(device: torch.device) -> Values:
    """Find the position of the largest integer of each row."""
    return torch.tensor([[0, 1], [2, 1], [1, 0]]).to(device).argmax(1)


@reproduces("pytorch#90635", right=[[1, 2, 3, 4]] * 3)
def running_sum_of_integers(device: torch.device) -> Values:
    """Compute running sums in int64, int16 and int8."""
    dtypes = (torch.int64, torch.int16, torch.int8)
    return [torch.ones(4, dtype=dtype, device=device).cumsum(0, dtype=dtype) for dtype in dtypes]
