"""Trace a step in the cheapest way that the model allows, and at several batch sizes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import nn
from torch.utils._pytree import tree_map

from course_utils.memory.build import describe_tensor, first_line
from course_utils.memory.footprint import BatchPeaks
from course_utils.memory.stand_ins import StandIn, resize_batch
from course_utils.memory.tracing import UPDATE, MemoryTrace, TracedStep, tensors_in, trace

# a peak is the largest of several lines in the batch, so it bends upwards: a batch between two traced ones needs no
# more than the line between them says, while a line drawn beyond them can promise too much
FACTORS = (8, 64)


@dataclass(frozen=True)
class FoundTrace:
    """A trace, and how it was made.

    Args:
        trace: what was counted.
        where: on what it was traced.
        warning: what follows from that, or None.
    """

    trace: MemoryTrace
    where: StandIn
    warning: str | None


def trace_with_fallbacks(step: TracedStep, make_real: Callable[[], nn.Module] | None) -> FoundTrace:
    """Trace on tensors without numbers if the model allows it, else on real ones.

    Args:
        step: what to trace.
        make_real: makes the model with real weights, where it was made on meta.

    Raises:
        ValueError: when the model runs in no way; the message is the reason.
    """
    # meta tensors are three times as quick, and take the composite route that MPS takes; only fake ones take the CPU's
    order: tuple[StandIn, ...] = ("meta", "fake") if step.settings.device == "mps" else ("fake", "meta")
    errors = []
    for where in order:
        try:
            found = trace(step, where)
        except Exception as error:  # models raise whatever they like
            errors.append(error)
            continue
        other_route = step.settings.device == "cpu" and where == "meta"
        return FoundTrace(
            found, where, "traced on meta tensors, which take no kernels of the CPU" if other_route else None
        )
    if _affordable(step.model) and (make_real or all(p.device.type != "meta" for p in step.model.parameters())):
        try:
            model = step.model if make_real is None else make_real()
            found = trace(replace(step, model=model), "real")
        except Exception as error:  # with real numbers, the error is the model's own
            errors.insert(0, error)
        else:
            why = f"traced with real numbers: the model reads them ({first_line(errors[0])})"
            return FoundTrace(found, "real", why)
    tensors = tensors_in((step.args, step.kwargs))
    shapes = ", ".join(describe_tensor(tensor, step.settings.dtype) for tensor in tensors) or "none"
    raise ValueError(f"the model does not run on inputs {shapes}: {first_line(errors[0])}") from errors[0]


def _affordable(model: nn.Module) -> bool:
    """Return whether a real training step of the model, as far as its weights tell, stays within half of this RAM."""
    ram_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 6 * sum(p.nbytes for p in model.parameters()) < ram_bytes / 2


def trace_batches(step: TracedStep, found: FoundTrace, batch: int | None) -> tuple[tuple[BatchPeaks, ...], str | None]:
    """Trace a batch of 1, and 8 and 64 times the batch.

    Args:
        step: the step that was traced.
        found: its trace.
        batch: its batch, or None where inputs have none.

    Returns:
        The peaks of all batches, the step's own first, and a warning where others do not run.
    """
    points = [BatchPeaks(batch or 1, tuple(found.trace.phase_peaks_bytes.items()))]
    if batch is None or found.where == "real":
        return tuple(points), None
    for size in sorted({1, *(batch * factor for factor in FACTORS)} - {batch}):
        try:
            points.append(_trace_batch(step, found, batch, size))
        except Exception as error:  # models raise whatever they like
            if size == 1:  # batch norm over a single value refuses to train
                continue
            return tuple(points), f"a batch of {size} does not run ({first_line(error)}), so other batches are unknown"
    return tuple(points), None


def _trace_batch(step: TracedStep, found: FoundTrace, batch: int, size: int) -> BatchPeaks:
    dimension = step.settings.batch_dimension or 0
    args, kwargs = tree_map(lambda value: resize_batch(value, dimension, batch, size), (step.args, step.kwargs))
    # the optimizer's step costs the same for each batch, and most of the time of a trace
    other = trace(replace(step, args=args, kwargs=kwargs, updates=False), found.where)
    state_bytes = found.trace.held_bytes["optimizer state"]
    phases_bytes = {phase: n_bytes + state_bytes for phase, n_bytes in other.phase_peaks_bytes.items()}
    if UPDATE in found.trace.peaks_bytes:
        grows_bytes = other.held_bytes["inputs"] - found.trace.held_bytes["inputs"]
        if step.settings.keeps_output:
            grows_bytes += other.output_bytes - found.trace.output_bytes
        phases_bytes[UPDATE] = found.trace.phase_peaks_bytes[UPDATE] + grows_bytes
    return BatchPeaks(size, tuple(phases_bytes.items()))
