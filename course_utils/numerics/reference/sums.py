"""How far an honest sum may be off: random addends, running sums, and addends that round alike.

An addend below the last bit of the running sum is cut off. For random addends that goes up and down, and the error
grows like the square root of their number K. Equal addends are all cut off in the same direction: behind a global
average pool, 8192 equal float32 numbers added one after the other are off by 4.5e-5 of their sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from course_utils.numerics.reference.operator_kinds import ADD_IN_THE_DTYPE, PRODUCTS, has_numbers

_FEW_ROWS = 32


def alike(addends: torch.Tensor, unit: float) -> torch.Tensor:
    """Compute how far addends along the last dimension are cut off in one direction.

    Args:
        addends: float64, of shape (..., K).
        unit: the step of the accumulator next to 1, or half of it.

    Returns:
        From 0 (random, or all exact multiples of the last bit) to 1 (equal ones), of shape (...).
    """
    terms = addends.shape[-1]
    if terms < _FEW_ROWS or not addends.numel():
        return addends.new_zeros(addends.shape[:-1])
    total = (2 * unit * addends.abs().sum(-1, keepdim=True)).clamp_min(1e-300)
    last_bit = torch.exp2(total.log2().floor())
    worst = addends.new_zeros(addends.shape[:-1])
    for halving in range(5):  # the last bit while the sum grew
        parts = addends / last_bit * 2.0**halving
        drift = 2 * (parts - parts.round()).mean(-1).abs() - 1.5 / math.sqrt(terms)
        worst = torch.maximum(worst, drift.clamp_min(0) * 2.0**-halving)
    return worst


def _most_alike(addends: torch.Tensor, unit: float) -> float:
    """Return the largest `alike` of at most 32 rows: enough to see a matrix of equal numbers."""
    if not addends.numel() or addends.dim() == 0 or addends.shape[-1] < _FEW_ROWS:
        return 0.0
    rows = addends.reshape(-1, addends.shape[-1])
    return float(alike(rows[:: max(1, rows.shape[0] // _FEW_ROWS)], unit).max())


def _running(addends: torch.Tensor) -> torch.Tensor:
    """Compute the root of the sum of squared running sums: what random rounding of each of them adds up to."""
    return addends.cumsum(-1).square().sum(-1).sqrt()


def layer_norm_sums(args: tuple[Any, ...], unit: float) -> list[torch.Tensor | None]:
    """Compute the errors of layer norm's gradients where a kernel adds the rows up in the operands' dtype.

    torch's CPU kernel does for weight and bias (torch 2.14): 4096 rows of float16 are off by 1 % of the sum.

    Args:
        args: of native_layer_norm_backward, in the reference's precision.
        unit: half the step next to 1 of the operands' dtype.

    Returns:
        None for the gradient of the input, then the errors for weight and bias.
    """
    gradient, x, shape, mean, deviation = args[:5]
    normed = (x - mean) * deviation
    size = math.prod(shape)
    errors: list[torch.Tensor | None] = [None]
    for addends in (gradient * normed, gradient):
        columns = addends.reshape(-1, size).mT.contiguous()
        drift = 0.5 * columns.shape[-1] * alike(columns, unit) * columns.abs().sum(-1)
        errors.append(unit * (_running(columns) + drift))
    return errors


def _squared(arguments: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda t: t.abs().square() if has_numbers(t) else t, arguments)


def _absolute(arguments: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda t: t.abs() if has_numbers(t) else t, arguments)


class SumErrors:
    """The error that one operator's sums may have, as multiples of the accumulator's unit.

    Args:
        unit: the unit of the accumulator.
        dtype_unit: the unit of the operands' dtype; some kernels add up in it.
    """

    def __init__(self, unit: float, dtype_unit: float) -> None:
        self.unit, self.dtype_unit = unit, dtype_unit

    def of(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """Compute how far each number of the operator's results may be off, None where nothing is added up.

        Args:
            func: the overload; it is called again, with squared and with absolute operands.
            name: its operator's name.
            args: its positional operands, in the reference's precision.
            kwargs: its other operands.
        """
        if name in PRODUCTS:
            return self._products(func, name, args, kwargs)
        if name.startswith("convolution"):
            return self._convolution(func, args) if name == "convolution" else self._convolution_gradients(func, args)
        if name in ("sum", "mean", "nansum"):
            return self._folded(func, name, args, kwargs)
        if name in ("cumsum", "cumprod", "logcumsumexp"):
            return self._scanned(func, name, args, kwargs)
        return self._in_the_dtype(func, name, args, kwargs)

    def _convolution(self, func: Any, args: tuple[Any, ...]) -> list[torch.Tensor]:
        terms = args[1].numel() // max(1, args[1].shape[1 if args[6] else 0])
        error = self._random((func(*args), func(*_squared(args)), func(*_absolute(args))), terms, 0.0)
        if args[2] is not None:
            error = error + self._added_at_the_end(args[2]).view(-1, *[1] * (args[1].dim() - 2))
        return [error]

    def _scanned(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        size = func(*(_absolute(args) if name == "cumsum" else args), **kwargs).abs()
        terms = max(1, args[0].shape[args[1]] if args[0].dim() else 1)
        extra = 0.0 if name == "cumsum" else self.dtype_unit * terms
        return [(self.unit * math.sqrt(terms) * 2 + extra) * size]

    def _in_the_dtype(
        self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Any] | None:  # fmt: skip
        if name in ADD_IN_THE_DTYPE:
            copied = tree_map_only(torch.Tensor, torch.clone, args)
            return [4 * self.dtype_unit * func(*_absolute(copied), **kwargs).abs()]
        if name == "prod":
            result = func(*args, **kwargs)
            return [2 * self.dtype_unit * args[0].numel() / max(1, result.numel()) * result.abs()]
        return None

    def _random(self, sums: Sequence[Any], terms: int, drift: Any, running: Any = 0.0) -> torch.Tensor:
        """Combine the parts: sqrt(K) of the terms' own size, the running sums, and the drift of equal addends.

        Args:
            sums: of the terms, of their squares, of their sizes.
            terms: K.
            drift: how far the terms are alike.
            running: the size of the running sums.
        """
        total, squares, size = sums
        error: torch.Tensor = math.sqrt(terms) * (total.abs() + squares.abs().sqrt()) + running
        total_error: torch.Tensor = self.unit * (error + 0.5 * terms * drift * size.abs())
        return total_error

    def _products(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        left, right = args[1:3] if name.startswith(("add", "badd")) else args[:2]
        drift = min(
            _most_alike(left, self.unit), _most_alike(right.mT if right.dim() > 1 else right, self.unit)
        )  # fmt: skip
        sums = (func(*args, **kwargs), func(*_squared(args), **kwargs), func(*_absolute(args), **kwargs))
        error = self._random(sums, left.shape[-1], drift)
        if name.startswith(("add", "badd")) and kwargs.get("beta", 1) != 0:
            error = error + self._added_at_the_end(args[0] * kwargs.get("beta", 1))
        return [error]

    def _added_at_the_end(self, bias: torch.Tensor) -> torch.Tensor:
        """Return the error of a kernel that rounds the sum to the dtype before it adds a bias of the same size."""
        return self.dtype_unit * bias.abs()

    def _convolution_gradients(self, func: Any, args: tuple[Any, ...]) -> list[torch.Tensor | None]:
        totals, squares, sizes = func(*args), func(*_squared(args)), func(*_absolute(args))
        gradient, image, weight = args[:3]
        channels = gradient.shape[1]
        summed = gradient.numel() // max(1, channels)  # over batch and pixels
        by_channel = gradient.transpose(0, 1).flatten(1)
        drift = alike(by_channel, self.unit)
        of_image = alike(image.transpose(0, 1).flatten(1), self.unit)
        terms = (weight.numel() // max(1, weight.shape[1]), summed, summed)
        drifts = (0.0, min(_largest(drift), _largest(of_image)), drift)
        errors: list[torch.Tensor | None] = []
        for place, total in enumerate(totals):
            if total is None:
                errors.append(None)
                continue
            running = _running(by_channel) if place == 2 else 0.0
            errors.append(self._random((total, squares[place], sizes[place]), terms[place], drifts[place], running))
        return errors

    def _folded(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor] | None:
        addends = args[0]
        if not addends.dim() or addends.is_complex():
            return None
        if name == "nansum":
            addends = addends.nan_to_num(0.0)
        rows = self.rows_of(addends, args[1] if len(args) > 1 and args[1] is not None else kwargs.get("dim"))
        error = self.mean_of(rows) * (1 if name == "mean" else rows.shape[-1])
        return [error.reshape(func(*args, **kwargs).shape)]

    def mean_of(self, rows: torch.Tensor) -> torch.Tensor:
        """Compute how far the mean of each row may be off; rows of shape (..., K), the result of shape (...)."""
        sums = (rows.sum(-1), rows.square().sum(-1), rows.abs().sum(-1))
        terms = max(1, rows.shape[-1])
        return self._random(sums, terms, alike(rows, self.unit), _running(rows)) / terms

    @staticmethod
    def rows_of(addends: torch.Tensor, dims: int | Sequence[int] | None) -> torch.Tensor:
        """Lay out numbers as rows of what is added up.

        Args:
            addends: of one dimension or more.
            dims: the dimensions that are added up; None or empty: all.

        Returns:
            float64, of shape (*kept dimensions, K).
        """
        chosen = [dims] if isinstance(dims, int) else list(dims or range(addends.dim()))
        folded = [dim % addends.dim() for dim in chosen]
        kept = [dim for dim in range(addends.dim()) if dim not in folded]
        return addends.permute(*kept, *folded).reshape(*[addends.shape[dim] for dim in kept], -1).double()


def _largest(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
