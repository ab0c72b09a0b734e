"""Devices with a planted fault, for teaching and for testing checkers: the CPU, made wrong in one known way.

Nothing here is MPS. Each fault imitates one that MPS has had (the issues are named with it), on the CPU, by changing
what operators give while the callable runs.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.running.forgetful import Forgetful, writes_into_part
from course_utils.numerics.running.runners import copied
from course_utils.numerics.tensors.inputs import Inputs, fresh
from course_utils.numerics.tensors.operators import operator_name
from course_utils.reporting.near_names import suggest

# fault -> what it does, and where MPS did something like it
FAULTS = {
    "ignores strides": "reads a strided tensor's memory as if it were contiguous (pytorch #131736, #150967, #175187)",
    "wrong above": "leaves results zero beyond their first `above` numbers (pytorch #197636, #122916: above 2**32)",
    "forgets an in-place write": "loses writes into views and transposed tensors (pytorch #118115, #122016)",
    "integers through float": "rounds integer results through float32",
    "leaks future tokens": "opens causal masks to the end of each block of four tokens",
    "not repeatable": "adds other noise to results at every call (pytorch #180776)",
    "drops a term": "leaves the last term out of sums and products of matrices",
    "wrong gradient": "scales what backward computes by 0.9 (pytorch #92615, #190056)",
    "uninitialised memory": "does not skip the first input of addmm and baddbmm at beta=0 (diffusers #11229)",
    "no float64": "refuses float64 as MPS does (pytorch #122602)",
}
Operator = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "dot": 0, "mv": 0}


class FaultyDevice:
    """The CPU with one planted fault.

    Args:
        fault: one of `FAULTS`.
        above: for "wrong above": how many numbers of a result are right.
        block: for "leaks future tokens": how many tokens see each other.
        seed: for "not repeatable".
    """

    def __init__(self, fault: str, *, above: int = 1000, block: int = 4, seed: int = 0) -> None:
        if fault not in FAULTS:
            raise ValueError(f"there is no fault {fault!r}; {suggest(fault, FAULTS)}")
        self.fault, self.above, self.block = fault, above, block
        self.generator = torch.Generator().manual_seed(seed)

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"CPU with a planted fault ({self.fault})"

    def __repr__(self) -> str:
        extra = {"wrong above": f", above={self.above}", "leaks future tokens": f", block={self.block}"}
        return f"FaultyDevice({self.fault!r}{extra.get(self.fault, '')})"

    def run(self, fn: Callable[..., Any], inputs: Inputs) -> Any:
        """Call a copy of `fn` with copies of the inputs while operators are faulty."""
        called = copied(fn)
        given = fresh(inputs)
        with self._mode():
            return called(*given)

    def _mode(self) -> Any:
        if self.fault == "leaks future tokens":
            return _LeakyMasks(self.block)
        if self.fault == "forgets an in-place write":
            return Forgetful(lambda number, target: writes_into_part(target))
        operators: dict[str, Operator] = {
            "ignores strides": _ignore_strides,
            "wrong above": self._wrong_above,
            "integers through float": _through_float,
            "not repeatable": self._noisy,
            "drops a term": _drop_a_term,
            "wrong gradient": _wrong_gradient,
            "uninitialised memory": _read_first_input,
            "no float64": _refuse_float64,
        }
        return _Replaced(operators[self.fault])

    def _wrong_above(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        if _is_new_number(func, result) and result.numel() > self.above:
            result.view(-1)[self.above :] = 0
        return result

    def _noisy(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        if _is_new_number(func, result):
            result += 0.05 * result * torch.randn(result.shape, generator=self.generator).to(result.dtype)
        return result


class UnlabelledDevice:
    """The CPU with one planted fault that it does not name, for exercises: it has to be found by running something.

    Args:
        fault: one of `FAULTS`.
    """

    def __init__(self, fault: str) -> None:
        place = sorted(FAULTS).index(FaultyDevice(fault).fault)
        self._key = next(key for key in iter(lambda: secrets.token_bytes(8), b"") if _place_of(key) == place)

    def __repr__(self) -> str:
        return "UnlabelledDevice()"

    def run(self, fn: Callable[..., Any], inputs: Inputs) -> Any:
        """Call a copy of `fn` with copies of the inputs while operators are faulty."""
        return FaultyDevice(sorted(FAULTS)[_place_of(self._key)], seed=secrets.randbits(31)).run(fn, inputs)


def _place_of(key: bytes) -> int:
    return hashlib.sha256(key).digest()[0] % len(FAULTS)


class _Replaced(DispatchMode):
    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self.operator(func, args, kwargs or {})


class _LeakyMasks(TorchFunctionMode):
    """Opens the causal mask of scaled dot-product attention to the end of each block."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block = block

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.nn.functional.scaled_dot_product_attention:
            query, key = args[0], args[1]
            mask = args[3] if len(args) > 3 else kwargs.pop("attn_mask", None)
            queries, keys = torch.arange(query.shape[-2]), torch.arange(key.shape[-2])
            if kwargs.pop("is_causal", False) or (len(args) > 5 and args[5]):
                mask = keys[None, :] <= queries[:, None]
            if mask is not None and mask.shape[-2:] == (len(queries), len(keys)):
                same_block = keys[None, :] // self.block == queries[:, None] // self.block
                mask = mask | same_block if mask.dtype == torch.bool else mask.masked_fill(same_block, 0.0)
            kwargs["attn_mask"] = mask
            return func(*args[:3], **kwargs)
        return func(*args, **kwargs)


