"""Composite operators that C++ dispatches on the tensor's device: their MPS branch, in Python.

On a Mac `convolution` calls `_mps_convolution`, attention without gradients
`_scaled_dot_product_attention_math_for_mps`, an LSTM `_lstm_mps`. C++ sees device "meta" on a tensor of the emulated
device, and builds without MPS lack these branches (`#ifdef USE_MPS`).
"""

# ruff: noqa: PLR0917  (the signatures are those of native_functions.yaml)
from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.emulation import messages
from course_utils.emulation.events import Kernel
from course_utils.emulation.refusals import MpsRule, refusal
from course_utils.emulation.tensor import is_emulated

Tensor = torch.Tensor
aten = torch.ops.aten


def make_convolutions() -> dict[str, Kernel]:
    """Make `convolution` and its backward as ATen/native/Convolution.cpp routes them on MPS."""

    def convolution(
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        transposed: bool,
        output_padding: Sequence[int],
        groups: int,
        *_flags: bool,
    ) -> Tensor:
        _check_devices(x, weight, bias, transposed, any(size > 1 for size in dilation))
        if x.dim() == 3:  # a 1-d convolution runs as 2-d
            x, weight = x.unsqueeze(2), weight.unsqueeze(2)
            stride, dilation = [1, *stride], [1, *dilation]
            padding, output_padding = [0, *padding], [0, *output_padding]
            out = _forward(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
            return out.squeeze(2)
        return _forward(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)

    def convolution_backward(
        grad_output: Tensor,
        x: Tensor,
        weight: Tensor,
        bias_sizes: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        transposed: bool,
        output_padding: Sequence[int],
        groups: int,
        output_mask: Sequence[bool],
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        is_1d = x.dim() == 3
        if is_1d:
            grad_output, x, weight = grad_output.unsqueeze(2), x.unsqueeze(2), weight.unsqueeze(2)
            stride, dilation = [1, *stride], [1, *dilation]
            padding, output_padding = [0, *padding], [0, *output_padding]
        grad_output = grad_output.contiguous()
        if transposed:
            grad_x, grad_weight = aten.mps_convolution_transpose_backward(
                x, grad_output, weight, padding, output_padding, stride, dilation, groups, output_mask[:2]
            )
        else:
            grad_x, grad_weight, _ = aten.mps_convolution_backward(
                x, grad_output, weight, padding, stride, dilation, groups, [*output_mask[:2], False]
            )
        grad_bias = None
        if output_mask[2]:
            grad_bias = grad_output.sum([0, *range(2, grad_output.dim())])
        if is_1d:
            grad_x = grad_x.squeeze(2) if output_mask[0] else None
            grad_weight = grad_weight.squeeze(2) if output_mask[1] else None
        return grad_x if output_mask[0] else None, grad_weight if output_mask[1] else None, grad_bias

    return {"convolution": convolution, "_convolution": convolution, "convolution_backward": convolution_backward}


def _cpu_convolution(x: Tensor, transposed: bool, dilated: bool) -> Exception:
    """Return the error for an input on the CPU: it chooses the CPU's convolution, and the weight the MPS key."""
    n_sides = max(x.dim() - 2, 2)
    if transposed:
        return NotImplementedError(messages.missing(f"aten::slow_conv_transpose{n_sides}d" + ".out" * (n_sides == 2)))
    if dilated:
        return NotImplementedError(messages.missing(f"aten::slow_conv_dilated{n_sides}d"))
    if n_sides == 3:
        return NotImplementedError(messages.missing("aten::slow_conv3d_forward"))
    return RuntimeError(messages.CONVOLUTION_ON_CPU_INPUT)


def _check_devices(x: Tensor, weight: Tensor, bias: Tensor | None, transposed: bool, dilated: bool) -> None:
    if is_emulated(x) and is_emulated(weight) and (bias is None or is_emulated(bias)):
        return
    if not is_emulated(x):
        raise refusal(_cpu_convolution(x, transposed, dilated), MpsRule.MIXED_DEVICES)
    if not is_emulated(weight):
        text = messages.convolution_on_cpu("weight", x.dtype)
    else:
        text = messages.convolution_on_cpu("bias", x.dtype)
    raise refusal(RuntimeError(text), MpsRule.MIXED_DEVICES)


def _forward(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    if not transposed:
        return aten._mps_convolution(x, weight, bias, padding, stride, dilation, groups)  # type: ignore[no-any-return]
    out: Tensor = aten._mps_convolution_transpose(x, weight, padding, output_padding, stride, dilation, groups)
    if bias is not None:
        out.add_(bias.view([1, -1] + [1] * (out.dim() - 2)))
    return out


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Choose as ATen/native/transformers/attention.cpp does on MPS with macOS 15 or newer."""
    needs_grad = torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad)
    if dropout_p > 0.0 or needs_grad or not all(is_emulated(tensor) for tensor in (query, key, value)):
        composite = torch._C.DispatchKey.CompositeImplicitAutograd
        return aten.scaled_dot_product_attention.default._op_dk(  # type: ignore[no-any-return]
            composite, query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        zero = torch.zeros((), dtype=query.dtype, device="cpu")
        attn_mask = torch.where(attn_mask, zero, torch.full((), -torch.inf, dtype=query.dtype, device="cpu"))
    if enable_gqa and (repeats := query.size(-3) // key.size(-3)) > 1:
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    out, _ = aten._scaled_dot_product_attention_math_for_mps(
        query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale
    )
    return out  # type: ignore[no-any-return]


def lstm_input(
    x: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Choose as ATen/native/RNN.cpp does for an input on MPS: one fused operator for all layers."""
    if hx[0].size(2) != hx[1].size(2):
        raise RuntimeError(messages.LSTM_PROJECTIONS)
    output, h, c, *_ = aten._lstm_mps(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    return output, h, c


def rms_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Choose as ATen/native/layer_norm.cpp does on MPS: the fused kernel has no backward there."""
    needs_grad = torch.is_grad_enabled() and (x.requires_grad or (weight is not None and weight.requires_grad))
    if weight is not None and not needs_grad:
        out, _ = aten._fused_rms_norm(x, normalized_shape, weight, eps)
    else:
        composite = torch._C.DispatchKey.CompositeImplicitAutograd
        out, _ = aten._fused_rms_norm.default._op_dk(composite, x, normalized_shape, weight, eps)
    return out  # type: ignore[no-any-return]


# Composite operators that autograd decomposes: registered for the autograd key, and for the MPS key because
# tensors of inference mode skip autograd.
ABOVE_AUTOGRAD: dict[str, Kernel] = {
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "lstm.input": lstm_input,
    "rms_norm": rms_norm,
}
