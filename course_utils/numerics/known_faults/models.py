"""Operators that were wrong for ordinary input: recurrent layers, decompositions, convolution, sparse products."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, normal, reproduces, seeded, uniform


@reproduces("pytorch#196112", right=lambda: torch.eye(32).expand(16, 32, 32), tolerance=1e-2)
def svd_of_rank_deficient_matrices(device: torch.device) -> Values:
    """Decompose 16 matrices of rank 8 in 32 dimensions; U times its transpose is the identity."""
    u = torch.linalg.svd((normal(16, 32, 8) @ normal(16, 8, 32, seed=1)).to(device))[0].cpu()
    return u.mT @ u


@reproduces("pytorch#196113", right=0.0, tolerance=1e-2)
def least_squares_of_wide_complex_matrices(device: torch.device) -> Values:
    """Solve 8 complex systems with more unknowns than equations, and return what is left over."""
    systems, right = normal(8, 32, 48, dtype=torch.complex64), normal(8, 32, 3, seed=1, dtype=torch.complex64)
    systems, right = systems + 1j * normal(8, 32, 48, seed=2), right + 1j * normal(8, 32, 3, seed=3)
    found = torch.linalg.lstsq(systems.to(device), right.to(device), driver=_driver(device)).solution.cpu()
    return (systems @ found - right).abs()


def _driver(device: torch.device) -> str:
    """Return a driver that the device has and that solves systems with more unknowns than equations."""
    return "gels" if device.type == "cuda" else "gelsd"


@reproduces("pytorch#197114", tolerance=1e-3)
def convolution_in_three_dimensions(device: torch.device) -> Values:
    """Convolve a volume of 16 channels."""
    return functional.conv3d(normal(1, 16, 8, 16, 16).to(device), normal(16, 16, 3, 3, 3, seed=1).to(device))


@reproduces("pytorch#191794", tolerance=3e-2)
def attention_in_half_precision(device: torch.device) -> Values:
    """Attend over 64 positions in float16."""
    q = normal(1, 2, 64, 64, dtype=torch.float16).to(device)
    return functional.scaled_dot_product_attention(q, q, q).float()


@reproduces("pytorch#196190", right=True)
def order_of_a_sparse_product(device: torch.device) -> bool:
    """Multiply a sparse matrix by itself; are the indices sorted where it says that they are?"""
    index = torch.tensor([[0, 1, 1, 2, 2], [2, 0, 2, 0, 1]])
    sparse = torch.sparse_coo_tensor(index, torch.ones(5), (3, 3), device=device).coalesce()
    product = sparse * sparse
    rows, columns = product._indices().cpu()
    return not product.is_coalesced() or bool(((rows * 3 + columns).diff() > 0).all())


@reproduces("pytorch#164712", right=0.0, tolerance=5e-2)
def cholesky_of_a_batch(device: torch.device) -> Values:
    """Factor four 128x128 matrices; the factor times its transpose gives the matrix back."""
    half = normal(4, 128, 128)
    matrices = half @ half.mT + 128 * torch.eye(128)
    factor = torch.linalg.cholesky(matrices.to(device)).cpu()
    return factor @ factor.mT - matrices


@reproduces("pytorch#124096", tolerance=1e-4)
def inverse_of_a_real_fft(device: torch.device) -> Values:
    """Transform 64 real numbers and transform them back."""
    return torch.fft.irfft(torch.fft.rfft(uniform(64).to(device)), n=64)


def _lstm(device: torch.device, **options: bool) -> nn.LSTM:
    return seeded(lambda: nn.LSTM(2, 2, **options)).to(device)


@reproduces("pytorch#94754", tolerance=1e-4)
def bidirectional_lstm(device: torch.device) -> Values:
    """Run an LSTM in both directions over three steps."""
    return _lstm(device, bidirectional=True)(uniform(3, 1, 2).to(device))[0]


@reproduces("pytorch#80306", tolerance=1e-4)
def lstm_with_the_batch_first(device: torch.device) -> Values:
    """Run an LSTM over four sequences of four steps, the batch in the first dimension."""
    return _lstm(device, batch_first=True)(uniform(4, 4, 2).to(device))[0]


@reproduces("pytorch#95118", tolerance=1e-4)
def lstm_of_a_packed_sequence(device: torch.device) -> Values:
    """Run an LSTM over two packed sequences of equal length."""
    packed = nn.utils.rnn.pack_padded_sequence(uniform(3, 2, 2).to(device), torch.tensor([3, 3]))
    return _lstm(device)(packed)[0].data
