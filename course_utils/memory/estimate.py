"""Estimate what a model needs, without allocating it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from course_utils.memory.footprint import BatchPeaks, MemoryEstimate
from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    import torch
    from torch import nn

    from course_utils.memory.decoder import DecoderShape
    from course_utils.memory.stand_ins import Device, Where
    from course_utils.memory.tracing import Loss, MakeOptimizer, Step, Trace

__all__ = ["MODES", "OPTIMIZERS", "MemoryEstimate", "estimate_memory"]

Mode = Literal["train", "eval"]
MODES: tuple[Mode, ...] = get_args(Mode)
OPTIMIZERS = ("adamw", "adam", "sgd", "sgd-momentum", "none")
DEVICES = ("mps", "cpu")
# a peak is the largest of several lines in the batch, so it bends upwards: a batch between two traced ones needs no
# more than the line between them says, while a line drawn beyond them can promise too much
FACTORS = (8, 64)


def estimate_memory(
    model: nn.Module | Callable[[], nn.Module],
    inputs: Any,
    *,
    mode: Mode = "train",
    dtype: torch.dtype | None = None,
    optimizer: str | MakeOptimizer = "adamw",
    loss: Loss | None = None,
    device: Device = "mps",
    batch_dimension: int | None = 0,
    decoder: DecoderShape | None = None,
    cached_tokens: int = 0,
    label: str | None = None,
) -> MemoryEstimate:
    """Estimate the memory of one training step or one forward pass, by tracing it on tensors that hold no numbers.

    Args:
        model: the model, on any device ("meta" too), or a function that makes it, which is then called with "meta" as
            torch's default device. The model is not changed.
        inputs: a tensor, a tuple or list of positional inputs, or a dict of inputs by name; only shapes and dtypes
            count, so meta tensors do.
        mode: "train" (forward, backward, optimizer step) or "eval" (forward without gradients).
        dtype: trace with parameters, buffers and inputs in this floating-point dtype.
        optimizer: one of `OPTIMIZERS` ("sgd" keeps no state, "sgd-momentum" one value for each parameter), or a
            function that makes an optimizer for a list of parameters.
        loss: turns the model's output into a scalar; by default the output's own `.loss`, else cross-entropy over the
            last dimension.
        device: whose way through attention to trace. "mps" keeps the attention matrix, as training on MPS does
            (torch 2.9-2.14); "cpu" takes the CPU's fused kernel.
        batch_dimension: where inputs hold the batch, so that a batch of 1, and 8 and 64 times the batch, are traced
            as well; None for no batch.
        decoder: the shape of a decoder whose KV cache is to be counted.
        cached_tokens: tokens T that the cache holds for each sequence of the batch.
        label: the model's name; by default its class.

    Returns:
        The parts in bytes, and the peak.

    Raises:
        ValueError: when the model does not run on these inputs, or an option is unknown; one sentence.
    """
    _check_names(mode, optimizer, device)
    _check_values(dtype, cached_tokens, decoder)
    import torch
    from torch import nn

    from course_utils.memory.tracing import Step, default_loss

    built, build_warning = _build(model)
    make_real = None if isinstance(model, nn.Module) else model
    args, kwargs = _as_call(inputs)
    batch = _batch_of((args, kwargs), batch_dimension)
    step = Step(built, args, kwargs, mode == "train", dtype, _optimizer_maker(optimizer), loss or default_loss, device)
    found, where, trace_warning = _trace_somehow(step, make_real)
    floating = dtype or next((p.dtype for p in built.parameters() if p.is_floating_point()), torch.float32)
    kv_cache_bytes = decoder.kv_cache_bytes(batch or 1, cached_tokens, floating) if decoder is not None else 0
    others = {1, *(batch * factor for factor in FACTORS)} - {batch} if batch is not None and where != "real" else set()
    sizes = (batch or 1, *sorted(others))
    peaks, batch_warning = _peaks_by_batch(step, found, where, sizes, batch_dimension or 0)
    peaks = tuple(_with_cache(point, kv_cache_bytes // (batch or 1)) for point in peaks)
    at_peak = {**found.at_peak_bytes, "KV cache": kv_cache_bytes}
    name = optimizer if isinstance(optimizer, str) else getattr(optimizer, "__name__", "an optimizer")
    return MemoryEstimate(
        label=label or type(built).__name__,
        mode=mode,
        dtype=str(floating).removeprefix("torch."),
        device=device,
        optimizer=name if mode == "train" else "none",
        input_shapes=tuple(_describe(tensor, dtype) for tensor in _tensors((args, kwargs))),
        batch=batch,
        n_parameters=sum(p.numel() for p in built.parameters()),
        n_trainable=sum(p.numel() for p in built.parameters() if p.requires_grad),
        parameters_bytes=found.held_bytes["parameters"],
        buffers_bytes=found.held_bytes["buffers"],
        inputs_bytes=found.held_bytes["inputs"],
        gradients_bytes=found.held_bytes["gradients"],
        optimizer_bytes=found.held_bytes["optimizer state"],
        activations_bytes=found.held_bytes["activations"],
        kv_cache_bytes=kv_cache_bytes,
        at_peak_bytes=tuple(at_peak.items()),
        peaks_by_batch=peaks,
        largest_tensor_bytes=found.largest_bytes,
        torch_version=torch.__version__,
        warnings=tuple(
            w
            for w in (build_warning, trace_warning, batch_warning, *_doubts(step, found, floating, cached_tokens))
            if w is not None
        ),
    )


def _check_names(mode: str, optimizer: Any, device: str) -> None:
    for what, value, known in (("mode", mode, MODES), ("device", device, DEVICES)):
        if value not in known:
            raise ValueError(f"{what} is {value!r}; it has to be one of {', '.join(known)}")
    if isinstance(optimizer, str) and optimizer not in OPTIMIZERS:
        raise ValueError(f"no optimizer is called {optimizer!r}; {suggest(optimizer, OPTIMIZERS)}")
    if not isinstance(optimizer, str) and not callable(optimizer):
        raise ValueError(
            f"optimizer is a {type(optimizer).__name__}; pass a name, or a function of the parameters such as "
            "lambda parameters: torch.optim.AdamW(parameters)"
        )


def _check_values(dtype: torch.dtype | None, cached_tokens: int, decoder: DecoderShape | None) -> None:
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"dtype is {dtype}; a model's weights need a floating-point dtype such as torch.bfloat16")
    if cached_tokens < 0:
        raise ValueError(f"cached_tokens is {cached_tokens}; it has to be 0 or more")
    if cached_tokens and decoder is None:
        raise ValueError(f"cached_tokens is {cached_tokens}, but decoder= does not say how wide a cached token is")


def _build(model: Any) -> tuple[nn.Module, str | None]:
    """Return the model, made on meta where a function makes it; and a warning where that was not possible."""
    import torch
    from torch import nn

    warning = None
    if not isinstance(model, nn.Module):
        if not callable(model):
            raise ValueError(f"model is a {type(model).__name__}; pass a torch.nn.Module or a function that makes one")
        try:
            with torch.device("meta"):
                built = model()
        except (RuntimeError, NotImplementedError) as error:
            warning = f"the model could not be made on meta ({_first_line(error)}), so it was made with real weights"
            built = model()
        if not isinstance(built, nn.Module):
            raise ValueError(f"the function made a {type(built).__name__}; it has to make a torch.nn.Module")
        model = built
    lazy = [name for name, p in model.named_parameters() if isinstance(p, nn.parameter.UninitializedParameter)]
    if lazy:
        raise ValueError(f"parameter {lazy[0]!r} has no shape yet (a lazy module); run the model once, then estimate")
    return model, warning


def _as_call(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, dict):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)), {}


def _tensors(inputs: Any) -> list[torch.Tensor]:
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]


def _batch_of(inputs: Any, dimension: int | None) -> int | None:
    """Read the batch from the first input tensor."""
    tensors = _tensors(inputs)
    if dimension is None or not tensors or tensors[0].dim() <= dimension:
        return None
    return tensors[0].shape[dimension] or None


def _optimizer_maker(optimizer: str | MakeOptimizer) -> MakeOptimizer | None:
    import torch

    if not isinstance(optimizer, str):
        return optimizer
    made: dict[str, MakeOptimizer | None] = {
        "adamw": torch.optim.AdamW,
        "adam": torch.optim.Adam,
        "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        "sgd-momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
        "none": None,
    }
    return made[optimizer]


def _trace_somehow(step: Step, make_real: Callable[[], nn.Module] | None) -> tuple[Trace, Where, str | None]:
    """Trace without numbers if the model allows it, else for real.

    Raises:
        ValueError: when the model runs in no way; the message is the reason.
    """
    from course_utils.memory.tracing import trace

    # meta tensors are three times as quick, and take the composite route that MPS takes; only fake ones take the CPU's
    order: tuple[Where, ...] = ("meta", "fake") if step.device == "mps" else ("fake", "meta")
    errors = []
    for where in order:
        try:
            found = trace(step, where)
        except Exception as error:  # models raise whatever they like
            errors.append(error)
            continue
        other_route = step.device == "cpu" and where == "meta"
        return found, where, "traced on meta tensors, which take no kernels of the CPU" if other_route else None
    if _affordable(step.model) and (make_real or all(p.device.type != "meta" for p in step.model.parameters())):
        try:
            model = step.model if make_real is None else make_real()
            found = trace(replace(step, model=model), "real")
        except Exception as error:  # with real numbers, the error is the model's own
            errors.insert(0, error)
        else:
            return found, "real", f"traced with real numbers: the model reads them ({_first_line(errors[0])})"
    shapes = ", ".join(_describe(tensor, step.dtype) for tensor in _tensors((step.args, step.kwargs))) or "none"
    raise ValueError(f"the model does not run on inputs {shapes}: {_first_line(errors[0])}") from errors[0]


def _affordable(model: nn.Module) -> bool:
    """Say whether a real training step of the model, as far as its weights tell, stays within half of this RAM."""
    ram_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 6 * sum(p.nbytes for p in model.parameters()) < ram_bytes / 2


def _peaks_by_batch(
    step: Step, found: Trace, where: Where, sizes: tuple[int, ...], dimension: int
) -> tuple[tuple[BatchPeaks, ...], str | None]:
    """Trace other batch sizes than the first too; return the peaks of all, and a warning where that failed."""
    from torch.utils._pytree import tree_map

    from course_utils.memory.stand_ins import resize_batch
    from course_utils.memory.tracing import trace

    points = [BatchPeaks(sizes[0], tuple(found.phase_peaks_bytes.items()))]
    state_bytes = found.held_bytes["optimizer state"]
    for size in sizes[1:]:
        args, kwargs = tree_map(
            lambda value, size=size: resize_batch(value, dimension, sizes[0], size), (step.args, step.kwargs)
        )
        try:
            # the optimizer's step costs the same for each batch, and most of the time of a trace
            larger = trace(replace(step, args=args, kwargs=kwargs, make_optimizer=None), where)
        except Exception as error:  # models raise whatever they like
            if size == 1:  # batch norm over a single value refuses to train
                continue
            return tuple(points), f"a batch of {size} does not run ({_first_line(error)}), so other batches are unknown"
        phases_bytes = {phase: n_bytes + state_bytes for phase, n_bytes in larger.phase_peaks_bytes.items()}
        if "optimizer step" in found.phase_peaks_bytes:
            more_inputs_bytes = larger.held_bytes["inputs"] - found.held_bytes["inputs"]
            phases_bytes["optimizer step"] = found.phase_peaks_bytes["optimizer step"] + more_inputs_bytes
        points.append(BatchPeaks(size, tuple(phases_bytes.items())))
    return tuple(points), None


def _with_cache(point: BatchPeaks, bytes_per_example: int) -> BatchPeaks:
    """Add a KV cache to each phase; it grows with the batch."""
    added = bytes_per_example * point.batch
    return BatchPeaks(point.batch, tuple((phase, n_bytes + added) for phase, n_bytes in point.phases_bytes))


def _doubts(step: Step, found: Trace, floating: torch.dtype, cached_tokens: int) -> list[str]:
    """List the reasons not to trust the numbers."""
    import torch

    doubts = []
    tensors = _tensors((step.args, step.kwargs))
    if step.device == "mps" and any(_is_integer(t) and t.dim() >= 2 for t in tensors):
        doubts.append(
            "lengths that vary cost more: MPS keeps one compiled graph for each input shape, outside these numbers "
            "(pytorch #132596, #181485); pad to a few lengths"
        )
    if step.device == "mps" and floating in (torch.float64, torch.complex128):
        doubts.append(f"MPS has no {str(floating).removeprefix('torch.')}; there this model does not even start")
    if step.train and found.without_gradient:
        some = ", ".join(found.without_gradient[:3])
        doubts.append(f"{len(found.without_gradient)} trainable parameters get no gradient in this step ({some})")
    if step.train and "backward pass" not in found.phase_peaks_bytes:
        doubts.append("nothing is trained: no trainable parameter is part of the loss")
    if cached_tokens and step.train:
        doubts.append("a KV cache belongs to generation; training has none")
    if not tensors:
        doubts.append("the inputs hold no tensor")
    return doubts


def _describe(tensor: torch.Tensor, dtype: torch.dtype | None) -> str:
    chosen = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
    return f"{'x'.join(map(str, tensor.shape)) or 'scalar'} {str(chosen).removeprefix('torch.')}"


def _is_integer(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex()


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return textwrap.shorten((lines or [type(error).__name__])[0].rstrip("."), 200, placeholder=" ...")
