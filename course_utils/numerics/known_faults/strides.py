"""Tensors whose strides are not those of contiguous memory: transposed, permuted, sliced, expanded."""

from __future__ import annotations

import torch
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, gradient, normal, reproduces


@reproduces("pytorch#192212", tolerance=1e-2)
def convolution_with_a_sliced_weight(device: torch.device) -> Values:
    """Convolve with a weight that is a slice of a five-dimensional tensor."""
    weights, x = normal(3, 128, 3, 3, 3).to(device), normal(2, 128, 64, 256, seed=1).to(device)
    return functional.conv2d(x, weights[:, :, 1])


@reproduces("pytorch#180984", tolerance=1e-5)
def convolution_of_a_channel_of_channels_last(device: torch.device) -> Values:
    """Convolve the first channel of a channels_last image."""
    x = normal(1, 2, 4, 4).contiguous(memory_format=torch.channels_last).to(device)
    return functional.conv2d(x[:, :1], normal(1, 1, 1, 1, seed=1).to(device))


@reproduces("pytorch#181133", tolerance=1e-4)
def attention_of_permuted_queries(device: torch.device) -> Values:
    """Attend with queries, keys and values that are permute(0, 2, 1, 3) of a tensor, three positions long."""
    t = normal(84, 3, 3, 64).to(device).permute(0, 2, 1, 3)
    return functional.scaled_dot_product_attention(t, t, t)


@reproduces("pytorch#163597", tolerance=1e-4)
def attention_of_transposed_queries(device: torch.device) -> Values:
    """Attend with queries, keys and values that are a transposed view, 16 positions long."""
    t = normal(2, 16, 4, 64).to(device).transpose(1, 2)
    return functional.scaled_dot_product_attention(t, t, t)


@reproduces("pytorch#175187", tolerance=1e-4)
def digamma_and_sort_of_a_transpose(device: torch.device) -> Values:
    """Compute digamma of a transposed matrix, and sort one along its first dimension."""
    x, y = torch.arange(1.0, 7.0).reshape(2, 3).to(device), torch.tensor([[3.0, 1.0], [4.0, 2.0]]).to(device)
    return torch.digamma(x.t()), y.t().sort(0)[1]


@reproduces("pytorch#132605", right=0.0, tolerance=1e-6)
def lgamma_of_an_expanded_tensor(device: torch.device) -> Values:
    """Compute lgamma of ones that are expanded to ten columns."""
    return torch.lgamma(torch.ones(3, 1).to(device).expand(3, 10))


@reproduces("pytorch#131736", tolerance=1e-5)
def softplus_of_a_transpose(device: torch.device) -> Values:
    """Compute softplus of a transposed matrix."""
    return functional.softplus(torch.arange(-6.0, 6.0).reshape(3, 4).to(device).t())


@reproduces("pytorch#174339", tolerance=1e-3)
def grid_sample_of_channels_last(device: torch.device) -> Values:
    """Sample a channels_last image at its own pixels, and then a contiguous one of the same shape."""
    x = normal(1, 64, 128, 128)
    centres = (torch.arange(128.0) + 0.5) / 64 - 1
    grid = torch.stack(torch.meshgrid(centres, centres, indexing="ij")[::-1], -1)[None].to(device)
    last = x.to(device).contiguous(memory_format=torch.channels_last)
    return tuple(functional.grid_sample(image, grid, align_corners=False) for image in (last, x.to(device)))


@reproduces("pytorch#184379", right=[-2.0, -4.0])
def imaginary_part_of_a_conjugate(device: torch.device) -> Values:
    """Read the imaginary part of a conjugate that is not computed yet."""
    return torch.conj(torch.tensor([1 + 2j, 3 + 4j]).to(device)).imag


@reproduces("pytorch#165257", right=[False] * 3)
def random_fill_of_a_transpose(device: torch.device) -> list[bool]:
    """Fill transposed zeros with random numbers in place, in three ways; do all stay zero?"""
    filled = []
    for fill in (torch.Tensor.normal_, torch.Tensor.uniform_, torch.Tensor.exponential_):
        t = torch.zeros(3, 2, device=device)
        fill(t.t())
        filled.append(bool((t.cpu() == 0).all()))
    return filled


