"""How many numbers an operator adds up for one number of its result: the K of a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from course_utils.numerics.tensors.operators import operator_name

# products of matrices: the length is the last size of this argument
_LAST_SIZE_OF = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "vdot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1, "addbmm": 1}
# these add up everything they are given for each number that comes out
_FOLDING = {
    *("sum", "nansum", "mean", "prod", "var", "std", "var_mean", "std_mean", "norm", "linalg_vector_norm", "logsumexp"),
    *("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "native_group_norm"),
    *("native_layer_norm", "_fused_rms_norm", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss"),
    *("nll_loss_forward", "nll_loss2d_forward", "binary_cross_entropy", "avg_pool2d", "avg_pool3d", "trace"),
    *("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "index_add", "scatter_add", "embedding_dense_backward"),
    *("_embedding_bag", "_cdist_forward", "_pdist_forward", "multi_margin_loss", "multilabel_margin_loss_forward"),
    *("native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward", "index_put"),
    *("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward"),
    *("_scaled_dot_product_attention_math", "convolution_backward", "_fused_rms_norm_backward"),
}
_ALONG_A_DIMENSION = {"softmax", "_softmax", "_log_softmax", "cumsum", "cumprod", "logcumsumexp"}
_ALONG_A_DIMENSION |= {"_softmax_backward_data", "_log_softmax_backward_data"}
# the terms of these are products of their arguments, so the terms' squares come from squared arguments
SUMS_OF_PRODUCTS = {*_LAST_SIZE_OF, "convolution", "sum"} - {"vdot", "addbmm"}


# these add into their result one after the other, in the result's own dtype
_ADDING_IN_PLACE = {
    "col2im",
    "index_add",
    "scatter_add",
    "index_put",
    "embedding_dense_backward",
    "convolution_backward",
}


def adds_in_its_dtype(name: str, args: Sequence[Any]) -> bool:
    """Return whether an operator's kernels may add up in the dtype of the result instead of a wider one."""
    transposed = name == "convolution" and len(args) > 6 and bool(args[6])
    return name in _ADDING_IN_PLACE or transposed or is_interpolation_backward(name)


def is_interpolation_backward(name: str) -> bool:
    """Return whether an operator adds the gradients of pixels to the pixels they were interpolated from."""
    return name.endswith("_backward") and ("upsample" in name or "grid_sampler" in name)


def reduction_length(func: Any, args: Sequence[Any]) -> int:
    """Find how many terms one number of the operator's result has.

    Args:
        func: an overload, such as `torch.ops.aten.mm.default`.
        args: its positional arguments.

    Returns:
        K, at least 1; 1 also for operators that are not known to add anything up.
    """
    name = operator_name(func)
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    if not tensors:
        return 1
    for known in (_of_product, _of_pixels, _of_fold):
        length = known(name, tensors, args)
        if length:
            return length
    return 1


def _of_product(name: str, tensors: Sequence[torch.Tensor], args: Sequence[Any]) -> int:
    if name in _LAST_SIZE_OF and _LAST_SIZE_OF[name] < len(tensors):
        return int(tensors[_LAST_SIZE_OF[name]].shape[-1])
    if name == "convolution":
        return tensors[1].numel() // max(1, tensors[1].shape[0])
    return 0


def _of_pixels(name: str, tensors: Sequence[torch.Tensor], args: Sequence[Any]) -> int:
    if is_interpolation_backward(name):
        return 64  # as bicubic interpolation to twice the size has; larger scales add up less steeply
    if name.startswith(("upsample_bi", "upsample_tri", "upsample_linear", "_upsample_bi", "grid_sampler")):
        return 16  # the most: bicubic
    return int(math.prod(args[2])) if name == "col2im" else 0


def _of_fold(name: str, tensors: Sequence[torch.Tensor], args: Sequence[Any]) -> int:
    if name in _ALONG_A_DIMENSION:
        longest: int = max([1, *tensors[0].shape])
        return longest
    return _folded(name, tensors, args) if name in _FOLDING else 0


def _folded(name: str, tensors: Sequence[torch.Tensor], args: Sequence[Any]) -> int:
    first = tensors[0]
    if "scaled_dot_product" in name:
        return max(first.shape[-1], first.shape[-2])
    if "layer_norm" in name or "rms_norm" in name:
        shape = next((arg for arg in args if isinstance(arg, list | tuple)), first.shape[-1:])
        return max(math.prod(shape), first.numel() // max(1, math.prod(shape)) if "backward" in name else 1)
    if "batch_norm" in name or name == "convolution_backward":
        return first.numel() // max(1, first.shape[1] if first.dim() > 1 else 1)
    dims = args[1] if len(args) > 1 else None
    if name in ("sum", "mean", "var", "std", "nansum", "var_mean") and isinstance(dims, list | tuple) and dims:
        return int(math.prod(first.shape[dim] for dim in dims)) if first.dim() else 1
    return first.numel()


def size_of_terms(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> torch.Tensor | None:
    """Compute the root of the sum of squared terms, sqrt(K)*|x| in the tolerance, for sums of products.

    Returns:
        A tensor of the result's shape, or None where the operator is no plain sum of products.
    """
    if operator_name(func) not in SUMS_OF_PRODUCTS:
        return None
    squared = [arg.square() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in args]
    if not any(isinstance(arg, torch.Tensor) and arg.is_floating_point() for arg in args):
        return None
    result: torch.Tensor = func(*squared, **kwargs)
    return result.abs().sqrt()
