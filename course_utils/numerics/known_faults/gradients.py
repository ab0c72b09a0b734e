"""Gradients that are wrong where the forward pass is right."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from course_utils.numerics.known_faults.reproducer import Values, gradient, leave_junk, normal, reproduces, seeded


@reproduces("pytorch#177116", tolerance=1.0)
def weight_gradient_over_33000_rows(device: torch.device) -> Values:
    """Differentiate a product of 33,000 rows with respect to its weight, after fives were left in memory."""
    x = normal(33_000, 16).to(device)
    leave_junk(device, 5.0)
    return gradient(lambda weight: x @ weight, normal(16, 16, seed=1).to(device))


@reproduces("pytorch#190056", right=0.0, tolerance=1e-2)
def lstm_with_dropout(device: torch.device) -> Values:
    """Differentiate an LSTM with dropout between its layers, and subtract what finite differences give."""
    layers = seeded(lambda: nn.LSTM(3, 3, 2, dropout=0.5)).to(device)
    x, step = normal(2, 1, 3), torch.zeros(2, 1, 3)
    step[0, 0, 0] = 2e-2

    def total(inputs: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(42)  # the same dropout in every call
        result: torch.Tensor = layers(inputs)[0].sum()
        return result

    with torch.random.fork_rng(devices=[]):
        found = gradient(total, x.to(device))[0, 0, 0]
        with torch.no_grad():
            rise = total((x + step).to(device)) - total((x - step).to(device))
    return found - rise / 4e-2


@reproduces("pytorch#183825", tolerance=1e-4)
def layer_norm_behind_a_frozen_part(device: torch.device) -> Values:
    """Differentiate a layer norm with respect to weight and bias, where the input needs no gradient."""
    weight, bias = (torch.ones(4, device=device, requires_grad=True) for _ in range(2))
    normalised = functional.layer_norm(normal(2, 4).to(device), (4,), weight, bias)
    return torch.autograd.grad(normalised.sum(), (weight, bias))


@reproduces("pytorch#175188", tolerance=1e-4)
def activations_of_a_permuted_input(device: torch.device) -> Values:
    """Differentiate tanh, sigmoid, silu and mish of a permuted tensor."""
    x = normal(1, 7, 4, 3).to(device).permute(0, 3, 1, 2)
    return tuple(gradient(f, x) for f in (torch.tanh, torch.sigmoid, functional.silu, functional.mish))


@reproduces("pytorch#175189", tolerance=1e-2)
def batch_norm_of_channels_last(device: torch.device) -> Values:
    """Differentiate a batch norm of channels_last images with respect to its weight and input."""
    x = normal(4, 3, 8, 8).to(device).contiguous(memory_format=torch.channels_last).requires_grad_()
    weight, bias = torch.ones(3, device=device, requires_grad=True), torch.zeros(3, device=device)
    squares = functional.batch_norm(x, None, None, weight, bias, training=True) ** 2
    return torch.autograd.grad(squares.sum(), (weight, x))


@reproduces("pytorch#175190", tolerance=1e-5)
def average_pooling_of_channels_last(device: torch.device) -> Values:
    """Differentiate an average pooling of channels_last images."""
    x = normal(4, 3, 8, 8).to(device).contiguous(memory_format=torch.channels_last)
    return gradient(lambda image: functional.avg_pool2d(image, 2) ** 2, x)


@reproduces("pytorch#189490", tolerance=1e-5)
def complex_tanh_and_threshold_of_nan(device: torch.device) -> Values:
    """Differentiate tanh of a complex number, and cut NaN off at a threshold."""
    x = torch.tensor([0.3 + 0.7j]).to(device)
    threshold = functional.threshold(torch.tensor([float("nan")]).to(device), 0.0, 1.0)
    return gradient(lambda number: torch.view_as_real(torch.tanh(number)), x), threshold


@reproduces("pytorch#117826", tolerance=1e-4)
def einsum_before_tanh(device: torch.device) -> Values:
    """Differentiate tanh of a batched product, written as einsum, with respect to its weight."""
    x = normal(4, 3, 5).to(device)
    return gradient(lambda weight: torch.tanh(torch.einsum("bij,ijk->bik", x, weight)), normal(3, 5, 2).to(device))


@reproduces("pytorch#107214", tolerance=1e-4)
def hardswish_of_channels_last(device: torch.device) -> Values:
    """Differentiate hardswish of channels_last images."""
    x = normal(2, 3, 4, 4).to(device).contiguous(memory_format=torch.channels_last)
    return gradient(lambda image: functional.hardswish(image) ** 2, x)


@reproduces("pytorch#103023", right=[0.0, 2.0, 1.0, 0.0, 0.0])
def embedding_with_padding(device: torch.device) -> Values:
    """Differentiate an embedding whose padding row occurs in the batch; the row takes no gradient."""
    rows = torch.tensor([[0, 1, 1, 2]]).to(device)
    return gradient(lambda table: functional.embedding(rows, table, padding_idx=0), normal(5, 3).to(device))[:, 0]


@reproduces("pytorch#190061", right=[0.0, 1.0, 0.0, 0.0], tolerance=1e-6)
def embedding_bag_scaled_by_frequency(device: torch.device) -> Values:
    """Differentiate a bag that holds one index twice, each gradient divided by that count."""
    indices, offsets = torch.tensor([1, 1]).to(device), torch.tensor([0]).to(device)

    def bag(table: torch.Tensor) -> torch.Tensor:
        return functional.embedding_bag(indices, table, offsets, mode="sum", scale_grad_by_freq=True)

    return gradient(bag, normal(4, 3).to(device))[:, 0]


@reproduces("pytorch#94226", tolerance=1e-5)
def scaled_losses(device: torch.device) -> Values:
    """Differentiate nll_loss and smooth_l1_loss times 3."""
    scores, target = normal(4, 5).log_softmax(1).to(device), torch.tensor([0, 2, 4, 1]).to(device)
    zeros = torch.zeros(4, 5).to(device)
    return (
        gradient(lambda x: 3 * functional.nll_loss(x, target), scores),
        gradient(lambda x: 3 * functional.smooth_l1_loss(x, zeros), scores),
    )


@reproduces("pytorch#96225", right=(1.0, 1.0), tolerance=1e-3)
def convolution_of_a_large_batch(device: torch.device) -> Values:
    """Differentiate the mean of a convolution of 65,536 ones with respect to its weight, in one and two dimensions."""
    ones = torch.ones(65_536).to(device)
    return (
        gradient(lambda w: functional.conv1d(ones[:, None, None], w).mean(), torch.ones(1, 1, 1).to(device)),
        gradient(lambda w: functional.conv2d(ones[:, None, None, None], w).mean(), torch.ones(1, 1, 1, 1).to(device)),
    )


@reproduces("pytorch#123178", tolerance=1e-4)
def activations_before_a_sum(device: torch.device) -> Values:
    """Differentiate the sum of leaky_relu, gelu and mish of a vector, whose gradient arrives expanded."""
    x = torch.tensor([3.0, -3.1]).to(device)
    return tuple(gradient(f, x) for f in (functional.leaky_relu, functional.gelu, functional.mish))
