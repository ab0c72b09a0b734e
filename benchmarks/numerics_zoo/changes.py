"""What a planted fault does to one operator: takes the overload, its operands and options, returns the wrong answer."""

# mypy: disable-error-code="misc, assignment, no-any-return, no-untyped-call, arg-type, var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from course_utils.numerics.running.runners import copied
from course_utils.numerics.tensors.inputs import fresh
from course_utils.numerics.tensors.operators import operator_name

ATTENTION = "_safe_softmax _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math"
Args: TypeAlias = tuple[Any, ...]
Options: TypeAlias = dict[str, Any]


def _floats(result: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return tree_map_only(torch.Tensor, lambda t: change(t) if t.is_floating_point() else t, result)


def _first(result: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(result, torch.Tensor):
        return change(result)
    return (change(result[0]), *result[1:])


def scale_by(factor: float) -> Any:
    """Scale the first result."""
    return lambda func, args, kwargs: _first(func(*args, **kwargs), lambda t: (t.double() * factor).to(t.dtype))


scaled = scale_by(1.05)


def scaled_in_backward(func: Any, args: Args, kwargs: Options) -> Any:
    """Scale results of backward."""
    result = func(*args, **kwargs)
    if torch._C._current_graph_task_id() == -1:
        return result
    return _floats(result, lambda t: t * 0.9)


def one_of(place: int) -> Any:
    """Scale one of several results."""

    def change(func: Any, args: Args, kwargs: Options) -> Any:
        result = list(func(*args, **kwargs))
        result[place] = result[place] * 0.97
        return tuple(result)

    return change


def _as_if_contiguous(tensor: torch.Tensor, offset: int) -> torch.Tensor:
    memory = tensor.untyped_storage().nbytes() // tensor.element_size()
    whole = tensor.as_strided((memory,), (1,), 0)
    return whole[(torch.arange(tensor.numel()) + offset) % memory].view(tensor.shape)


def ignore_strides(func: Any, args: Args, kwargs: Options) -> Any:
    """Read memory as if it were contiguous."""
    one = lambda t: t if t.is_contiguous() else _as_if_contiguous(t, t.storage_offset())  # noqa: E731
    return func(*tree_map_only(torch.Tensor, one, args), **kwargs)


def ignore_offset(func: Any, args: Args, kwargs: Options) -> Any:
    """Read contiguous memory from its start."""
    one = lambda t: _as_if_contiguous(t, 0) if t.is_contiguous() and t.storage_offset() else t  # noqa: E731
    return func(*tree_map_only(torch.Tensor, one, args), **kwargs)


def _wrong_where(condition: Callable[[Args], bool]) -> Any:
    def change(func: Any, args: Args, kwargs: Options) -> Any:
        result = func(*args, **kwargs)
        return _floats(result, lambda t: t * 0.8) if condition(args) else result

    return change


def _tensors(args: Args) -> list[torch.Tensor]:
    return [arg for arg in args if isinstance(arg, torch.Tensor)]


wrong_for_steps = _wrong_where(
    lambda args: any(
        t.dim() == 2 and 1 in t.stride() and max(t.stride()) > t.shape[t.stride().index(1)] and min(t.shape) > 1
        for t in _tensors(args)
    )
)
wrong_for_permuted = _wrong_where(
    lambda args: any(
        t.dim() == 4 and not t.is_contiguous() and t.transpose(1, 2).is_contiguous() for t in _tensors(args)
    )
)
wrong_for_stride_0 = _wrong_where(
    lambda args: any(0 in [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] for t in _tensors(args))
)
wrong_for_one_row = _wrong_where(
    lambda args: any(t.shape[0] == 1 for t in _tensors(args)[-2:] if t.dim() > 1) or _tensors(args)[0].shape[0] == 1
)


def wrong_for_channels_last(place: int) -> Any:
    """Be wrong for an operand in channels_last."""
    return _wrong_where(
        lambda args: not args[place].is_contiguous() and args[place].is_contiguous(memory_format=torch.channels_last)
    )


def wrong_for_view(place: int) -> Any:
    """Be wrong for an operand that is a view with gaps."""
    return _wrong_where(
        lambda args: (
            not args[place].is_contiguous()
            and not args[place].is_contiguous(memory_format=torch.channels_last)
            and args[place].storage_offset() > 0
        )
    )


def above(limit: int) -> Any:
    """Leave zeros beyond so many numbers."""

    def one(t: torch.Tensor) -> torch.Tensor:
        if t.numel() <= limit:
            return t
        changed = t.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[limit:] = 0
        return changed

    return lambda func, args, kwargs: _floats(func(*args, **kwargs), one)


def above_rows(limit: int) -> Any:
    """Be wrong for more rows."""

    def change(func: Any, args: Args, kwargs: Options) -> Any:
        result = func(*args, **kwargs)
        return result * 0.9 if result.shape[0] > limit else result

    return change


def long_rows(limit: int) -> Any:
    """Be wrong for longer rows of the operand."""
    return _wrong_where(lambda args: args[0].dim() > 0 and args[0].shape[-1] > limit)


def through_float(func: Any, args: Args, kwargs: Options) -> Any:
    """Take integers through float32."""
    one = lambda t: t.float().to(t.dtype) if t.dtype == torch.int64 else t  # noqa: E731
    if operator_name(func) == "index":
        return one(func(*args, **kwargs))
    if operator_name(func) in ("_unique2", "unique_dim"):
        return func(*tree_map_only(torch.Tensor, one, args), **kwargs)
    return tree_map_only(torch.Tensor, one, func(*args, **kwargs))


def as_int32(func: Any, args: Args, kwargs: Options) -> Any:
    """Add up in int32."""
    result = func(*args, **kwargs)
    return result.to(torch.int32).to(result.dtype) if result.dtype == torch.int64 else result


def saturated(func: Any, args: Args, kwargs: Options) -> Any:
    """Keep a sum of bytes at 255."""
    result = func(*args, **kwargs)
    return result.clamp_max(255) if args[0].dtype == torch.uint8 else result


def without_nan(func: Any, args: Args, kwargs: Options) -> Any:
    """Leave NaN out."""
    return func(args[0].nan_to_num(-torch.inf, torch.inf, -torch.inf), *args[1:], **kwargs)


def nan_above(limit: float) -> Any:
    """Give NaN for large operands."""
    return lambda func, args, kwargs: func(*args, **kwargs).masked_fill(args[0].abs() > limit, torch.nan)


def naive_softmax(func: Any, args: Args, kwargs: Options) -> Any:
    """Compute softmax without subtracting the maximum."""
    powers = args[0].float().exp()
    return (powers / powers.sum(args[1], keepdim=True)).to(args[0].dtype)


def nan_to_0(func: Any, args: Args, kwargs: Options) -> Any:
    """Turn NaN into 0."""
    return func(*args, **kwargs).nan_to_num(0.0, torch.inf, -torch.inf)


def one_if_empty(func: Any, args: Args, kwargs: Options) -> Any:
    """Leave the sum of nothing as memory was."""
    result = func(*args, **kwargs)
    return result + 1 if not args[0].numel() else result


def first_twice(func: Any, args: Args, kwargs: Options) -> Any:
    """Return the place of the first of two equal numbers twice."""
    values, places = func(*args, **kwargs)
    places = places.clone()
    tie = values[..., 1:] == values[..., :-1]
    places[..., 1:] = torch.where(tie, places[..., :-1], places[..., 1:])
    return values, places


def unstable(func: Any, args: Args, kwargs: Options) -> Any:
    """Sort from the other end."""
    flipped = args[0].flip(-1)
    values, places = func(flipped, *args[1:], **kwargs)
    return values, args[0].shape[-1] - 1 - places


def wrong_tail(func: Any, args: Args, kwargs: Options) -> Any:
    """Leave the numbers after the last whole vector of four as they came."""
    result = func(*args, **kwargs)
    tail = result.numel() % 4
    if tail and result.is_contiguous():
        result.view(-1)[-tail:] = 0
    return result


def nan_for_dead_rows(func: Any, args: Args, kwargs: Options) -> Any:
    """Give NaN where a row of the mask is empty."""
    result = func(*args, **kwargs)
    if operator_name(func) == "_safe_softmax":
        return result.masked_fill(args[0].isneginf().all(-1, keepdim=True), torch.nan)
    mask = kwargs.get("attn_mask")
    if mask is None:
        return result
    dead = mask.isneginf().all(-1) if mask.is_floating_point() else ~mask.any(-1)
    return _first(result, lambda t: t.masked_fill(dead.unsqueeze(-1), torch.nan))


def nan_for_infinity(func: Any, args: Args, kwargs: Options) -> Any:
    """Give NaN where an operand is infinite."""
    return func(*args, **kwargs).masked_fill(args[0].isinf().any(-1), torch.nan)


def one_number(func: Any, args: Args, kwargs: Options) -> Any:
    """Get one number wrong by a fifth of the usual size."""

    def one(t: torch.Tensor) -> torch.Tensor:
        changed = t.clone()
        changed.view(-1)[t.numel() // 2] += 0.2 * t.double().square().mean().sqrt().to(t.dtype)
        return changed

    return _first(func(*args, **kwargs), one)


def last_row_0(func: Any, args: Args, kwargs: Options) -> Any:
    """Leave the last row 0."""

    def one(t: torch.Tensor) -> torch.Tensor:
        changed = t.clone()
        changed[-1] = 0
        return changed

    return _first(func(*args, **kwargs), one)


def truncated(func: Any, args: Args, kwargs: Options) -> Any:
    """Round towards 0 instead of to the nearest."""
    result = func(*args, **kwargs)
    exact = func(*tree_map_only(torch.Tensor, lambda t: t.double(), args), **kwargs)
    less = torch.nextafter(result, torch.zeros_like(result))
    return torch.where(result.double().abs() > exact.abs(), less, result)


def _rounded(dtype: torch.dtype) -> Any:
    return lambda t: t.to(dtype).to(t.dtype) if t.is_floating_point() else t


def in_half(func: Any, args: Args, kwargs: Options) -> Any:
    """Compute from operands in float16."""
    return func(*tree_map_only(torch.Tensor, _rounded(torch.float16), args), **kwargs)


def in_tf32(func: Any, args: Args, kwargs: Options) -> Any:
    """Compute from operands with ten bits behind the point."""
    one = lambda t: (t.view(torch.int32) & ~0x1FFF).view(torch.float32) if t.dtype == torch.float32 else t  # noqa: E731
    return func(*tree_map_only(torch.Tensor, lambda t: one(t.contiguous()), args), **kwargs)


def half_sums(func: Any, args: Args, kwargs: Options) -> Any:
    """Add up in float16, or in the dtype."""
    dtype = torch.float16 if args[0].dtype == torch.float32 else args[0].dtype
    total = torch.zeros(args[0].shape[0], args[1].shape[1], dtype=dtype)
    for place in range(0, args[0].shape[1], 8):
        part = args[0][:, place : place + 8].float() @ args[1][place : place + 8].float()
        total = (total.float() + part).to(dtype)
    return total.to(args[0].dtype)


def drop_last_of(operand: int) -> Any:
    """Leave the last term out."""

    def change(func: Any, args: Args, kwargs: Options) -> Any:
        shorter = args[operand].clone()
        shorter[..., -1:] = 0
        return func(*args[:operand], shorter, *args[operand + 1 :], **kwargs)

    return change


drop_last = drop_last_of(0)


def no_dilation(func: Any, args: Args, kwargs: Options) -> Any:
    """Convolve without dilation; padded so that the size stays."""
    if max(args[5]) == 1:
        return func(*args, **kwargs)
    padding = [p - (d - 1) for p, d in zip(args[4], args[5], strict=True)]
    return func(*args[:4], padding, [1] * len(args[5]), *args[6:], **kwargs)


def rotated_groups(func: Any, args: Args, kwargs: Options) -> Any:
    """Give each group of channels to the next group of filters."""
    if args[8] == 1:
        return func(*args, **kwargs)
    size = args[0].shape[1] // args[8]
    return func(args[0].roll(size, 1), *args[1:], **kwargs)


def no_correction(func: Any, args: Args, kwargs: Options) -> Any:
    """Divide a variance by n."""
    return func(*args, **(kwargs | {"correction": 0}))


def other_eps(func: Any, args: Args, kwargs: Options) -> Any:
    """Normalise with another eps."""
    return func(*args[:4], 1e-3, **kwargs)


def squeezed(func: Any, args: Args, kwargs: Options) -> Any:
    """Drop the dimension that was to be kept."""
    return func(*args, **kwargs).squeeze(-1)


def tanh_gelu(func: Any, args: Args, kwargs: Options) -> Any:
    """Approximate gelu."""
    return func(args[0], approximate="tanh")


def reads_first_input(func: Any, args: Args, kwargs: Options) -> Any:
    """Read the first operand of addmm at beta=0."""
    result = func(*args, **kwargs)
    return result + 0 * args[0] if kwargs.get("beta") == 0 else result


def last_wins(func: Any, args: Args, kwargs: Options) -> Any:
    """Write instead of add."""
    return args[0].index_copy(args[1], args[2], args[3])


def nan_row(func: Any, args: Args, kwargs: Options) -> Any:
    """Give NaN in the row that holds the largest number."""
    result = func(*args, **kwargs).clone()
    if result.dim() == 2 and result.numel():
        result[args[0].amax(1) > 2.5] = torch.nan
    return result


class _Cache(TorchDispatchMode):
    def __init__(self, device: CachedByShape) -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Args = (), kwargs: Options | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if operator_name(func) != self.device.operator:
            return result
        return self.device.known.setdefault(tuple(result.shape), result).clone()


class CachedByShape:
    """Gives the first answer for a shape again for other values."""

    def __init__(self, operator: str = "silu") -> None:
        self.operator, self.name = operator, f"CPU that caches {operator} by shape"
        self.known: dict[tuple[int, ...], torch.Tensor] = {}

    def run(self, fn: Callable[..., Any], inputs: Args) -> Any:
        """Call with the cache in place."""
        called, given = copied(fn), fresh(inputs)
        with _Cache(self):
            return called(*given)


class RaisesLater:
    """Raises from its fifth call on."""

    name = "CPU that raises later"

    def __init__(self) -> None:
        self.calls = 0

    def run(self, fn: Callable[..., Any], inputs: Args) -> Any:
        """Call, or raise."""
        self.calls += 1
        if self.calls >= 5:
            raise RuntimeError("the kernel crashed")
        return fn(*fresh(inputs))
