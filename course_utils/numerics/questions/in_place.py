"""Which in-place write a device forgets: leave one out on the CPU and see whether that gives the device's answer."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course_utils.numerics.reference.differences import compare_outputs
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.reference.trace import traced
from course_utils.numerics.running.attempts import Refusal, attempt
from course_utils.numerics.running.forgetful import Forgetful, Rule, writes_into_part
from course_utils.numerics.running.observed import ObservedCall
from course_utils.numerics.running.runners import run_on_cpu
from course_utils.numerics.tensors.leaves import OutputLeaf

MOST_WRITES = 32


def forgotten_write(device: tuple[OutputLeaf, ...], expected: Expected, dtype: torch.dtype) -> str | None:
    """Name the in-place write whose absence explains what the device gave.

    Args:
        device: what the device gave; it differs from the reference.
        expected: the right answer, with its trace.
        dtype: the dtype the device computed in.

    Returns:
        A phrase such as "write 2 of 3 (aten::addcdiv_)", or None where no forgotten write explains it.
    """
    call = expected.call
    right = expected.forward_leaves
    bounds = expected.bounds[: len(right)]
    # as the device got it, so the writes are those of its own call
    fn = ObservedCall(expected.exact.fn, len(call.inputs), gradients=False, dtype=call.dtype)
    _, trace = traced(lambda: attempt(lambda: run_on_cpu(fn, expected.inputs)))
    for phrase, rule in _hypotheses(trace.writes):
        with Forgetful(rule):
            leaves = attempt(lambda: run_on_cpu(fn, expected.inputs))
        if isinstance(leaves, Refusal):
            continue  # without the write the callable may not get through
        changed = compare_outputs(leaves, right, bounds, dtype=dtype)
        if changed and not compare_outputs(device, leaves, bounds, dtype=dtype):
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
