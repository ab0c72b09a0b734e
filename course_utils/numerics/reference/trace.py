"""What a callable does on the CPU, operator by operator: its reductions, its in-place writes, what it draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.numerics.reference.reductions import reduction_length
from course_utils.numerics.tensors.operators import is_write


@dataclass(frozen=True)
class OperatorTrace:
    """The operators of one call.

    Args:
        longest: K of the longest reduction; 1 where nothing is added up.
        longest_operator: the operator with that K, or "".
        writes: the operators that write into an existing tensor, in order.
        random: operators that may draw random numbers.
        operators: how many operators ran.
        sized_by_values: whether a result's size depends on values, so that huge values could need huge memory.
    """

    longest: int = 1
    longest_operator: str = ""
    writes: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    operators: int = 0
    sized_by_values: bool = False


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.longest, self.longest_operator = 1, ""
        self.writes: list[str] = []
        self.random: dict[str, None] = {}
        self.operators = 0
        self.sized_by_values = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func._schema.name
        self.operators += 1
        length = reduction_length(func, args)
        if length > self.longest:
            self.longest, self.longest_operator = length, name
        if is_write(func):
            self.writes.append(name)
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.random[name] = None
        sizing = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
        self.sized_by_values |= any(tag in func.tags for tag in sizing)
        return func(*args, **(kwargs or {}))


def traced(call: Callable[[], Any]) -> tuple[Any, OperatorTrace]:
    """Call once and record what runs.

    Returns:
        What the call returned, and the trace.
    """
    with _Recorder() as recorder:
        result = call()
    return result, OperatorTrace(
        recorder.longest,
        recorder.longest_operator,
        tuple(recorder.writes),
        tuple(recorder.random),
        recorder.operators,
        recorder.sized_by_values,
    )
