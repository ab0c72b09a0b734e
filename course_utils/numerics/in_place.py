"""Which in-place write a device forgets: leave one out on the CPU and see whether that gives the device's answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.numerics.compare import compare_outputs
from course_utils.numerics.leaves import Leaf, flatten
from course_utils.numerics.reference import Reference
from course_utils.numerics.runners import run_on_cpu
from course_utils.numerics.trace import is_write

MOST_WRITES = 32
Rule = Callable[[int, torch.Tensor], bool]


def writes_into_part(target: torch.Tensor) -> bool:
    """Say whether a tensor is a view of a part of its memory, or lies in it with other strides."""
    covered = target.numel() * target.element_size() == target.untyped_storage().nbytes()
    return not (covered and target.is_contiguous())


class Forgetful(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, in-place operators that a rule picks do nothing.

    Args:
        forgets: takes the number of the write, from 0, and the tensor that is written.
    """

    def __init__(self, forgets: Rule) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.forgets, self.count = forgets, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator unless it is a write to forget."""
        if is_write(func) and args and isinstance(args[0], torch.Tensor):
            number, self.count = self.count, self.count + 1
            if self.forgets(number, args[0]):
                return args[0]
        return func(*args, **(kwargs or {}))


def forgotten_write(device: tuple[Leaf, ...], reference: Reference, dtype: torch.dtype) -> str | None:
    """Name the in-place write whose absence explains what the device gave.

    Args:
        device: what the device gave; it differs from the reference.
        reference: the reference, with its trace.
        dtype: the dtype the device computed in.

    Returns:
        A phrase such as "write 2 of 3 (aten::addcdiv_)", or None where no forgotten write explains it.
    """
    writes = reference.trace.writes
    for phrase, rule in _hypotheses(writes):
        with Forgetful(rule):
            try:
                leaves = flatten(run_on_cpu(reference.fn, reference.inputs))
            except Exception:  # without the write the callable may not get through
                continue
        changed = compare_outputs(leaves, reference.leaves, reference.bounds, dtype=dtype)
        if changed and not compare_outputs(device, leaves, reference.bounds, dtype=dtype):
            return phrase
    return None


def _hypotheses(writes: tuple[str, ...]) -> Iterator[tuple[str, Rule]]:
    if not writes:
        return
    for number, name in enumerate(writes[:MOST_WRITES]):
        yield f"write {number + 1} of {len(writes)} ({name})", _only(number)
    yield "every write into a view or a transposed tensor", lambda number, target: writes_into_part(target)
    yield f"every write ({', '.join(dict.fromkeys(writes))})", lambda number, target: True


def _only(wanted: int) -> Rule:
    return lambda number, target: number == wanted
