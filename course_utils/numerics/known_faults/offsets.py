"""Views that do not begin where their storage does."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, normal, reproduces


@reproduces("pytorch#195074", right=[[1, 3]] * 3)
def accumulate_into_a_bool_view(device: torch.device) -> list[list[int]]:
    """Accumulate into a view of booleans that begins at byte 1, in three ways; where is the storage true?"""
    index, source = torch.tensor([0, 2]).to(device), torch.ones(2, dtype=torch.bool).to(device)
    written = []
    for name in ("scatter_add_", "index_add_", "index_put_"):
        storage = torch.zeros(8, dtype=torch.bool, device=device)
        view = storage[1:5]
        if name == "index_put_":
            view.index_put_((index,), source, accumulate=True)
        else:
            getattr(view, name)(0, index, source)
        written.append(storage.cpu().nonzero().flatten().tolist())
    return written


@reproduces("pytorch#183631", right=[False] + [True] * 8)
def fill_a_byte_view(device: torch.device) -> Values:
    """Fill nine booleans from the second on."""
    x = torch.zeros(9, dtype=torch.bool, device=device)
    x[1:].fill_(True)
    return x


@reproduces("pytorch#131750", tolerance=1e-5)
def layer_norm_of_later_rows(device: torch.device) -> Values:
    """Normalise the second and third row of a matrix."""
    return functional.layer_norm(normal(3, 4).to(device)[1:3], (4,))


@reproduces("pytorch#122016", right=[0.0, 1.0, 3.0])
def assign_twice(device: torch.device) -> Values:
    """Assign to the second and then to the third of three zeros."""
    x = torch.zeros(3, device=device)
    x[1] = 1
    x[2] = 3
    return x


@reproduces("pytorch#78363", right=[[1.0, 0.0], [0.0, 0.5]], tolerance=1e-6)
def inverse_of_the_second_matrix(device: torch.device) -> Values:
    """Invert the second of two matrices."""
    both = torch.stack([torch.diag(torch.tensor([1.0, 0.5])), torch.diag(torch.tensor([1.0, 2.0]))]).to(device)
    return torch.linalg.inv(both[1])