@reproduces("pytorch#165850", tolerance=1e-3)
def inverse_of_transposed_matrices(device: torch.device) -> Values:
    """Invert a batch of transposed 4x4 matrices."""
    matrices = (torch.eye(4) * 2 + torch.arange(16.0).reshape(4, 4) / 20).repeat(300, 1, 1)
    return torch.linalg.inv(matrices.to(device).mT)


@reproduces("pytorch#161640", tolerance=1e-5)
def linear_with_every_second_row(device: torch.device) -> Values:
    """Apply a linear layer whose weight is every second row of a matrix."""
    return functional.linear(normal(3, 4, seed=1).to(device), normal(8, 4).to(device)[::2])


@reproduces("pytorch#150967")
def where_with_a_transposed_condition(device: torch.device) -> Values:
    """Choose between ones and zero by a transposed condition."""
    condition = torch.tensor([[True, False], [True, False]]).to(device)
    return torch.where(condition.T, torch.ones(2, 2).to(device), 0.0)


@reproduces("pytorch#131285")
def masked_fill_with_an_expanded_mask(device: torch.device) -> Values:
    """Fill a permuted tensor by a mask that is expanded over its last dimension."""
    x = torch.arange(24.0).reshape(3, 2, 4).to(device).transpose(1, 2)
    mask = torch.zeros(3, 4, 1, dtype=torch.bool)
    mask[1, 2] = True
    return x.masked_fill_(mask.to(device), -1.0)


@reproduces("pytorch#107694")
def masked_fill_with_a_transposed_mask(device: torch.device) -> Values:
    """Fill zeros by a transposed mask."""
    mask = torch.tensor([[False, False, True, True], [True, True, True, True]]).to(device)
    return torch.zeros(4, 2, device=device).masked_fill_(mask.t(), 1.0)


@reproduces("pytorch#118115", right=[1.0, 1.0])
def in_place_arithmetic_on_a_transpose(device: torch.device) -> list[float]:
    """Add a quotient and a product in place to transposed zeros, as Adam does; return the smallest results."""
    smallest = []
    for operation in (torch.Tensor.addcdiv_, torch.Tensor.addcmul_):
        parameter = torch.zeros(2, 3, device=device).t()
        operation(parameter, torch.ones(3, 2, device=device), torch.ones(3, 2, device=device))
        smallest.append(float(parameter.cpu().min()))
    return smallest


@reproduces("pytorch#118117", right=False)
def rprop_on_a_transpose(device: torch.device) -> bool:
    """Take a step of Rprop with a transposed parameter; does a weight stay where it was?"""
    parameter = torch.nn.Parameter(torch.ones(2, 3, device=device).t())
    optimiser = torch.optim.Rprop([parameter])
    torch.autograd.backward((parameter**2).sum())
    optimiser.step()
    return bool((parameter.detach().cpu() == 1).any())


@reproduces("pytorch#180201", tolerance=1e-5)
def product_of_an_expanded_operand(device: torch.device) -> Values:
    """Multiply a number expanded to 64 rows by a row of 16, and differentiate the sum of a linear layer."""
    rows, weight = torch.ones(1, 1).to(device).expand(64, 1), normal(1, 16).to(device)
    return rows @ weight, gradient(lambda x: functional.linear(x, weight), normal(64, 16, seed=1).to(device))


@reproduces("pytorch#176159")
def index_add_to_a_permuted_tensor(device: torch.device) -> Values:
    """Add six slices to the four of a permuted tensor by index."""
    x = torch.ones(3, 4, 5, device=device).permute(1, 0, 2)
    source = torch.ones(3, 6, 5, device=device).permute(1, 0, 2)
    return x.index_add_(0, torch.tensor([1, 3, 0, 0, 3, 0]).to(device), source)
