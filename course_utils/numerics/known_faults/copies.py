"""Copies between the device and the CPU."""

from __future__ import annotations

import torch

from course_utils.numerics.known_faults.reproducer import Values, reproduces


@reproduces("pytorch#197715")
def copy_to_float64_on_the_cpu(device: torch.device) -> Values:
    """Copy float32 numbers into float64 on the CPU, in two ways; a refusal is right too."""
    x, y = torch.arange(1.0, 9.0), torch.full((8,), 7.0, dtype=torch.float64)
    y.copy_(x.to(device))
    return y, x.to(device).to("cpu", torch.float64)


@reproduces("pytorch#189961", right=[float(i) if i % 2 == 0 else 0.0 for i in range(20)])
def copy_between_views_with_gaps(device: torch.device) -> Values:
    """Copy every second number into every second place on the CPU; the places between stay 0."""
    y = torch.zeros(20)
    y[::2].copy_(torch.arange(20.0, device=device)[::2])
    return y


@reproduces("pytorch#189563", right=[i + 0.25 for i in range(8)])
def source_of_a_converting_copy(device: torch.device) -> Values:
    """Copy to float16 on the CPU, into a view that begins later, and return the source."""
    source = (torch.arange(8.0) + 0.25).to(device)
    torch.empty(10, dtype=torch.float16)[2:].copy_(source)
    return source


@reproduces("pytorch#189690", right=True)
def copies_of_short_lived_tensors(device: torch.device) -> bool:
    """Copy 300 tensors without waiting, each freed and replaced at once; do all arrive?"""
    copies = []
    for i in range(300):
        copies.append(torch.full((1000,), float(i)).to(device, non_blocking=True))
        torch.full((1000,), -1.0)
    return all(bool((copy.cpu() == i).all()) for i, copy in enumerate(copies))


@reproduces("pytorch#139550", right=[float(i) for i in range(20)])
def copies_that_do_not_wait(device: torch.device) -> Values:
    """Copy 20 tensors without waiting, the sources kept, and return the largest number of each."""
    sources = [torch.full((1000,), float(i)) for i in range(20)]
    return torch.stack([source.to(device, non_blocking=True).max() for source in sources])
