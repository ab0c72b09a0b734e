"""Which of torch's operators round, and how: names without namespace, overload and the underscore of in-place forms."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.numerics.tensors.operators import operator_name

# what only moves, selects, compares or fills computes nothing that could round
EXACT = frozenset(
    [
        "copy",
        "clone",
        "_to_copy",
        "fill",
        "zero",
        "cat",
        "stack",
        "index",
        "index_select",
        "gather",
        "embedding",
        "masked_fill",
        "where",
        "relu",
        "neg",
        "abs",
        "clamp",
        "clamp_min",
        "clamp_max",
        "maximum",
        "minimum",
        "max",
        "min",
        "amax",
        "amin",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
        "argmax",
        "argmin",
        "constant_pad_nd",
        "roll",
        "flip",
        "repeat",
        "tril",
        "triu",
        "threshold",
        "threshold_backward",
        "sign",
        "floor",
        "ceil",
        "round",
        "trunc",
        "lift_fresh",
        "lift_fresh_copy",
        "_unsafe_view",
        "detach",
        "alias",
        "sort",
        "topk",
        "kthvalue",
        "median",
        "mode",
        "masked_select",
        "scatter",
        "slice_scatter",
        "select_scatter",
        "slice_backward",
        "select_backward",
        "reflection_pad1d",
        "reflection_pad2d",
        "reflection_pad3d",
        "replication_pad1d",
        "replication_pad2d",
        "replication_pad3d",
        "upsample_nearest1d",
        "upsample_nearest2d",
        "upsample_nearest3d",
        "transpose",
        "t",
        "squeeze",
        "unsqueeze",
        "as_strided",
        "resize",
        "swapdims",
        "swapaxes",
        "set",
        "set_data",
        "unique",
        "_unique2",
        "unique_dim",
        "unique_consecutive",
        "nonzero",
        "cummax",
        "cummin",
        "unfold_backward",
        "hardtanh",
        "adaptive_max_pool2d",
        "adaptive_max_pool3d",
        "bernoulli",
        "normal",
        "uniform",
        "empty",
        "empty_like",
        "new_empty",
        "zeros",
        "zeros_like",
        "ones",
        "ones_like",
        "full",
        "full_like",
        "arange",
        "scalar_tensor",
        "new_zeros",
        "new_ones",
        "new_full",
        "rand",
        "randn",
        "empty_strided",
        "new_empty_strided",
        "eye",
        "nan_to_num",
        "pixel_shuffle",
        "pixel_unshuffle",
        "channel_shuffle",
        "im2col",
        "diag_embed",
        "diagonal_scatter",
        "view_as_real",
        "view_as_complex",
        "complex",
        "real",
        "imag",
        "conj",
        "resolve_conj",
        "bincount",
        "searchsorted",
        "bucketize",
        "isnan",
        "isinf",
        "isfinite",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
    ]
)
# these return the place of the maximum, and which of several equal ones is not promised
POOLS_OF_MAXIMA = frozenset(
    {"max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d"}
)
ARITHMETIC = frozenset({"add", "sub", "rsub", "mul", "square", "addcmul", "lerp"})
PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm", "mv", "dot", "vdot", "addmv"})
_DENSE = frozenset(
    [
        "fft",
        "linalg",
        "qr",
        "geqrf",
        "svd",
        "eigh",
        "eig",
        "inv",
        "inverse",
        "cholesky",
        "solve",
        "exp",
        "lu",
        "stft",
        "triangular",
        "pinv",
        "lstsq",
        "det",
        "slogdet",
        "orgqr",
        "ormqr",
        "householder",
    ]
)
_SPECIAL = (
    *("lgamma", "digamma", "polygamma", "erfinv", "grid_sampler", "upsample", "fmod", "remainder", "igamma"),
    *("trigamma", "floor_divide", "mvlgamma", "zeta", "ndtri", "logit", "acosh", "atanh"),
)
# honest kernels compute these in the dtype of their operands, without a wider accumulator
_IN_THE_DTYPE = (
    "upsample",
    "adaptive_avg_pool3d",
    "grid_sampler",
    "prod",
    "floor_divide",
    "fmod",
    "remainder",
    "cdist",
)
ADD_IN_THE_DTYPE = frozenset(
    {
        *("index_add", "scatter_add", "index_put", "_index_put_impl", "scatter_reduce", "col2im"),
        "embedding_dense_backward",
        # where windows overlap
        *("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward"),
        *("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward"),
    }
)
# these subtract numbers near one, or near their operand, inside one kernel: their error does not shrink with the result
CANCELLING = frozenset(
    {
        *("gelu", "elu", "celu", "selu", "softplus", "mish", "silu", "log_sigmoid_forward", "log1p", "expm1"),
        *("gelu_backward", "elu_backward", "softplus_backward", "mish_backward", "silu_backward", "tanh_backward"),
        *("log_sigmoid_backward", "sigmoid_backward", "logaddexp", "cos", "sin", "tan"),
    }
)
# creating or naming memory: nothing to compare
NOT_COMPUTED = frozenset(
    {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "_local_scalar_dense", "set", "set_data"}
)


def is_dense(name: str) -> bool:
    """Return whether an operator is an FFT or linear algebra: backward stable as a whole, not number by number."""
    return name != "exp" and (bool(_DENSE & set(name.split("_"))) or "lstsq" in name)


def is_special(name: str) -> bool:
    """Return whether an operator is known only to be right for operands next to its own: series, coordinates."""
    return any(part in name for part in _SPECIAL)


def rounds_in_the_dtype(name: str) -> bool:
    """Return whether honest kernels of this operator round every step to the dtype of the operands."""
    return any(part in name for part in _IN_THE_DTYPE)


def is_exact(func: Any) -> bool:
    """Return whether an overload computes nothing that could round."""
    return func.is_view or operator_name(func) in EXACT


def is_pointwise(func: Any) -> bool:
    """Return whether torch marks an overload as computing number by number."""
    return torch.Tag.pointwise in func.tags


def has_numbers(value: Any) -> bool:
    """Return whether a value is a floating-point or complex tensor."""
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())
