"""What honest rounding does to a result: the reference again, with every operator rounded at random.

Each operator's numbers are moved by up to half an eps of the dtype, in and out, and a sum of K terms of size |x| by
sqrt(K)*eps*|x| of the dtype it is added up in. How far the result moves then is the tolerance that an honest kernel
deserves: it grows like sqrt(K)*eps, as pytorch #183621 asks, and follows the numbers through deep models.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.numerics.reference.reductions import (
    SUMS_OF_PRODUCTS,
    adds_in_its_dtype,
    reduction_length,
    size_of_terms,
)
from course_utils.numerics.tensors.operators import operator_name

# what only moves, selects, compares or fills computes nothing that could round
_EXACT = {
    *("copy", "clone", "_to_copy", "fill", "zero", "cat", "stack", "index", "index_select", "gather", "embedding"),
    *("masked_fill", "where", "relu", "neg", "abs", "clamp", "clamp_min", "clamp_max", "maximum", "minimum", "max"),
    *("min", "amax", "amin", "max_pool2d_with_indices", "max_pool3d_with_indices", "constant_pad_nd", "roll", "flip"),
    *("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d"),
    *("replication_pad3d", "repeat", "slice_scatter", "select_scatter", "tril", "triu", "bernoulli", "native_dropout"),
    *("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "im2col", "hardtanh", "threshold", "select_backward"),
    *("slice_backward", "threshold_backward", "adaptive_max_pool2d", "adaptive_max_pool3d", "sign", "floor", "ceil"),
    *("round", "trunc", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "normal", "uniform"),
    *("empty", "empty_like", "new_empty", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "arange"),
    *("scalar_tensor", "lift_fresh", "lift_fresh_copy", "new_zeros", "new_ones", "new_full", "rand", "randn"),
    *("empty_strided", "new_empty_strided", "_unsafe_view", "eye", "nan_to_num", "detach", "set_data"),
}
# these round once, at the end
_ARITHMETIC = {"add", "sub", "rsub", "mul", "div", "sqrt", "reciprocal", "square"}
# these subtract numbers near one, or near their input, inside one kernel: their error does not shrink with the result
_CANCELLING = {
    "gelu",
    "elu",
    "softplus",
    "log_sigmoid_forward",
    "mish",
    "_log_softmax",
    "celu",
    "selu",
    "log1p",
    "expm1",
}
_CANCELLING |= {"tanh_backward", "gelu_backward", "softplus_backward", "mish_backward", "silu_backward", "elu_backward"}
_CANCELLING |= {"log_sigmoid_backward", "sigmoid_backward", "cosine_similarity", "var", "std", "_fused_rms_norm"}
# series and recurrences near their zeros
_CANCELLING |= {"digamma", "lgamma", "polygamma", "erfinv", "igamma", "igammac"}
# these compute coordinates of pixels first, whose rounding grows with the picture
_COORDINATES = ("upsample_", "_upsample_", "grid_sampler")


@cache
def _written_places(func: Any) -> frozenset[int]:
    arguments = enumerate(func._schema.arguments)
    return frozenset(place for place, a in arguments if a.alias_info is not None and a.alias_info.is_write)


class RandomRounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, every operator's floating-point results are moved as honest rounding may move them.

    Args:
        dtype: the dtype whose rounding is imitated; the computing itself runs in the dtype of the inputs.
        accumulator: the dtype in which kernels add up; float32 also for float16 and bfloat16.
        amplitude: 1 imitates rounding; 16 finds where a result jumps (the kink of relu, a tie of two maxima).
        reduction_length: the K of every reduction where it is known better than found.
        seed: the same seed moves the same way.
    """

    def __init__(
        self,
        dtype: torch.dtype,
        *,
        accumulator: torch.dtype = torch.float32,
        amplitude: float = 1.0,
        reduction_length: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.unit = amplitude * torch.finfo(dtype).eps / 2
        self.smallest = amplitude * torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
        self.accumulator_unit = max(amplitude * torch.finfo(accumulator).eps, 0.0) / 2
        self.given_length = reduction_length
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator with rounded inputs and round its results."""
        kwargs = kwargs or {}
        name = operator_name(func)
        if name in _EXACT or func.is_view:
            return func(*args, **kwargs)
        written = _written_places(func)
        length = reduction_length(func, args)
        # kernels that normalise, exponentiate and add up in one go round several times inside
        fused = length > 1 and name not in SUMS_OF_PRODUCTS
        times = 3.0 if fused else 0.0 if name in _ARITHMETIC else 1.0
        moved = [
            self._moved(arg, times) if times and self._rounds(arg) and place not in written else arg
            for place, arg in enumerate(args)
        ]
        terms = size_of_terms(func, args, kwargs) if length > 1 else None
        unit = self.unit if adds_in_its_dtype(name, args) else self.accumulator_unit
        # a mean and a variance are two sums
        summing = math.sqrt(self.given_length or length) * unit * (2 if fused else 1) if length > 1 else 0.0
        extra = self._extra(name, args)
        result = func(*moved, **kwargs)
        many = isinstance(result, tuple | list)
        for place, output in enumerate(result if many else (result,)):
            if self._rounds(output):
                self._round_in_place(output, summing, terms if place == 0 else None, extra)
        return result

    def _rounds(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())

    def _noise(self, like: torch.Tensor, unit: float) -> torch.Tensor:
        # drawn in float32, which is quick; adding it to a float64 number keeps all of that
        return torch.rand(like.shape, generator=self.generator).mul_(2 * unit).sub_(unit)

    def _moved(self, tensor: torch.Tensor, times: float) -> torch.Tensor:
        return tensor + tensor * self._noise(tensor, times * self.unit)

    def _round_in_place(self, output: torch.Tensor, summing: float, terms: torch.Tensor | None, extra: float) -> None:
        size = output.abs()
        step = size * self.unit
        step += self.unit * extra + self.smallest
        if summing:
            step += summing * (size if terms is None or terms.shape != size.shape else size + terms)
        step *= self._noise(output, 1.0)
        if not math.isfinite(float(size.sum())):
            step = torch.where(output.isfinite(), step, 0)  # infinite and NaN stay what they are
        output.add_(step.to(output.dtype))

    def _extra(self, name: str, args: tuple[Any, ...]) -> float:
        if name not in _CANCELLING and not name.startswith(_COORDINATES):
            return 0.0
        first = next((arg for arg in args if self._rounds(arg)), None)
        if first is None or not first.numel():
            return 0.0
        size = float(first.abs().nan_to_num(0, 0, 0).square().mean().sqrt())
        return max(1.0, size) if name in _CANCELLING else size * max(first.shape[2:], default=1) / 8
