"""Planted faults: the CPU, wrong in one known way, with a callable that meets the fault and the right names for it."""

# mypy: disable-error-code="misc, assignment, no-any-return, no-untyped-call, arg-type, var-annotated"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.numerics_zoo import changes
from benchmarks.numerics_zoo.models import pooled_cnn
from course_utils.numerics import draw
from course_utils.numerics.running.runners import copied
from course_utils.numerics.tensors.inputs import fresh
from course_utils.numerics.tensors.operators import operator_name

Change = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class _Changed(TorchDispatchMode):
    def __init__(self, device: PlantedFault) -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if operator_name(func) not in self.device.operators:
            return func(*args, **(kwargs or {}))
        self.device.calls += 1
        if self.device.every and self.device.calls % self.device.every:
            return func(*args, **(kwargs or {}))
        return self.device.change(func, args, kwargs or {})


class PlantedFault:
    """The CPU whose operators of some names answer otherwise.

    Args:
        operators: names of operators, separated by spaces.
        change: takes the overload, its operands and options, and returns the wrong answer.
        every: only every so many-th call is wrong; 0: all.
    """

    def __init__(self, operators: str, change: Change, *, every: int = 0) -> None:
        self.operators, self.change, self.every = frozenset(operators.split()), change, every
        self.name, self.calls = f"CPU with a fault in {operators}", 0

    def run(self, fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """Call a copy with the fault in place."""
        called, given = copied(fn), fresh(inputs)
        with _Changed(self):
            return called(*given)


@dataclass(frozen=True)
class ZooFault:
    """A planted fault.

    Args:
        name: of the fault.
        device: makes the device.
        made: makes the callable and its inputs.
        kinds: the right names.
        half: whether it can show in half precision.
        single: whether it can show in float32.
    """

    name: str
    device: Callable[[], Any]
    made: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    kinds: tuple[str, ...]
    half: bool = True
    single: bool = True


_FAULTS: list[ZooFault] = []


def _add(
    name: str,
    operators: str,
    change: Change,
    fn: Any,
    inputs: tuple[Any, ...],
    *kinds: str,
    half: bool = True,
    every: int = 0,
) -> None:
    def made() -> Any:
        torch.manual_seed(0)
        return (fn() if isinstance(fn, type) or getattr(fn, "makes", False) else fn), inputs

    single = change is not changes.truncated  # functions of float32 may be off by the last place anyway
    _FAULTS.append(ZooFault(name, lambda: PlantedFault(operators, change, every=every), made, kinds, half, single))


def _module(make: Callable[[], nn.Module]) -> Any:
    def maker() -> nn.Module:
        return make()

    maker.makes = True  # type: ignore[attr-defined]
    return maker


ROWS = (draw(12, 32), draw(12, 32, seed=1))
IMAGE = (draw(8, 8, 12, 12),)
CONV = _module(lambda: nn.Conv2d(8, 6, 3, padding=1))
LINEAR = _module(lambda: nn.Linear(32, 16))
QKV = tuple(draw(2, 4, 32, 64, seed=seed) for seed in range(3))
ATTEND = F.scaled_dot_product_attention

# gradients, of losses too
for label, fn, operators in (
    ("sum", torch.sum, "expand"),
    ("mse_loss", F.mse_loss, "mse_loss_backward"),
    ("l1_loss", F.l1_loss, "mul"),
    ("smooth_l1_loss", F.smooth_l1_loss, "smooth_l1_loss_backward"),
    ("huber_loss", F.huber_loss, "huber_loss_backward"),
):
    inputs = ROWS[:1] if label == "sum" else ROWS
    _add(f"gradient of {label}", operators, changes.scaled_in_backward, fn, inputs, "gradient")
_add("gradient of nn.MSELoss", "mse_loss_backward", changes.scaled_in_backward, _module(nn.MSELoss), ROWS, "gradient")
_add(
    *("gradient of cross_entropy", "_log_softmax_backward_data", changes.scaled_in_backward),
    *(lambda x: F.cross_entropy(x, torch.arange(12) % 5), ROWS[:1], "gradient"),
)
for label, fn, inputs, operators in (
    ("gelu", F.gelu, ROWS[:1], "gelu_backward"),
    ("silu", F.silu, ROWS[:1], "silu_backward"),
    ("tanh", torch.tanh, ROWS[:1], "tanh_backward"),
    ("softmax", lambda x: x.softmax(-1), ROWS[:1], "_softmax_backward_data"),
    ("layer_norm", _module(lambda: nn.LayerNorm(32)), ROWS[:1], "native_layer_norm_backward"),
    ("batch_norm", _module(lambda: nn.BatchNorm2d(8)), IMAGE, "native_batch_norm_backward"),
    ("convolution", CONV, IMAGE, "convolution_backward"),
    ("linear", LINEAR, ROWS[:1], "mm"),
    ("max_pool", _module(lambda: nn.MaxPool2d(2)), IMAGE, "max_pool2d_with_indices_backward"),
    ("avg_pool", _module(lambda: nn.AvgPool2d(2)), IMAGE, "avg_pool2d_backward"),
    ("upsample", _module(lambda: nn.Upsample(scale_factor=2, mode="bilinear")), IMAGE, "upsample_bilinear2d_backward"),
):
    _add(f"gradient of {label}", operators, changes.scaled_in_backward, fn, inputs, "gradient")
_add("gradient of the bias only", "convolution_backward", changes.one_of(2), CONV, IMAGE, "gradient")
_add("gradient of the weight only", "convolution_backward", changes.one_of(1), CONV, IMAGE, "gradient")
_add("gradient of the input only", "convolution_backward", changes.one_of(0), CONV, IMAGE, "gradient")
_add(
    *("gradient for batches above 64", "silu_backward", changes.above(64 * 32), F.silu, ROWS[:1]),
    *("wrong above a size",),
)

# strides, offsets, layouts
for label, fn, operators in (
    ("silu", F.silu, "silu"),
    ("gelu", F.gelu, "gelu"),
    ("exp", torch.exp, "exp"),
    ("sigmoid", torch.sigmoid, "sigmoid"),
    ("neg", torch.neg, "neg"),
    ("softplus", F.softplus, "softplus"),
    ("round", torch.round, "round"),
):
    _add(f"strides of {label}", operators, changes.ignore_strides, fn, ROWS[:1], "ignores strides")
    _add(f"offset of {label}", operators, changes.ignore_offset, fn, ROWS[:1], "ignores the storage offset")
_add("strides of add", "add", changes.ignore_strides, torch.add, ROWS, "ignores strides")
_add("strides of where", "where", changes.ignore_strides, torch.where, (ROWS[0] > 0, *ROWS), "ignores strides")
_add("strides of sort", "sort", changes.ignore_strides, lambda x: x.sort(-1).values, ROWS[:1], "ignores strides")
_add("strides of sum", "sum", changes.ignore_strides, lambda x: x.sum(-1), ROWS[:1], "ignores strides")
_add("rows with steps in F.linear", "addmm mm", changes.wrong_for_steps, LINEAR, ROWS[:1], "ignores strides")
_add(
    *("permuted heads in attention", changes.ATTENTION, changes.wrong_for_permuted, ATTEND, QKV),
    *("ignores strides",),
)
_add("channels_last input of conv", "convolution", changes.wrong_for_channels_last(0), CONV, IMAGE, "ignores strides")
_add("channels_last weight of conv", "convolution", changes.wrong_for_channels_last(1), CONV, IMAGE, "ignores strides")
_add(
    *("batch norm backward in channels_last", "native_batch_norm_backward", changes.wrong_for_channels_last(1)),
    *(_module(lambda: nn.BatchNorm2d(8)), IMAGE, "ignores strides"),
)
_add(
    "conv weight that is a slice",
    "convolution",
    changes.wrong_for_view(1),
    CONV,
    IMAGE,
    "ignores strides",
    "ignores the storage offset",
)
for label, fn, operators in (
    ("silu", F.silu, "silu"),
    ("mul", torch.mul, "mul"),
    ("maximum", torch.maximum, "maximum"),
):
    inputs = ROWS[:1] if label == "silu" else ROWS
    _add(f"stride 0 in {label}", operators, changes.wrong_for_stride_0, fn, inputs, "ignores strides")

# sizes
_add("batch 1", "addmm", changes.wrong_for_one_row, LINEAR, ROWS[:1], "wrong at a size")
_add("batch 1 of conv", "convolution", changes.wrong_for_one_row, CONV, IMAGE, "wrong at a size")
_add("batch above 12", "addmm", changes.above_rows(12), LINEAR, ROWS[:1], "wrong above a size")
_add("batch above 8 of conv", "convolution", changes.above_rows(8), CONV, IMAGE, "wrong above a size")
_add(
    "softmax beyond 1024", "_softmax", changes.long_rows(1024), lambda x: x.softmax(-1), ROWS[:1], "wrong above a size"
)
_add("sum beyond 4096", "sum", changes.long_rows(4096), lambda x: x.sum(-1), ROWS[:1], "wrong above a size")
for limit in (500, 1000, 5000, 2**16):
    _add(f"relu above {limit}", "relu", changes.above(limit), F.relu, ROWS[:1], "wrong above a size")
    _add(f"exp above {limit}", "exp", changes.above(limit), torch.exp, ROWS[:1], "wrong above a size")
_add("given size is too large", "exp", changes.above(200), torch.exp, ROWS[:1], "wrong above a size")

# repeatability and caches
for every in (3, 10):
    _add(f"every call {every} of silu", "silu", changes.scaled, F.silu, ROWS[:1], "not repeatable", every=every)
    _add(f"every call {every} of conv", "convolution", changes.scaled, CONV, IMAGE, "not repeatable", every=every)
    _add(
        f"every call {every} of mm",
        "mm",
        changes.scaled,
        torch.mm,
        (draw(8, 16), draw(16, 8)),
        "not repeatable",
        every=every,
    )
_FAULTS.append(
    ZooFault("result cached by shape", changes.CachedByShape, lambda: (F.silu, ROWS[:1]), ("wrong for other values",))
)
_FAULTS.append(
    ZooFault(
        "matmul cached by shape",
        lambda: changes.CachedByShape("mm"),
        lambda: (torch.mm, (draw(8, 16), draw(16, 8))),
        ("wrong for other values",),
    )
)
for label, fn in (("silu", F.silu), ("mm", lambda x: x @ x.mT)):
    _FAULTS.append(
        ZooFault(
            f"raises later, {label}", changes.RaisesLater, lambda fn=fn: (fn, ROWS[:1]), ("refused", "not repeatable")
        )
    )

# integers
NUMBERS = torch.randint(0, 50, (64,), generator=torch.Generator().manual_seed(0))
_add(
    "add of integers through float",
    "add",
    changes.through_float,
    lambda n: n + 1,
    (NUMBERS,),
    "integers through float",
    half=False,
)
_add(
    "unique through float",
    "_unique2 unique_dim",
    changes.through_float,
    lambda n: torch.unique(n, return_inverse=True),
    (NUMBERS,),
    "integers through float",
    "structure",
    "shape",
    "integers",
    half=False,
)
_add(
    "mask of integers through float",
    "index",
    changes.through_float,
    lambda n: n[n % 2 == 0],
    (NUMBERS,),
    "integers through float",
    half=False,
)
_add(
    "cumsum of integers through float",
    "cumsum",
    changes.through_float,
    lambda n: n.cumsum(0),
    (NUMBERS,),
    "integers through float",
    "integers",
    half=False,
)
_add(
    "sum of int64 as int32",
    "sum",
    changes.as_int32,
    lambda n: n.sum(),
    (NUMBERS,),
    "integers",
    "wrong for special values",
    half=False,
)
_add(
    "sum of uint8 saturates",
    "sum",
    changes.saturated,
    lambda n: n.sum(),
    (NUMBERS[:4].to(torch.uint8),),
    "integers",
    "wrong for other values",
    "wrong for special values",
    half=False,
)

# values
_add("amax ignores NaN", "amax", changes.without_nan, lambda x: x.amax(-1), ROWS[:1], "wrong for special values")
_add("tanh above 40", "tanh", changes.nan_above(40), torch.tanh, ROWS[:1], "wrong for special values")
_add(
    "softmax without the maximum",
    "_softmax",
    changes.naive_softmax,
    lambda x: x.softmax(-1),
    ROWS[:1],
    "wrong for special values",
)
_add("relu turns NaN to 0", "relu", changes.nan_to_0, F.relu, ROWS[:1], "wrong for special values")
_add("empty sum", "sum", changes.one_if_empty, lambda x: x.sum(0), ROWS[:1], "wrong for special values")
_add(
    "topk at ties", "topk", changes.first_twice, lambda x: x.topk(3, -1), ROWS[:1], "wrong for special values", "error"
)
_add(
    "unstable sort",
    "sort",
    changes.unstable,
    lambda x: torch.sort(x, dim=-1, stable=True),
    ROWS[:1],
    "wrong for special values",
    "integers",
)
_add("tail of numel % 4", "silu", changes.wrong_tail, F.silu, ROWS[:1], "wrong above a size", "wrong at a size")
MASK = torch.rand(32, 32, generator=torch.Generator().manual_seed(0)) < 0.7
_add(
    "dead row of a mask",
    changes.ATTENTION,
    changes.nan_for_dead_rows,
    ATTEND,
    (*QKV, MASK),
    "wrong for special values",
)
_add(
    "minus infinity in logsumexp",
    "logsumexp",
    changes.nan_for_infinity,
    lambda x: x.logsumexp(-1),
    ROWS[:1],
    "wrong for special values",
)

# plain wrong numbers
for label, change, half in (
    ("scaled by 1.001", changes.scale_by(1.001), True),
    ("scaled by 1.0001", changes.scale_by(1.0001), False),
    ("one number", changes.one_number, True),
    ("last row 0", changes.last_row_0, True),
    ("truncated", changes.truncated, True),
):
    for target, fn, inputs, operators in (
        ("gelu", F.gelu, (draw(32, 256),), "gelu"),
        ("linear", _module(lambda: nn.Linear(256, 64)), (draw(32, 256),), "addmm"),
        ("conv", CONV, IMAGE, "convolution"),
        ("attention", ATTEND, QKV, changes.ATTENTION),
    ):
        if change is not changes.truncated or target == "gelu":
            _add(f"{target} {label}", operators, change, fn, inputs, "error", half=half)
_add("matmul in half precision", "mm", changes.in_half, torch.mm, (draw(32, 256), draw(256, 16)), "error", half=False)
_add("conv in half precision", "convolution", changes.in_half, CONV, IMAGE, "error", half=False)
_add("matmul in TF32", "addmm", changes.in_tf32, LINEAR, ROWS[:1], "error", half=False)
_add(
    "half accumulation",
    "mm",
    changes.half_sums,
    torch.mm,
    (draw(16, 4096), draw(4096, 8)),
    "error",
    "drops a term of a reduction",
)
_add("drops a term of mm", "mm", changes.drop_last, torch.mm, (draw(8, 64), draw(64, 8)), "drops a term of a reduction")
_add(
    "drops a term of a long mm",
    "mm",
    changes.drop_last,
    torch.mm,
    (draw(8, 1024), draw(1024, 8)),
    "drops a term of a reduction",
)
_add("drops a term of linear", "addmm", changes.drop_last_of(1), LINEAR, ROWS[:1], "drops a term of a reduction")
_add("drops a term of sum", "sum", changes.drop_last, lambda x: x.sum(-1), ROWS[:1], "drops a term of a reduction")
_add("drops a term of mean", "mean", changes.drop_last, lambda x: x.mean(-1), ROWS[:1], "drops a term of a reduction")
_add(
    "dilation ignored",
    "convolution",
    changes.no_dilation,
    _module(lambda: nn.Conv2d(8, 6, 3, padding=2, dilation=2)),
    IMAGE,
    "error",
)
_add(
    "groups rotated",
    "convolution",
    changes.rotated_groups,
    _module(lambda: nn.Conv2d(8, 8, 3, groups=2)),
    IMAGE,
    "error",
)
_add("var without correction", "var", changes.no_correction, lambda x: x.var(0), ROWS[:1], "error")
_add(
    "layer_norm without eps",
    "native_layer_norm",
    changes.other_eps,
    _module(lambda: nn.LayerNorm(32)),
    (draw(12, 32) * 0.01,),
    "error",
    half=False,
)
_add("keepdim ignored", "amax", changes.squeezed, lambda x: x.amax(-1, keepdim=True), ROWS[:1], "shape")
_add("gelu by tanh", "gelu", changes.tanh_gelu, F.gelu, ROWS[:1], "error", half=False)
_add(
    "NaN at beta 0",
    "addmm",
    changes.reads_first_input,
    lambda a, x, y: torch.addmm(a * float("nan"), x, y, beta=0),
    (draw(4, 4), draw(4, 8), draw(8, 4)),
    "non-finite",
)
_add(
    "duplicate indices",
    "index_add",
    changes.last_wins,
    lambda x: torch.zeros(6, 32).to(x).index_add(0, torch.arange(12) % 6, x),
    ROWS[:1],
    "error",
)
_add("dense row of NaN", "silu", changes.nan_row, F.silu, ROWS[:1], "non-finite")
_add(
    "pooled CNN, conv scaled",
    "convolution",
    changes.scale_by(1.01),
    _module(pooled_cnn),
    (draw(8, 3, 32, 32),),
    "error",
)

FAULTS: tuple[ZooFault, ...] = tuple(_FAULTS)
