"""The errors of operators that add up inside: means and variances of normalisation, average pooling, softmax.

Their kernels add hundreds or thousands of numbers up, and most of those are of one sign: behind a relu the mean of 512
activations was off by 8 steps of float32 on the CPU in channels_last memory, and by 0.2 steps in contiguous memory
(torch 2.14.1), both honest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from course_utils.numerics.reference.sums import SumErrors, alike

_NORMS_OVER_BATCHES = frozenset({"native_batch_norm", "_native_batch_norm_legit"})
_POOLS = ("avg_pool", "_adaptive_avg_pool")


@dataclass(frozen=True)
class StatisticErrors:
    """How far the results of one operator may be off beside the rounding of its operands.

    Args:
        results: for each result, None where nothing is added.
        running_mean: of the running mean that a batch norm writes; None where it writes none.
        running_var: the same for the running variance.
    """

    results: tuple[torch.Tensor | None, ...]
    running_mean: torch.Tensor | None = None
    running_var: torch.Tensor | None = None


def statistic_errors(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, sums: SumErrors
) -> StatisticErrors | None:
    """Compute the errors of one operator's inner sums, or None where it has none that are known.

    Args:
        name: the operator's name.
        args: its positional operands, in the reference's precision.
        kwargs: its other operands.
        result: what it returned.
        sums: the errors of sums with the unit of this repetition.
    """
    if name in _NORMS_OVER_BATCHES:
        # without running statistics an overload leaves their two places out
        full = args if len(args) == 8 else (*args[:3], None, None, *args[3:])
        return _batch_norm(full, sums) if full[5] and args[0].numel() else None
    if name in ("native_layer_norm", "native_group_norm"):
        rows = _layer_norm_rows(args) if name == "native_layer_norm" else _group_norm_rows(args)
        return _normed(rows, args[0].shape, result, sums) if args[0].numel() else None
    if name in ("var", "var_mean"):
        return _variance(args, kwargs, result, sums)
    if name in ("_softmax", "_log_softmax"):
        return _softmax(name, args[0], args[1], result, sums)
    is_pool = name.startswith(_POOLS) and "backward" not in name
    return _pool(args[0], result, sums) if is_pool else None


@dataclass(frozen=True)
class _Rows:
    """What is normalised together: numbers of shape (rows, K), a weight that broadcasts to it, and epsilon."""

    numbers: torch.Tensor
    weight: torch.Tensor | None
    eps: float


def _layer_norm_rows(args: tuple[Any, ...]) -> _Rows:
    x, shape, weight, _, eps = args
    return _Rows(x.reshape(-1, math.prod(shape)), None if weight is None else weight.reshape(1, -1), eps)


def _group_norm_rows(args: tuple[Any, ...]) -> _Rows:
    x, weight, _, batch, channels, pixels, groups, eps = args
    if weight is not None:
        weight = weight.reshape(1, channels, 1).expand(batch, -1, pixels).reshape(batch * groups, -1)
    return _Rows(x.reshape(batch * groups, -1), weight, eps)


@dataclass(frozen=True)
class _Moments:
    """Mean and variance of rows, with their errors; all of shape (rows, 1)."""

    mean: torch.Tensor
    mean_error: torch.Tensor
    variance: torch.Tensor
    variance_error: torch.Tensor


def _moments(rows: torch.Tensor, sums: SumErrors) -> _Moments:
    mean = rows.mean(-1, keepdim=True)
    squares = (rows - mean).square()
    mean_error = sums.mean_of(rows).unsqueeze(-1)
    variance_error = sums.mean_of(squares).unsqueeze(-1) + mean_error.square()
    return _Moments(mean, mean_error, squares.mean(-1, keepdim=True), variance_error)


def _of_normed(rows: _Rows, moments: _Moments) -> torch.Tensor:
    """Carry the errors of mean and variance into (x - mean) / sqrt(variance + eps) * weight."""
    spread = moments.variance + rows.eps
    normed = (rows.numbers - moments.mean) / spread.sqrt()
    error = moments.mean_error / spread.sqrt() + 0.5 * normed.abs() * moments.variance_error / spread
    return error if rows.weight is None else error * rows.weight.abs()


def _of_deviation(moments: _Moments, eps: float) -> torch.Tensor:
    """Carry the error of the variance into 1 / sqrt(variance + eps)."""
    return 0.5 * moments.variance_error * (moments.variance + eps).pow(-1.5)


def _normed(rows: _Rows, shape: torch.Size, result: Any, sums: SumErrors) -> StatisticErrors:
    moments = _moments(rows.numbers, sums)
    error = _of_normed(rows, moments).reshape(shape)
    of_mean, of_deviation = moments.mean_error, _of_deviation(moments, rows.eps)
    return StatisticErrors((error, of_mean.reshape(result[1].shape), of_deviation.reshape(result[2].shape)))


def _batch_norm(args: tuple[Any, ...], sums: SumErrors) -> StatisticErrors:
    x, weight, _, running_mean, _, _, momentum, eps = args
    by_channel = x.transpose(0, 1)
    rows = _Rows(by_channel.flatten(1), None if weight is None else weight.reshape(-1, 1), eps)
    moments = _moments(rows.numbers, sums)
    error = _of_normed(rows, moments).reshape(by_channel.shape).transpose(0, 1)
    of_mean = moments.mean_error.flatten()
    results = (error, of_mean, _of_deviation(moments, eps).flatten())
    if running_mean is None:
        return StatisticErrors(results)
    numbers = rows.numbers.shape[1]
    of_variance = moments.variance_error.flatten() * (numbers / max(1, numbers - 1))
    return StatisticErrors(results, momentum * of_mean, momentum * of_variance)


def _variance(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, sums: SumErrors) -> StatisticErrors | None:
    x = args[0]
    if not x.numel() or not x.dim() or x.is_complex():
        return None
    moments = _moments(sums.rows_of(x, args[1] if len(args) > 1 else kwargs.get("dim")), sums)
    variance, *mean = result if isinstance(result, tuple) else (result,)
    # a correction changes variance and error alike
    grown = variance.abs().reshape(-1, 1) / moments.variance.clamp_min(1e-300)
    errors = [(moments.variance_error * grown.nan_to_num(0, 0, 0)).reshape(variance.shape)]
    return StatisticErrors((*errors, *(moments.mean_error.reshape(one.shape) for one in mean)))


def _softmax(name: str, x: torch.Tensor, dim: int, result: torch.Tensor, sums: SumErrors) -> StatisticErrors | None:
    if not x.dim() or not x.numel():
        return None
    powers = (x - x.amax(dim, keepdim=True)).exp().nan_to_num(0, 0, 0).movedim(dim, -1)
    total = powers.sum(-1).clamp_min(1e-300)
    relative = (sums.mean_of(powers) * powers.shape[-1] / total).unsqueeze(-1).movedim(-1, dim)
    return StatisticErrors(((relative if name == "_log_softmax" else relative * result.abs()).expand(result.shape),))


def _pool(x: torch.Tensor, result: torch.Tensor, sums: SumErrors) -> StatisticErrors | None:
    if not result.numel() or not x.numel():
        return None
    terms = max(1, x.numel() // result.numel())
    x = x.nan_to_num(0, 0, 0)
    usual = x.square().mean().sqrt()
    drift = 0.5 * terms * float(alike(x.reshape(1, -1)[:, : 2**16].double(), sums.unit))
    return StatisticErrors((sums.unit * (math.sqrt(terms) * (usual + result.abs()) + drift * result.abs()),))
