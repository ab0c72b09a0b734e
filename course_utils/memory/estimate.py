"""Estimate what a model needs, without allocating it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from course_utils.memory.footprint import BatchPeaks, MemoryEstimate
from course_utils.memory.settings import EstimateMode, EstimateSettings, Loss, OptimizerFactory, RouteDevice

if TYPE_CHECKING:
    import torch
    from torch import nn

    from course_utils.memory.decoder import CacheShape, DecoderShape
    from course_utils.memory.tracing import MemoryTrace


def estimate_memory(
    model: nn.Module | Callable[[], nn.Module],
    inputs: Any,
    *,
    mode: EstimateMode = "train",
    dtype: torch.dtype | None = None,
    optimizer: str | OptimizerFactory = "adamw",
    loss: Loss | None = None,
    device: RouteDevice = "mps",
    batch_dimension: int | None = 0,
    decoder: DecoderShape | CacheShape | None = None,
    cached_tokens: int = 0,
    keeps_output: bool = True,
    accumulate_steps: int = 1,
    label: str | None = None,
) -> MemoryEstimate:
    """Estimate the memory of one training step or one forward pass, by tracing it on tensors that hold no numbers.

    Args:
        model: the model, on any device ("meta" too), or a function that makes it, which is then called with "meta" as
            torch's default device. The model is not changed.
        inputs: a tensor, a tuple or list of positional inputs, or a dict of inputs by name; only shapes and dtypes
            count, so meta tensors do.
        mode: "train" (forward, backward, optimizer step) or "eval" (one forward pass without gradients).
        dtype: trace with parameters, buffers and inputs in this floating-point dtype.
        optimizer: one of `OPTIMIZERS` ("sgd" keeps no state, "sgd-momentum" one value for each parameter), or a
            function that makes an optimizer for a list of parameters.
        loss: turns the model's output into a scalar; by default the output's own `.loss`, else cross-entropy over the
            last dimension.
        device: whose way through attention to trace. "mps" keeps the attention matrix, as training on MPS does
            (torch 2.9-2.14); "cpu" takes the CPU's fused kernel.
        batch_dimension: where inputs hold the batch, so that a batch of 1, and 8 and 64 times the batch, are traced
            as well; None for no batch.
        decoder: the shape of a decoder, or of its cache alone, whose KV cache is to be counted.
        cached_tokens: tokens T that the cache holds for each sequence of the batch.
        keeps_output: whether the training loop keeps the model's output in a variable, as `logits = model(x)` does:
            it is then alive in the backward pass, in the optimizer's step and until the next output takes its name.
        accumulate_steps: batches whose gradients are summed before the optimizer steps; with more than 1, all
            gradients are alive in the forward pass too.
        label: the model's name; by default its class.

    Returns:
        The parts in bytes, and the peak.

    Raises:
        ValueError: when the model does not run on these inputs, or an option is unknown; one sentence.
    """
    settings = EstimateSettings(
        mode=mode,
        dtype=dtype,
        optimizer=optimizer,
        loss=loss,
        device=device,
        batch_dimension=batch_dimension,
        decoder=decoder,
        cached_tokens=cached_tokens,
        keeps_output=keeps_output,
        accumulate_steps=accumulate_steps,
    )
    return estimate(model, inputs, settings, label)


def estimate(model: Any, inputs: Any, settings: EstimateSettings, label: str | None = None) -> MemoryEstimate:
    """Estimate with settings; `estimate_memory` documents the rest."""
    import torch
    from torch import nn

    from course_utils.memory.build import as_call, batch_of, build_model, describe_tensor
    from course_utils.memory.fallbacks import trace_batches, trace_with_fallbacks
    from course_utils.memory.tracing import TracedStep, tensors_in

    built, build_warning = build_model(model)
    args, kwargs = as_call(inputs)
    step = TracedStep(built, args, kwargs, settings)
    found = trace_with_fallbacks(step, None if isinstance(model, nn.Module) else model)
    batch = batch_of((args, kwargs), settings.batch_dimension)
    peaks, batch_warning = trace_batches(step, found, batch)
    floating = settings.dtype or next((p.dtype for p in built.parameters() if p.is_floating_point()), torch.float32)
    cache_bytes = 0
    if settings.decoder is not None:
        cache_bytes = settings.decoder.kv_cache_bytes(batch or 1, settings.cached_tokens, floating)
    tensors = tensors_in((args, kwargs))
    held = found.trace.held_bytes
    warnings = (
        build_warning,
        found.warning,
        batch_warning,
        *_warn_of_inputs(tensors, settings, floating),
        *_warn_of_training(found.trace, settings),
    )
    return MemoryEstimate(
        label=label or type(built).__name__,
        mode=settings.mode,
        dtype=str(floating).removeprefix("torch."),
        device=settings.device,
        optimizer=settings.optimizer_name,
        keeps_output=settings.keeps_output,
        accumulate_steps=settings.accumulate_steps,
        input_shapes=tuple(describe_tensor(tensor, settings.dtype) for tensor in tensors),
        batch=batch,
        n_parameters=sum(p.numel() for p in built.parameters()),
        n_trainable=sum(p.numel() for p in built.parameters() if p.requires_grad),
        parameters_bytes=held["parameters"],
        buffers_bytes=held["buffers"],
        inputs_bytes=held["inputs"],
        gradients_bytes=held["gradients"],
        optimizer_bytes=held["optimizer state"],
        activations_bytes=held["activations"],
        output_bytes=found.trace.output_bytes,
        kv_cache_bytes=cache_bytes,
        at_peak_bytes=tuple({**found.trace.at_peak_bytes, "KV cache": cache_bytes}.items()),
        peaks_by_batch=tuple(_with_cache(point, cache_bytes // (batch or 1)) for point in peaks),
        largest_tensor_bytes=found.trace.largest_bytes,
        torch_version=torch.__version__,
        warnings=tuple(warning for warning in warnings if warning is not None),
    )


def _with_cache(point: BatchPeaks, bytes_per_example: int) -> BatchPeaks:
    """Add a KV cache to each phase; it grows with the batch."""
    added = bytes_per_example * point.batch
    return BatchPeaks(point.batch, tuple((phase, n_bytes + added) for phase, n_bytes in point.phases_bytes))


def _warn_of_inputs(tensors: list[torch.Tensor], settings: EstimateSettings, floating: torch.dtype) -> list[str]:
    """Return what the inputs and their dtypes mean on the device."""
    import torch

    found = []
    if settings.device == "mps" and any(_is_integer(t) and t.dim() >= 2 for t in tensors):
        found.append(
            "lengths that vary cost more, outside these numbers: before torch 2.14 a freed block was not split or "
            "joined for another length (pytorch #188045), and MPS keeps one compiled graph for each input shape "
            "(pytorch #132596, #181485); pad to a few lengths"
        )
    if settings.device == "mps" and floating in (torch.float64, torch.complex128):
        found.append(f"MPS has no {str(floating).removeprefix('torch.')}; there this model does not even start")
    if not settings.train and settings.decoder is None and any(_is_integer(t) and t.dim() == 2 for t in tensors):
        found.append(
            "the KV cache of generation is not counted; it grows with each token: pass decoder= and cached_tokens= "
            "(`course memory`: --context, --layers, --kv-heads and --head-width)"
        )
    if not tensors:
        found.append("the inputs hold no tensor")
    return found


def _warn_of_training(found: MemoryTrace, settings: EstimateSettings) -> list[str]:
    """Return what is odd about the step that was traced."""
    if not settings.train:
        return []
    warnings = []
    if found.without_gradient:
        some = ", ".join(found.without_gradient[:3])
        warnings.append(f"{len(found.without_gradient)} trainable parameters get no gradient in this step ({some})")
    if "backward pass" not in found.peaks_bytes:
        warnings.append("nothing is trained: no trainable parameter is part of the loss")
    if settings.cached_tokens:
        warnings.append("a KV cache belongs to generation; training has none")
    return warnings


def _is_integer(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex()
