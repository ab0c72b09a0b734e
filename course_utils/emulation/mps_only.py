"""CPU stand-ins for the operators that only MPS has; each takes and returns CPU tensors.

Their schemas are in every torch build, their kernels in none but the macOS one
(native_functions.yaml, torch 2.9 to 2.15).
"""

# ruff: noqa: PLR0917  (the signatures are those of native_functions.yaml)
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

aten = torch.ops.aten
Tensor = torch.Tensor


def linear_backward(
    x: Tensor, grad_output: Tensor, weight: Tensor, output_mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Differentiate `linear`: gradients of the input (..., in), of the weight (out, in) and of the bias (out,)."""
    matrix = weight.unsqueeze(0) if weight.dim() == 1 else weight
    rows = math.prod(x.shape[:-1])  # not -1, which cannot be worked out where there are no features
    grad_2d = grad_output.reshape(rows, matrix.size(0))
    x_2d = x.reshape(rows, matrix.size(1))
    grad_x = (grad_2d @ matrix).reshape(x.shape) if output_mask[0] else None
    grad_weight = (grad_2d.t() @ x_2d).reshape(weight.shape) if output_mask[1] else None
    grad_bias = grad_2d.sum(0) if output_mask[2] else None
    return grad_x, grad_weight, grad_bias


def mps_convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    padding: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """Convolve, with the argument order of `_mps_convolution`."""
    return aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * len(stride), groups)  # type: ignore[no-any-return]


def mps_convolution_backward(
    x: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    padding: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    """Differentiate a convolution."""
    return aten.convolution_backward(
        grad_output,
        x,
        weight,
        [weight.size(0)],
        stride,
        padding,
        dilation,
        False,
        [0] * len(stride),
        groups,
        output_mask,
    )


def mps_convolution_transpose(
    x: Tensor,
    weight: Tensor,
    padding: Sequence[int],
    output_padding: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """Convolve transposed; the caller adds the bias."""
    return aten.convolution(x, weight, None, stride, padding, dilation, True, output_padding, groups)  # type: ignore[no-any-return]


def mps_convolution_transpose_backward(
    x: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    padding: Sequence[int],
    output_padding: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    """Differentiate a transposed convolution with respect to input and weight."""
    grad_x, grad_weight, _ = aten.convolution_backward(
        grad_output,
        x,
        weight,
        None,
        stride,
        padding,
        dilation,
        True,
        output_padding,
        groups,
        [*output_mask, False],
    )
    return grad_x, grad_weight


def max_pool2d_backward(
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> Tensor:
    """Differentiate `max_pool2d`; MPS finds the maxima again, so this does too."""
    _, indices = aten.max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)
    return aten.max_pool2d_with_indices_backward(  # type: ignore[no-any-return]
        grad_output, x, kernel_size, stride, padding, dilation, ceil_mode, indices
    )


def lstm_mps(
    x: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Run an LSTM: output, last hidden and cell state, and three results that only its backward reads.

    MPS keeps activations in those three. Here the first holds the state of the random generator, so that the
    backward can run the forward again with the same dropout; the other two are empty.
    """
    state = torch.default_generator.get_state()
    output, h, c = aten.lstm.input(
        x, list(hx), list(params), has_biases, num_layers, dropout, train, bidirectional, batch_first
    )
    return output, h, c, state, x.new_empty(0), x.new_empty(0)


def lstm_mps_backward(
    grad_y: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    z_state: Tensor,
    cell_state_fwd: Tensor,
    x: Tensor,
    layers_outputs: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Differentiate the LSTM with respect to its input, its initial states and its parameters."""
    del cell_state_fwd, layers_outputs  # empty, see lstm_mps
    now = torch.default_generator.get_state()
    torch.default_generator.set_state(z_state)
    try:
        leaves = [t.detach().requires_grad_() for t in (x, *hx, *params)]
        outputs = _with_autograd(
            lambda: aten.lstm.input(
                leaves[0],
                leaves[1:3],
                leaves[3:],
                has_biases,
                num_layers,
                dropout,
                train,
                bidirectional,
                batch_first,
            ),
            leaves,
            (grad_y, grad_hy, grad_cy),
        )
    finally:
        torch.default_generator.set_state(now)
    return outputs[0], outputs[1:3], outputs[3:]


def _with_autograd(
    forward: Callable[[], Sequence[Tensor]], leaves: list[Tensor], grads: Sequence[Tensor | None]
) -> list[Tensor]:
    """Differentiate a CPU function inside a kernel, where the dispatcher has switched autograd off."""
    with torch.enable_grad(), torch._C._PreserveDispatchKeyGuard():
        for key in (torch._C.DispatchKey.AutogradFunctionality, torch._C.DispatchKey.ADInplaceOrView):
            torch._C._dispatch_tls_set_dispatch_key_excluded(key, False)
        chosen = [(out, grad) for out, grad in zip(forward(), grads, strict=True) if grad is not None]
        found = torch.autograd.grad([o for o, _ in chosen], leaves, [g for _, g in chosen], allow_unused=True)
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, found, strict=True)]


def _no_stand_in(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"aten::{name} has an MPS kernel, but the emulated device has nothing to compute it with; "
            "run this part on a Mac"
        )

    return refuse


# overload name -> what computes it on the CPU
STAND_INS: dict[str, Callable[..., Any]] = {
    "linear_backward": linear_backward,
    "_mps_convolution": mps_convolution,
    "mps_convolution_backward": mps_convolution_backward,
    "_mps_convolution_transpose": mps_convolution_transpose,
    "mps_convolution_transpose_backward": mps_convolution_transpose_backward,
    "max_pool2d_backward": max_pool2d_backward,
    "_lstm_mps": lstm_mps,
    "lstm_mps_backward": lstm_mps_backward,
    # the same schema: query, key, value, mask, dropout, causal, dropout mask, scale
    "_scaled_dot_product_attention_math_for_mps": aten._scaled_dot_product_attention_math,
    # int4 packing is a private layout of each backend
    "_convert_weight_to_int4pack": _no_stand_in("_convert_weight_to_int4pack"),
    "_weight_int4pack_mm": _no_stand_in("_weight_int4pack_mm"),
}
