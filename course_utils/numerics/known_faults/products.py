"""Matrix products and linear layers at sizes that overflow a kernel's counters or overrun its operands."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, leave_junk, normal, reproduces


@reproduces("pytorch#195163", tolerance=0.05)
def bmm_with_a_long_inner_dimension(device: torch.device) -> Values:
    """Multiply a batch with 32,800 terms for each sum, after sevens were left in memory."""
    leave_junk(device, 7.0)
    return torch.bmm(normal(1, 16, 32_800).to(device), normal(1, 32_800, 16, seed=1).to(device))


@reproduces("pytorch#193487", tolerance=0.05)
def product_with_a_long_inner_dimension(device: torch.device) -> Values:
    """Multiply matrices with 40,000, 32,768 and 32,767 terms for each sum, after sevens were left in memory."""
    products = []
    for terms in (40_000, 32_768, 32_767):
        leave_junk(device, 7.0)
        products.append(normal(16, terms).to(device) @ normal(terms, 16, seed=1).to(device))
    return tuple(products)


@reproduces("pytorch#197636", right=True, small={"batch": 6, "length": 16})
def bmm_beyond_four_billion(device: torch.device, batch: int = 65_552, length: int = 256) -> bool:
    """Multiply a batch whose left operand has more than 2**32 elements; is the last result right?"""
    left = torch.ones(batch, length, length, device=device)
    right = (torch.arange(batch, device=device) % 7).float().reshape(batch, 1, 1).expand(batch, length, 64)
    last = torch.bmm(left, right.contiguous())[-1].cpu()
    return bool((last == length * ((batch - 1) % 7)).all())


@reproduces("pytorch#189134", right=[[[0.5]] * 3, [[0.25]] * 3], tolerance=1e-6)
def solve_with_one_right_hand_side(device: torch.device) -> Values:
    """Solve two systems that share one right-hand side."""
    systems = torch.stack([2 * torch.eye(3), 4 * torch.eye(3)]).to(device)
    return torch.linalg.solve(systems, torch.ones(3, 1).to(device))


@reproduces("pytorch#189495")
def linear_with_bias_beyond_65536(device: torch.device) -> Values:
    """Apply a linear layer with bias to 65,600 inputs of size 1x1."""
    x = torch.arange(65_600.0).reshape(65_600, 1, 1)
    return functional.linear(x.to(device), torch.ones(1, 1).to(device), torch.ones(1).to(device))


@reproduces("pytorch#116769", right=[True, True], small={"rows": 5})
def product_with_many_columns(device: torch.device, rows: int = 1025) -> list[bool]:
    """Multiply 1025 zeros, and then 1025 ones, by a row of 32,769 ones; is every result right?"""
    columns = torch.ones(1, 32_769, device=device)
    factors = torch.zeros(rows, 1, device=device), torch.ones(rows, 1, device=device)
    return [bool((factor @ columns == factor).all().cpu()) for factor in factors]


@reproduces("pytorch#122045", right=True, small={"rows": 9, "vocabulary": 1031})
def linear_to_a_large_vocabulary(device: torch.device, rows: int = 9, vocabulary: int = 50_304) -> bool:
    """Apply a linear layer to 9x1024 tokens and a vocabulary of 50,304; is every result right?"""
    x = torch.ones(rows, 1024, 1, device=device) * 3
    weight = (torch.arange(vocabulary, device=device) % 5).float()[:, None]
    return bool((functional.linear(x, weight) == 3 * weight[:, 0]).all().cpu())
