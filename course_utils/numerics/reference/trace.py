"""What a callable does on the CPU, operator by operator: its in-place writes, what it draws, how much it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.tensors.operators import is_write, operator_name

# which of several equal numbers these return is not promised
_FREE_AT_TIES = frozenset({"topk", "kthvalue", "median", "nanmedian", "mode", "sort"})
# an integer operand of these becomes a size
_SIZED_BY_INTEGERS = frozenset({"bincount", "repeat_interleave", "one_hot", "histc", "_local_scalar_dense"})


@dataclass(frozen=True)
class OperatorTrace:
    """The operators of one call.

    Args:
        writes: the operators that write into an existing tensor, in order.
        random: operators that may draw random numbers.
        operators: how many operators ran.
        produced: how many numbers they gave, the work of the call.
        sums: whether anything is added up.
        free_at_ties: whether equal numbers were ordered whose places may come in any order.
        convolves: whether there is a convolution, whose kernel may work on transformed tiles (Winograd, FFT).
        sizes_from_integers: operators that may take the value of an integer as a size.
    """

    writes: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    operators: int = 0
    produced: int = 0
    sums: bool = False
    free_at_ties: bool = False
    convolves: bool = False
    sizes_from_integers: tuple[str, ...] = ()


_ADDING = ("sum", "mean", "mm", "dot", "mv", "conv", "norm", "pool", "softmax", "einsum", "loss", "attention", "var")


class _Recorder(DispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.random: dict[str, None] = {}
        self.sizing: dict[str, None] = {}
        self.operators = self.produced = 0
        self.sums = self.free_at_ties = self.convolves = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = operator_name(func)
        self.operators += 1
        if is_write(func):
            self.writes.append(func._schema.name)
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.random[func._schema.name] = None
        if name in _SIZED_BY_INTEGERS:
            self.sizing[name] = None
        self.sums |= any(part in name for part in _ADDING)
        self.convolves |= "conv" in name
        stable = name == "sort" and True in args[1:2] + tuple((kwargs or {}).values())[:1]
        self.free_at_ties |= name in _FREE_AT_TIES and not stable and _has_ties(args[0])
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.produced += sum(leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor))
        return result


def _has_ties(numbers: torch.Tensor) -> bool:
    return any(
        bool((ordered.diff(dim=dim) == 0).any())
        for dim in range(numbers.dim())
        if (ordered := numbers.sort(dim).values).shape[dim] > 1
    )


def traced(call: Callable[[], Any]) -> tuple[Any, OperatorTrace]:
    """Call once and record what runs.

    Returns:
        What the call returned, and the trace.
    """
    with _Recorder() as recorder:
        result = call()
    return result, OperatorTrace(
        writes=tuple(recorder.writes),
        random=tuple(recorder.random),
        operators=recorder.operators,
        produced=recorder.produced,
        sums=recorder.sums,
        free_at_ties=recorder.free_at_ties,
        convolves=recorder.convolves,
        sizes_from_integers=tuple(recorder.sizing),
    )
