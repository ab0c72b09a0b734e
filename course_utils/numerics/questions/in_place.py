"""Which in-place write a device forgets: leave one out on the CPU and see whether that gives the device's answer."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course_utils.numerics.reference.answer import Reference
from course_utils.numerics.reference.differences import compare_outputs
from course_utils.numerics.running.forgetful import Forgetful, Rule, writes_into_part
from course_utils.numerics.running.runners import run_on_cpu
from course_utils.numerics.tensors.leaves import OutputLeaf, flatten

MOST_WRITES = 32


def forgotten_write(device: tuple[OutputLeaf, ...], reference: Reference, dtype: torch.dtype) -> str | None:
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
