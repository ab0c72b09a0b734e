"""Results that change from call to call, or depend on an earlier call. A right answer does not rule these out."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, normal, reproduces, uniform


@reproduces("pytorch#197235", tolerance=1e-4)
def variance_five_times(device: torch.device) -> Values:
    """Compute the variance of 3.7 million numbers five times."""
    x = uniform(10, 3, 352, 352).to(device)
    return torch.stack([x.var() for _ in range(5)])


@reproduces("pytorch#180776", right=0.0, tolerance=4.0)
def linear_without_bias_ten_times(device: torch.device) -> Values:
    """Apply a linear layer without bias in bfloat16 ten times, and subtract the first result."""
    x, weight = (normal(*shape, dtype=torch.bfloat16).to(device) for shape in ((2, 13, 1024), (1024, 1024)))
    first = functional.linear(x, weight)
    return torch.stack([(functional.linear(x, weight) - first).abs().max() for _ in range(10)]).float()


@reproduces("pytorch#178497", right=0.0, tolerance=1.0, small={"rows": 21})
def sum_two_hundred_times(device: torch.device, rows: int = 2100) -> Values:
    """Compute the sum of 8.6 million numbers two hundred times in a row, and subtract the first result."""
    x = uniform(16, rows, 256).to(device)
    sums = torch.stack([x.sum() for _ in range(200)])
    return sums - sums[0]


@reproduces("pytorch#97231", right=[1.0, 2.0, 3.0], tolerance=1e-6)
def norm_after_another_norm(device: torch.device) -> Values:
    """Compute the norm of a matrix, and then the norms of its columns."""
    x = torch.tensor([[1.0, 2.0, 3.0]]).to(device)
    x.norm(2)
    return x.norm(2, dim=0)