def _is_new_number(func: Any, result: Any) -> bool:
    aliases = any(r.alias_info is not None for r in func._schema.returns)
    return isinstance(result, torch.Tensor) and result.is_floating_point() and not aliases and result.is_contiguous()


def _is_backward() -> bool:
    return bool(torch._C._current_graph_task_id() != -1)


def _ignore_strides(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = operator_name(func)
    if func.is_view or func._schema.is_mutable or name in ("clone", "copy", "_to_copy", "contiguous"):
        return func(*args, **kwargs)
    # the second factor of a product lies transposed in every linear layer, and in its backward both may:
    # those work, or nothing would
    read = {_PRODUCTS[name]} if name in _PRODUCTS else set(range(len(args)))
    if name in _PRODUCTS and _is_backward():
        read = set()
    return func(*(_as_if_contiguous(arg) if place in read else arg for place, arg in enumerate(args)), **kwargs)


def _as_if_contiguous(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return value
    memory = value.untyped_storage().nbytes() // value.element_size()
    whole = value.as_strided((memory,), (1,), 0)
    return whole[(torch.arange(value.numel()) + value.storage_offset()) % memory].view(value.shape)


def _through_float(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = func(*args, **kwargs)
    aliases = any(r.alias_info is not None for r in func._schema.returns)
    if isinstance(result, torch.Tensor) and result.dtype in (torch.int32, torch.int64) and not aliases:
        return result.to(torch.float32).to(result.dtype)
    return result


def _drop_a_term(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = operator_name(func)
    if any(isinstance(arg, torch.Tensor) and not arg.numel() for arg in args):
        return func(*args, **kwargs)
    if name in _PRODUCTS:
        place = _PRODUCTS[name]
        left = args[place].clone()
        left[..., -1] = 0
        return func(*args[:place], left, *args[place + 1 :], **kwargs)
    if name == "sum" and args[0].dim() and not args[0].dtype.is_complex:
        dims = args[1] if len(args) > 1 and args[1] else range(args[0].dim())
        shorter = args[0].clone()
        last = tuple(-1 if d in [x % shorter.dim() for x in dims] else slice(None) for d in range(shorter.dim()))
        shorter[last] = 0
        return func(shorter, *args[1:], **kwargs)
    if name == "convolution":
        weight = args[1].clone()
        weight[(slice(None), *(-1 for _ in weight.shape[1:]))] = 0
        return func(args[0], weight, *args[2:], **kwargs)
    return func(*args, **kwargs)


def _wrong_gradient(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = func(*args, **kwargs)
    if not _is_backward() or func.is_view or func._schema.is_mutable:
        return result
    many = isinstance(result, tuple | list)
    changed = [
        r * 0.9 if isinstance(r, torch.Tensor) and r.is_floating_point() else r for r in (result if many else [result])
    ]
    return tuple(changed) if many else changed[0]


def _read_first_input(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = func(*args, **kwargs)
    if operator_name(func) in ("addmm", "baddbmm") and kwargs.get("beta") == 0:
        return result + 0 * args[0]
    return result


def _refuse_float64(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any(isinstance(arg, torch.Tensor) and arg.dtype == torch.float64 for arg in args):
        raise TypeError(
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
            "Please use float32 instead."
        )
    return func(*args, **kwargs)
