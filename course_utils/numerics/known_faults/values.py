"""Certain values: NaN, infinities, signed zeros, nearly equal numbers, long distances."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, compiled, normal, reproduces

NAN, INF = float("nan"), float("inf")
LARGEST = torch.finfo(torch.float32).max


@reproduces("pytorch#187521", right=1.0)
def baddbmm_that_ignores_its_input(device: torch.device) -> Values:
    """Add a product to NaN with beta = 0, which leaves the NaN out."""
    one = torch.ones(1, 1, 1).to(device)
    return torch.baddbmm(torch.full((1, 1, 1), NAN).to(device), one, one, beta=0)


@reproduces("pytorch#143976", right=NAN)
def larger_and_smaller_of_nan(device: torch.device) -> Values:
    """Take the larger and the smaller of two numbers, one of which is NaN."""
    x, y = torch.tensor([NAN, 1.0]).to(device), torch.tensor([2.0, NAN]).to(device)
    return torch.maximum(x, y), torch.minimum(x, y)


@reproduces("pytorch#196203", right=[NAN, 1.0])
def largest_by_index_of_nan(device: torch.device) -> Values:
    """Reduce NaN and 1 by index to the largest, one number for each place (a second write can hang scatter_reduce)."""
    source = torch.tensor([NAN, 1.0]).to(device)
    index = torch.tensor([0, 1]).to(device)
    return torch.zeros(2, device=device).index_reduce_(0, index, source, "amax", include_self=False)


@reproduces("pytorch#190491", tolerance=1e-2)
def layer_norm_of_nearly_equal_numbers(device: torch.device) -> Values:
    """Normalise numbers of +-9.9e-4 with eps = 1e-12."""
    x = torch.tensor([[-9.9e-4, -9.9e-4, 9.9e-4, 9.9e-4]])
    return functional.layer_norm(x.to(device), (4,), eps=1e-12)


@reproduces("pytorch#191976", tolerance=1e-4)
def compiled_layer_norm(device: torch.device) -> Values:
    """Normalise four rows of 512 numbers with a compiled layer (compiled on MPS only)."""
    return compiled(lambda x: functional.layer_norm(x, (512,)), device)(normal(4, 512).to(device))


@reproduces("pytorch#184620", right=[[True, True]] * 3)
def sort_of_extreme_values(device: torch.device) -> list[list[bool]]:
    """Sort booleans, NaN and the largest int32; are indices in range, and no value lost?"""
    answers = []
    for values in (
        torch.tensor([True, False, True, False, True]),
        torch.tensor([1.0, NAN, 2.0]),
        torch.tensor([1, 2**31 - 1, 2], dtype=torch.int32),
    ):
        index = torch.sort(values.to(device))[1].cpu()
        inside = bool(((index >= 0) & (index < len(values))).all())
        answers.append([inside, sorted(index.tolist()) == list(range(len(values)))])
    return answers


@reproduces("pytorch#192507", right=[LARGEST, INF])
def hypot_of_extreme_values(device: torch.device) -> Values:
    """Compute hypot of the largest float32 and 1, and of infinity and NaN."""
    return torch.hypot(torch.tensor([LARGEST, INF]).to(device), torch.tensor([1.0, NAN]).to(device))


@reproduces("pytorch#189243", right=[NAN, -1.0])
def floor_division_of_infinities(device: torch.device) -> Values:
    """Divide infinity by 1, and 1 by minus infinity, rounding down."""
    return torch.floor_divide(torch.tensor([INF, 1.0]).to(device), torch.tensor([1.0, -INF]).to(device))


@reproduces("pytorch#120899", right=[NAN, 1.0])
def clamp_of_nan(device: torch.device) -> Values:
    """Clamp NaN and 1 to -100 and 100."""
    return torch.tensor([NAN, 1.0]).to(device).clamp(-100, 100)


@reproduces("pytorch#94043", tolerance=1e-3)
def log_softmax_of_a_wide_spread(device: torch.device) -> Values:
    """Compute log_softmax of -245, 74 and 57."""
    return torch.tensor([[-245.0, 74.0, 57.0]]).to(device).log_softmax(-1)


@reproduces("pytorch#91198", right=[55 / 6, (55 / 6) ** 0.5], tolerance=1e-4)
def variance_by_default(device: torch.device) -> Values:
    """Compute variance and standard deviation of 0 to 9, which divide by n - 1."""
    x = torch.arange(10.0).to(device)
    return torch.stack([x.var(), x.std()])


@reproduces("pytorch#144245", right=[[[1.0] * 3], [[2.0] * 3], [[4.0] * 3]])
def interpolation_from_one_sample(device: torch.device) -> Values:
    """Interpolate one sample to three with aligned corners."""
    x = torch.tensor([[[1.0]], [[2.0]], [[4.0]]]).to(device)
    return functional.interpolate(x, 3, mode="linear", align_corners=True)


@reproduces("pytorch#100005")
def causal_mask_of_infinities(device: torch.device) -> Values:
    """Keep the upper triangle of minus infinity, which is a causal mask."""
    return torch.triu(torch.full((1, 1, 10, 10), -INF).to(device), diagonal=1)


@reproduces("pytorch#195076", right=[[1.0, 0.0]] * 2)
def histogram_beside_its_edges(device: torch.device) -> Values:
    """Count 0.5 and a number just outside the edges 0 and 2."""
    edges = torch.tensor([0.0, 1.0, 2.0]).to(device)
    return [torch.histogram(torch.tensor([0.5, x]).to(device), bins=edges)[0] for x in (-1e-6, 2.000001)]


@reproduces("pytorch#130295", right=[5, 5])
def position_of_nan(device: torch.device) -> Values:
    """Find the largest and the smallest of 32 numbers, one of which is NaN."""
    x = torch.arange(32.0)
    x[5] = NAN
    return torch.stack([x.to(device).argmax(), x.to(device).argmin()])
