"""Arithmetic and conversion that depend on the dtype."""

from __future__ import annotations

import torch

from course_utils.numerics.known_faults.reproducer import Values, compiled, reproduces


@reproduces("pytorch#190476", right=1.0078125)
def next_number_in_bfloat16(device: torch.device) -> Values:
    """Find the bfloat16 number that follows 1."""
    one, two = (torch.tensor(value, dtype=torch.bfloat16).to(device) for value in (1.0, 2.0))
    return torch.nextafter(one, two)


@reproduces("pytorch#133100", right=[1.5, 2.0, 3.0])
def clamp_of_integers_by_a_fraction(device: torch.device) -> Values:
    """Clamp the integers 1, 2 and 3 to at least 1.5."""
    return torch.tensor([1, 2, 3]).to(device).clamp_min(1.5)


@reproduces("pytorch#145735", tolerance=0.1)
def compiled_lgamma_in_half_precision(device: torch.device) -> Values:
    """Compute lgamma of numbers from 1/8 to 8 in float16, compiled (on MPS only)."""
    x = torch.arange(1, 64, dtype=torch.float16) / 8
    return compiled(torch.lgamma, device)(x.to(device)).float()


@reproduces("pytorch#82543", tolerance=1e-6)
def subtraction_from_a_number(device: torch.device) -> Values:
    """Subtract 0.49 and 0.8 from 1.0."""
    return 1.0 - torch.tensor([0.49, 0.8]).to(device)


@reproduces("pytorch#80009", right=[0.0, 127.0, 208.0, 255.0])
def bytes_as_floats(device: torch.device) -> Values:
    """Convert bytes above 127 to float32."""
    return torch.tensor([0, 127, 208, 255], dtype=torch.uint8).to(device).float()
