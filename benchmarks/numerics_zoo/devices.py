"""Honest devices: the CPU with other threads, kernels and orders of adding, and functions a few last bits off."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from course_utils.numerics.running.kernels import without_onednn
from course_utils.numerics.running.runners import copied
from course_utils.numerics.tensors.inputs import fresh
from course_utils.numerics.tensors.operators import operator_name

_DECOMPOSITIONS = dict(core_aten_decompositions())
# Metal Shading Language specification, precise functions: at most 4 units in the last place for most, 16 for pow
_LAST_PLACES = 4
_FUNCTIONS = frozenset(
    [
        "exp",
        "log",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "atan",
        "asinh",
        "acosh",
        "erf",
        "erfc",
        "sigmoid",
        "rsqrt",
        "reciprocal",
        "div",
        "pow",
        "exp2",
        "softplus",
        "gelu",
        "silu",
        "mish",
        "elu",
        "log_sigmoid_forward",
    ]
)
_DECOMPOSED = frozenset(
    [
        "_softmax",
        "_log_softmax",
        "native_layer_norm",
        "native_group_norm",
        "_softmax_backward_data",
        "native_layer_norm_backward",
        "_log_softmax_backward_data",
        "gelu_backward",
        "silu_backward",
        "tanh_backward",
        "sigmoid_backward",
        "mse_loss",
        "huber_loss",
        "native_batch_norm",
        "addmm",
        "baddbmm",
        "var",
        "std",
    ]
)


class HonestDevice:
    """The CPU under a context.

    Args:
        name: what reports call it.
        context: makes the context.
        onednn: whether it takes oneDNN's kernels where torch does.
    """

    def __init__(self, name: str, context: Callable[[], Any], *, onednn: bool = True) -> None:
        self.name, self.context, self.onednn = name, context, onednn

    def run(self, fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """Call a copy under the context."""
        called, given = copied(fn), fresh(inputs)
        with self.context():
            return called(*given)


class OtherKernels(TorchDispatchMode):
    """Adds up lane by lane in float32, computes convolutions as products, and is some last places off.

    Args:
        lanes: how many partial sums there are.
        backwards: whether sums begin at the other end.
    """

    def __init__(self, lanes: int, *, backwards: bool = False) -> None:
        super().__init__()
        self.lanes, self.backwards = lanes, backwards
        self.generator = torch.Generator().manual_seed(lanes)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute one operator in another way."""
        kwargs = kwargs or {}
        name = operator_name(func)
        numbers = isinstance(args[0], torch.Tensor) and args[0].is_floating_point() if args else False
        if not numbers or not args[0].numel() or func._schema.is_mutable or args[0].dtype == torch.float64:
            return func(*args, **kwargs)
        if name in _DECOMPOSED and func in _DECOMPOSITIONS:
            wide = tree_map_only(torch.Tensor, lambda t: t.float() if t.is_floating_point() else t, (args, kwargs))
            with self:
                result = _DECOMPOSITIONS[func](*wide[0], **wide[1])
            return tree_map_only(torch.Tensor, lambda t: t.to(args[0].dtype) if t.is_floating_point() else t, result)
        if name in ("mm", "bmm"):
            return self._product(args[0], args[1])
        if name in ("sum", "mean") and args[0].dim() and kwargs.get("dtype") is None:
            return self._sum(name, func(*args, **kwargs), *args)
        if name == "convolution" and args[1].dim() == 4 and args[8] == 1 and not args[6]:
            return self._convolution(*args[:6])
        result = func(*args, **kwargs)
        return self._off(result) if name in _FUNCTIONS and isinstance(result, torch.Tensor) else result

    def _off(self, result: torch.Tensor) -> torch.Tensor:
        exact = result.float()
        off = torch.randint(-_LAST_PLACES, _LAST_PLACES + 1, result.shape, generator=self.generator)
        return (exact + (exact * off * 2.0**-24).nan_to_num(0, 0, 0)).to(result.dtype)

    def _product(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        inner = left.shape[-1]
        chunks = range(0, inner, self.lanes)
        total = torch.zeros(*left.shape[:-1], right.shape[-1])
        for start in reversed(chunks) if self.backwards else chunks:
            part = slice(start, start + self.lanes)
            total = total + left[..., part].float() @ right[..., part, :].float()
        return total.to(left.dtype)

    def _sum(self, name: str, like: torch.Tensor, addends: torch.Tensor, dims: Any = None, *rest: Any) -> torch.Tensor:
        chosen = [d % addends.dim() for d in ([dims] if isinstance(dims, int) else dims or range(addends.dim()))]
        kept = [d for d in range(addends.dim()) if d not in chosen]
        flat = addends.float().permute(*kept, *chosen).reshape(*[addends.shape[d] for d in kept], -1)
        if self.backwards:
            flat = flat.flip(-1)
        count = flat.shape[-1]
        padded = torch.nn.functional.pad(flat, (0, -count % self.lanes)).unflatten(-1, (-1, self.lanes))
        lanes = torch.zeros((*padded.shape[:-2], self.lanes))
        for step in range(padded.shape[-2]):
            lanes = lanes + padded[..., step, :]
        total = lanes.sum(-1)
        return (total / count if name == "mean" else total).to(like.dtype).reshape(like.shape)

    def _convolution(  # noqa: PLR0917 (the operator's own operands)
        self, image: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any
    ) -> Any:
        columns = torch.nn.functional.unfold(image.float(), weight.shape[2:], dilation, padding, stride)
        flat = weight.float().flatten(1)
        total = self._product(flat.expand(image.shape[0], *flat.shape), columns)
        if bias is not None:
            total = total + bias.float().view(-1, 1)
        size = [
            (image.shape[2 + d] + 2 * padding[d] - dilation[d] * (weight.shape[2 + d] - 1) - 1) // stride[d] + 1
            for d in range(2)
        ]
        return total.unflatten(-1, size).to(image.dtype)


@contextlib.contextmanager
def _threads(count: int, *, onednn: bool) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with contextlib.nullcontext() if onednn else without_onednn():
            yield
    finally:
        torch.set_num_threads(before)


HONEST_DEVICES = (
    HonestDevice("CPU", contextlib.nullcontext),
    HonestDevice("CPU, other threads, no oneDNN", lambda: _threads(2, onednn=False), onednn=False),
    HonestDevice("CPU, math attention", lambda: sdpa_kernel([SDPBackend.MATH])),
    HonestDevice("other kernels, 64 lanes", lambda: OtherKernels(64)),
    HonestDevice("other kernels, 1024 lanes, backwards", lambda: OtherKernels(1024, backwards=True)),
)
