"""Shapes and sizes that a kernel did not foresee: dimensions of one, 2**16 or 2**32 elements, uneven windows."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, normal, reproduces, uniform


@reproduces("pytorch#190060", right=[[4.0, 6.0, 8.0, 10.0]])
def embedding_bag_with_a_closing_offset(device: torch.device) -> Values:
    """Sum a bag that ends before the last index does."""
    table, indices, offsets = torch.arange(16.0).reshape(4, 4), torch.tensor([0, 1, 2]), torch.tensor([0, 2])
    return functional.embedding_bag(
        indices.to(device), table.to(device), offsets.to(device), mode="sum", include_last_offset=True
    )


@reproduces("pytorch#190064")
def adaptive_max_pooling_that_does_not_divide(device: torch.device) -> Values:
    """Pool 5x5 numbers to 3x3."""
    return functional.adaptive_max_pool2d(torch.arange(25.0).reshape(1, 1, 5, 5).to(device), 3)


@reproduces("pytorch#189960", right=True, small={"rows": 33, "columns": 32})
def concatenation_beyond_two_billion(device: torch.device, rows: int = 32_769, columns: int = 32_768) -> bool:
    """Concatenate bytes to more than 2**31; is the last row right?"""
    parts = [torch.full((rows, columns), value, dtype=torch.int8, device=device) for value in (1, 2)]
    return torch.cat(parts, 1)[-1].cpu().tolist() == [1] * columns + [2] * columns


@reproduces("pytorch#188335", right=256.0, tolerance=1e-2)
def convolution_with_a_long_kernel(device: torch.device) -> Values:
    """Convolve 300 ones with a kernel of 256 ones."""
    return functional.conv2d(torch.ones(1, 1, 1, 300).to(device), torch.ones(1, 1, 1, 256).to(device))


@reproduces("pytorch#174861", tolerance=2e-2)
def decoding_with_grouped_heads(device: torch.device) -> Values:
    """Attend twice in bfloat16 from one position to 1024, with 16 queries for each key and value head."""
    q = normal(1, 32, 1, 128, dtype=torch.bfloat16).to(device)
    k = normal(1, 2, 1024, 128, seed=1, dtype=torch.bfloat16).to(device)
    return tuple(functional.scaled_dot_product_attention(q, k, k, enable_gqa=True) for _ in range(2))


@reproduces("pytorch#176767", tolerance=1e-4)
def attention_with_narrow_values(device: torch.device) -> Values:
    """Attend with values of width 2 and queries of width 4."""
    q, v = uniform(1, 1, 8, 4).to(device), uniform(1, 1, 8, 2, seed=1).to(device)
    return functional.scaled_dot_product_attention(q, q, v)


@reproduces("pytorch#183885", right=[True, True], small={"columns": 4097})
def argsort_along_a_long_first_dimension(device: torch.device, columns: int = 2**22 + 1) -> list[bool]:
    """Sort three rows of 2**22 + 1 numbers along the first dimension; are indices in range, and results in order?"""
    x = uniform(3, columns)
    found = x.to(device).argsort(0).cpu()
    inside = bool(((found >= 0) & (found < 3)).all())
    return [inside, inside and bool((x.gather(0, found).diff(dim=0) >= 0).all())]


@reproduces("pytorch#185663", right=True, small={"length": 36})
def fold_beyond_four_billion(device: torch.device, length: int = 21_846 * 21_846) -> bool:
    """Fold windows of 3x3 whose values are more than 2**32; is the far corner right?"""
    side = round(length**0.5)
    folded = functional.fold(torch.ones(1, 9, length, device=device), side + 2, 3)
    return folded[0, 0, -3:, -3:].cpu().tolist() == [[9.0, 6.0, 3.0], [6.0, 4.0, 2.0], [3.0, 2.0, 1.0]]


@reproduces("pytorch#132732", right=[[[1.0]], [[1.0]]])
def sum_over_a_middle_dimension(device: torch.device) -> Values:
    """Sum ones of shape (1, 2, 1, 1, 1) over the third dimension, which has size one."""
    return torch.ones(1, 2, 1, 1, 1, device=device).sum(-3)[0]


@reproduces("pytorch#129207", right=1.0)
def convolution_with_many_channels(device: torch.device) -> Values:
    """Convolve one number to 65,537 output channels."""
    return functional.conv1d(torch.ones(1, 1, 1).to(device), torch.ones(65_537, 1, 1).to(device))


@reproduces("pytorch#124335", right=True, small={"elements": 2**20})
def copy_of_four_gibibytes(device: torch.device, elements: int = 2**30) -> bool:
    """Copy 4 GiB of ones to the device; do all arrive?"""
    return bool((torch.ones(elements).to(device) == 1).all().cpu())


@reproduces("pytorch#122916", right=True, small={"elements": 200_000})
def positions_in_a_long_tensor(device: torch.device, elements: int = 34_000_000) -> bool:
    """Find every second position of 34 million, of which half are above 2**24; are the positions right?"""
    found = torch.where((torch.arange(elements, device=device, dtype=torch.int32) % 2) == 1)[0]
    return found.shape == (elements // 2,) and bool((found == torch.arange(1, elements, 2, device=device)).all().cpu())


@reproduces("pytorch#104879", right=[0, 1])
def unique_of_three_dimensions(device: torch.device) -> Values:
    """Find the unique values of a three-dimensional tensor."""
    return torch.unique(torch.tensor([[[0, 1]]]).to(device))


@reproduces("pytorch#98266", right=[[1.0, 2.0, 3.0]])
def flip_of_a_dimension_of_one(device: torch.device) -> Values:
    """Flip one row of three numbers along its first dimension."""
    return torch.tensor([[1.0, 2.0, 3.0]]).to(device).flip(0)


@reproduces("pytorch#78915", right=list(range(29, -1, -1)))
def more_than_sixteen_largest(device: torch.device) -> Values:
    """Find the 30 largest of 30 numbers."""
    return torch.arange(30.0).to(device).topk(30)[0]


@reproduces("pytorch#134430", right=[[[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 11.0, 13.0, 15.0, 17.0, 19.0]]])
def nearest_exact_interpolation(device: torch.device) -> Values:
    """Interpolate the numbers 0 to 19 at 11 places by the nearest."""
    return functional.interpolate(torch.arange(20.0)[None, None].to(device), size=(11,), mode="nearest-exact")
