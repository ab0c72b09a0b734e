"""A model of honest devices: the reference again, with the error that each primitive operator's kernel may make.

Pointwise operators err by the last bit of the dtype and a few of float32, sums as `sums` says, FFT and linear algebra
as a backward stable algorithm does: as if their operands were moved a little. Fused operators are decomposed. Errors
are drawn as a hash of the value, so that equal numbers round alike. Coarse errors, which look for jumps, come in pairs
of opposite sign: a number next to 0 whose relu may flip then flips in one of the two, and not only by luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.reference import operator_kinds as kinds
from course_utils.numerics.reference.attention import STEP_BY_STEP
from course_utils.numerics.reference.statistics import statistic_errors
from course_utils.numerics.reference.sums import SumErrors, layer_norm_sums
from course_utils.numerics.tensors.operators import operator_name

_DECOMPOSITIONS = dict(core_aten_decompositions())
# exp, log, tanh, division ... may be off by so many steps of the accumulator
_FUNCTION_STEPS = 9.0
# numbers of the reference this close to each other, relatively, are equal to every kernel of a shorter dtype
_TIE = 2.0**-26


def accumulator_eps(dtype: torch.dtype) -> float:
    """Return the step next to 1 of the dtype in which honest kernels of `dtype` add up: float32 for half precision."""
    return torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps


class RoundingModel(DispatchMode):
    """While active, operators in the reference's precision err as those of an honest device may.

    Args:
        dtype: the dtype whose rounding is imitated.
        seed: the same seed errs the same way; even ones also round every result to `dtype`, which keeps what numbers
            on a coarse lattice have in common. Coarse errors of an odd seed are those of the even one before it, with
            the other sign.
        coarseness: errors so many times as large, which finds where a result jumps (relu next to 0, ties, floor).
    """

    def __init__(self, dtype: torch.dtype, seed: int, *, coarseness: float = 1.0) -> None:
        super().__init__()
        info = torch.finfo(dtype)
        self.dtype, self.really_rounds = dtype, seed % 2 == 0 and coarseness == 1
        self.unit = coarseness * info.eps / 2
        self.accumulator = coarseness * accumulator_eps(dtype)
        self.sums = SumErrors(self.accumulator, self.unit)
        self.smallest = info.smallest_normal * info.eps
        self.depth = self.count = 0
        self.generator = torch.Generator().manual_seed(seed)
        self.pairs = torch.Generator().manual_seed(seed // 2) if coarseness > 1 else None
        self.sign = 1.0 - 2.0 * (seed % 2)
        self.by_columns = seed // 2 % 2 == 1
        self.multiplier = int(torch.randint(2**61, 2**62, (1,), generator=self.generator)) | 1

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator and add the error that its kernel may make."""
        kwargs = kwargs or {}
        name = operator_name(func)
        if kinds.is_exact(func) or not any(kinds.has_numbers(leaf) for leaf in tree_leaves(list(args))):
            pools = name in kinds.POOLS_OF_MAXIMA and self.pairs is not None and self.dtype != torch.float64
            return (self._other_of_equal if pools else _called)(func, name, args, kwargs)
        if name in STEP_BY_STEP:
            with self:
                return STEP_BY_STEP[name](*args, **kwargs)
        if self._decomposes(func, name):
            result = self._decomposed(func, args, kwargs)
            if result is not NotImplemented:
                steps = 4.0 if kinds.is_pointwise(func) else 1.0
                return self._erring(result, self._inside(name, args, result), steps)
        if kinds.is_dense(name):
            return self._dense(func, name, args, kwargs)
        writes = func._schema.is_mutable
        sums = None
        if not writes or name in kinds.ADD_IN_THE_DTYPE:
            sums = self.sums.of(func, name, args, kwargs)
        in_steps = kwargs.get("rounding_mode") is not None
        unknown = sums is None and name not in kinds.ARITHMETIC and not kinds.is_pointwise(func)
        if unknown or kinds.is_special(name) or in_steps:
            return self._moved_operands(func, name, args, kwargs, in_steps or kinds.rounds_in_the_dtype(name))
        steps = 1.0 if name in kinds.ARITHMETIC or sums is not None else _FUNCTION_STEPS
        result = func(*args, **kwargs)
        return self._erring(result, sums if sums is not None else self._inside(name, args, result), steps)

    def _inside(self, name: str, args: tuple[Any, ...], result: Any) -> Sequence[torch.Tensor | None] | None:
        """Return the error of a kernel that adds up or subtracts inside, not in proportion to its result."""
        if name == "native_layer_norm_backward":
            return layer_norm_sums(args, self.unit)
        if name not in kinds.CANCELLING or not isinstance(result, torch.Tensor):
            return None
        size = _rms(args[0].nan_to_num(0, 0, 0), args[0].dim()).abs().max().clamp_min(1.0)
        return [(self.accumulator * size).expand(result.shape)]

    def _decomposes(self, func: Any, name: str) -> bool:
        kept = name in kinds.ARITHMETIC or "convolution" in name or name.startswith("upsample")
        return func in _DECOMPOSITIONS and not kept and not func._schema.is_mutable

    def _decomposed(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.depth += 1
        try:
            with self:
                return _DECOMPOSITIONS[func](*args, **kwargs)
        except (
            RuntimeError,
            TypeError,
            AssertionError,
        ):  # decompositions do not take all arguments; IndexError is ours
            return NotImplemented
        finally:
            self.depth -= 1

    def _other_of_equal(
        self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Pool maxima, and of equal ones take the first or the last, along rows or along columns.

        Which of them a kernel returns, and gives the gradient to, is not promised.
        """
        given = args[0]
        spatial = 3 if "3d" in name else 2
        sides = given.shape[-spatial:]
        order = torch.linspace(0, self.sign, math.prod(sides), dtype=torch.float64)
        tilt = order.view(sides[::-1]).permute(*range(spatial - 1, -1, -1)) if self.by_columns else order.view(sides)
        step = given.abs().double() * _TIE + torch.finfo(torch.float64).tiny
        _, places = func(given.double() + torch.where(step.isfinite(), step, 0) * tilt, *args[1:], **kwargs)
        values = given.flatten(-spatial).gather(-1, places.flatten(-spatial)).view(places.shape)
        return values, places

    def _dense(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def moved(matrix: torch.Tensor) -> torch.Tensor:
            size = max(matrix.shape[-2:]) if matrix.dim() else 1
            steps = 2 * size if name == "linalg_matrix_exp" else 4 * math.sqrt(size)
            step = self.unit * steps * _rms(matrix, min(2, matrix.dim())) * self._noise(matrix)
            return torch.where(torch.isfinite(matrix), matrix + step, matrix)

        operands = tree_map_only(torch.Tensor, lambda t: moved(t) if kinds.has_numbers(t) else t, args)
        result = func(*operands, **kwargs)
        _flip_signs(name, result, self.generator)
        errors = [
            4 * self.unit * _rms(y, 1).expand(y.shape) if kinds.has_numbers(y) and y.dim() else None
            for y in _as_sequence(result)
        ]
        return self._erring(result, errors, 2.0)

    def _moved_operands(
        self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], in_the_dtype: bool
    ) -> Any:
        """Run an operator whose inside is unknown on operands next to its own."""
        width = self.unit if in_the_dtype else self.accumulator / 2
        special = kinds.is_special(name)

        def moved(t: torch.Tensor) -> torch.Tensor:
            step = 2 * width * (t.abs() + (_rms(t, t.dim()) if special else 0)) * self._noise(t)
            return torch.where(torch.isfinite(t), t + step, t)

        if func._schema.is_mutable:
            result = func(*args, **kwargs)
        else:
            operands = tree_map_only(torch.Tensor, lambda t: moved(t) if kinds.has_numbers(t) else t, args)
            before = [t.clone() for t in tree_leaves(operands) if isinstance(t, torch.Tensor)]
            result = func(*operands, **kwargs)
            _write_back(args, operands, before)
        # coordinates of pixels are computed first, and round as the picture is wide
        steps = (16 if "upsample" in name else 8) * width
        errors = [
            steps * _rms(y, y.dim()).expand(y.shape) if kinds.has_numbers(y) else None for y in _as_sequence(result)
        ]
        inside = statistic_errors(name, args, kwargs, result, self.sums)
        if inside is not None:
            errors = _summed(errors, inside.results)
            for written, error in zip(args[3:5], (inside.running_mean, inside.running_var), strict=False):
                if error is not None:
                    written.add_(error * self._noise(written))
        return self._erring(result, errors, 3.0)

    def _erring(self, result: Any, errors: Sequence[Any] | None, steps: float) -> Any:
        """Add to every number its error: `steps` roundings of the accumulator, the last one in the dtype."""
        for place, number in enumerate(_as_sequence(result)):
            if not kinds.has_numbers(number) or not number.numel():
                continue
            extra = errors[place] if errors is not None and place < len(errors) else None
            step = number.abs() * ((steps - 1) * self.accumulator)
            if extra is not None:
                step = step + extra.reshape(number.shape)
            if self.really_rounds and not number.is_complex():
                step = torch.nan_to_num(step * self._noise(number), 0, 0, 0)
                kept = torch.float32 if self.depth and self.dtype != torch.float64 else self.dtype
                number.copy_((number + step).to(kept))
                continue
            last = self.accumulator / 2 if self.depth else self.unit
            step = step + number.abs() * last + self.smallest * (number != 0)
            noise = self._noise(number)
            number.add_(torch.where(torch.isfinite(number), step, 0) * noise.nan_to_num(0, 0, 0))
        return result

    def _noise(self, values: torch.Tensor) -> torch.Tensor:
        """Draw numbers from -1 to 1 as a hash of the values: equal ones get the same, but in coarse repetitions."""
        self.count += 1
        if values.is_complex():
            return torch.view_as_complex(self._noise(torch.view_as_real(values.resolve_conj())))
        if self.pairs is not None:
            drawn = torch.rand(values.shape, generator=self.pairs).mul_(2 * self.sign).sub_(self.sign)
            return drawn.to(values.dtype)
        bits = values.abs().double().contiguous().view(torch.int64).add(self.count * 0x9E3779B97F4A7C1 % 2**62)
        bits = bits.bitwise_xor_(bits >> 29).mul_(self.multiplier)  # modulo 2**64
        bits = bits.bitwise_xor_(bits >> 32).mul_(self.multiplier).bitwise_right_shift_(11)
        return bits.double().mul_(2.0**-52).to(values.dtype)


def _called(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _write_back(args: Any, operands: Any, before: Sequence[torch.Tensor]) -> None:
    """Write into the operands what an operator wrote into moved copies of them.

    Batch norm changes its running statistics, and its schema does not say so (torch 2.14).
    """
    given, moved = ([t for t in tree_leaves(side) if isinstance(t, torch.Tensor)] for side in (args, operands))
    for target, now, old in zip(given, moved, before, strict=True):
        if target is not now and not torch.equal(now, old) and not bool(now.isnan().any()):
            target.copy_(now)


def _summed(errors: Sequence[Any], more: Sequence[Any]) -> list[Any]:
    """Add two errors of each result, either of which may be None."""
    pairs = zip(errors, (*more, *[None] * len(errors)), strict=False)
    return [one if other is None else other if one is None else one + other for one, other in pairs]


def _as_sequence(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple | list) else (result,)


def _rms(values: torch.Tensor, dims: int) -> torch.Tensor:
    if not values.numel() or not dims:
        return values.abs().sum() if not values.numel() else values.abs()
    return values.abs().nan_to_num(0, 0, 0).square().mean(tuple(range(-dims, 0)), keepdim=True).sqrt()


def _flip_signs(name: str, result: Any, generator: torch.Generator) -> None:
    """Flip the signs of eigenvectors and singular vectors at random: any is right."""

    def signs(like: torch.Tensor) -> torch.Tensor:
        return torch.where(torch.rand(like.shape, generator=generator) > 0.5, 1.0, -1.0).to(like.dtype)

    if not isinstance(result, tuple | list):
        return
    if "eigh" in name and len(result) > 1 and result[1].numel():
        result[1].mul_(signs(result[1][..., :1, :]))
    if "svd" in name and len(result) > 2 and result[0].numel() and result[0].dim() > 1 and result[2].numel():
        columns = min(result[0].shape[-1], result[2].shape[-2])
        flipped = signs(result[0][..., :1, :columns])
        result[0][..., :columns].mul_(flipped)
        result[2][..., :columns, :].mul_(flipped.mT)
