"""Trace one training step, or one forward pass, and count what is alive in it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.func import functional_call
from torch.nn import functional
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.memory.ledger import StorageLedger
from course_utils.memory.stand_ins import Device, Where, stage, stand_in, stand_in_parameters

MakeOptimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
Loss = Callable[[Any], torch.Tensor]


@dataclass(frozen=True)
class Trace:
    """What one traced step held, in bytes.

    Args:
        held_bytes: by category, each at its largest: activations when the forward pass ends, gradients when the
            backward pass ends, optimizer state after the step.
        at_peak_bytes: by category at the worst moment; their sum is the peak.
        phase_peaks_bytes: the peak of each phase by name: "forward pass", "backward pass", "optimizer step".
        largest_bytes: the largest single storage.
        without_gradient: names of trainable parameters that the step gave no gradient.
    """

    held_bytes: dict[str, int]
    at_peak_bytes: dict[str, int]
    phase_peaks_bytes: dict[str, int]
    largest_bytes: int
    without_gradient: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """What to trace.

    Args:
        model: the model, real or on meta; it is not changed.
        args: positional inputs.
        kwargs: inputs by name.
        train: a training step, else one forward pass without gradients.
        dtype: replaces floating-point dtypes of parameters, buffers and inputs.
        make_optimizer: makes an optimizer for parameters, or None for no optimizer step.
        loss: turns the model's output into a scalar.
        device: whose way through attention to take.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    train: bool
    dtype: torch.dtype | None
    make_optimizer: MakeOptimizer | None
    loss: Loss
    device: Device


def trace(step: Step, where: Where) -> Trace:
    """Run the step on stand-ins and count; whatever the model raises comes back unchanged.

    The traced training step is one in the middle of training: the optimizer's state exists already, gradients of the
    step before were set to None.
    """
    found = _trace(step, where, without_gradient=())
    if found.without_gradient and step.make_optimizer is not None:
        # optimizers make no state for a parameter that never had a gradient
        return _trace(step, where, without_gradient=found.without_gradient)
    return found


def _trace(step: Step, where: Where, *, without_gradient: tuple[str, ...]) -> Trace:
    ledger = StorageLedger()
    with stage(where, step.device), _in_mode(step.model, step.train), torch.random.fork_rng(devices=[]):
        parameters = stand_in_parameters(step.model, where, step.dtype)
        buffers = {name: stand_in(buffer, where, step.dtype) for name, buffer in step.model.named_buffers()}
        args, kwargs = tree_map_only(
            torch.Tensor,
            lambda t: stand_in(t, where, step.dtype).requires_grad_(t.requires_grad),
            (step.args, step.kwargs),
        )
        for category, tensors in (
            ("parameters", parameters.values()),
            ("buffers", buffers.values()),
            ("inputs", tree_leaves((args, kwargs))),
        ):
            for tensor in tensors:
                if isinstance(tensor, torch.Tensor):
                    ledger.file(tensor, category)
        trained = {name: p for name, p in parameters.items() if p.requires_grad}
        optimizer = None
        if step.train and step.make_optimizer is not None and trained:
            optimizer = _warm_optimizer(step.make_optimizer, trained, without_gradient)
            _file_state(optimizer, ledger)
        for parameter in trained.values() if step.train else ():
            parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
                lambda p: _file_gradient(p, ledger)
            )

        def run(model: nn.Module) -> Trace:
            return _run(step, lambda: model(*args, **kwargs), ledger, trained, optimizer)

        # the whole step runs with the stand-ins in place: checkpointed blocks run again in the backward pass
        held = {f"model.{name}": tensor for name, tensor in (*parameters.items(), *buffers.items())}
        found: Trace = functional_call(_Whole(step.model), held, (run,))
        return found


class _Whole(nn.Module):
    """A model as a part of something that runs it: functional_call replaces weights only while forward runs."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, run: Callable[[nn.Module], Trace]) -> Trace:
        return run(self.model)


def _run(
    step: Step,
    call: Callable[[], Any],
    ledger: StorageLedger,
    trained: dict[str, nn.Parameter],
    optimizer: torch.optim.Optimizer | None,
) -> Trace:
    phases: dict[str, int] = {}
    held = dict(ledger.live_bytes)
    missing: tuple[str, ...] = ()
    ledger.start_phase()
    with ledger:
        if not step.train:
            with torch.no_grad():
                output = call()
            phases["forward pass"] = ledger.phase_peak_bytes
            del output
        else:
            with saved_tensors_hooks(lambda t: _pack(t, ledger), lambda t: t):
                loss = step.loss(call())
            phases["forward pass"] = ledger.phase_peak_bytes
            held["activations"] = ledger.live_bytes["activations"]
            if loss.requires_grad:
                ledger.start_phase()
                loss.backward()  # type: ignore[no-untyped-call]
                phases["backward pass"] = ledger.phase_peak_bytes
                held["gradients"] = ledger.live_bytes["gradients"]
                missing = tuple(name for name, parameter in trained.items() if parameter.grad is None)
            if optimizer is not None and len(missing) < len(trained):
                ledger.start_phase()
                optimizer.step()
                _file_state(optimizer, ledger)
                phases["optimizer step"] = ledger.phase_peak_bytes
                held["optimizer state"] = ledger.live_bytes["optimizer state"]
    return Trace(held, ledger.at_peak_bytes, phases, ledger.largest_bytes, missing)


def _pack(tensor: torch.Tensor, ledger: StorageLedger) -> torch.Tensor:
    # parameters, buffers and inputs are saved for the backward pass too, but they cost nothing extra
    ledger.file(tensor, "activations", only_from="workspace")
    return tensor


def _file_gradient(parameter: torch.Tensor, ledger: StorageLedger) -> None:
    if parameter.grad is not None:
        ledger.file(parameter.grad, "gradients")


def _file_state(optimizer: torch.optim.Optimizer, ledger: StorageLedger) -> None:
    for tensor in tree_leaves(list(optimizer.state.values())):
        if isinstance(tensor, torch.Tensor):
            ledger.file(tensor, "optimizer state", only_from="workspace")


def _warm_optimizer(
    make: MakeOptimizer, trained: dict[str, nn.Parameter], without_gradient: tuple[str, ...]
) -> torch.optim.Optimizer:
    """Make an optimizer and let it take one step, so that its state exists."""
    optimizer = make(list(trained.values()))
    for name, parameter in trained.items():
        parameter.grad = None if name in without_gradient else torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return optimizer


@contextlib.contextmanager
def _in_mode(model: nn.Module, train: bool) -> Iterator[None]:
    """Put a model into training or evaluation mode, and each module back into its own afterwards."""
    before = [(module, module.training) for module in model.modules()]
    model.train(train)
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


def default_loss(output: Any) -> torch.Tensor:
    """Make a scalar from a model's output: its own loss if it has one, else cross-entropy over the last dimension.

    Raises:
        TypeError: when the output holds no floating-point tensor.
    """
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    fields = output if not hasattr(output, "__dict__") or isinstance(output, (torch.Tensor, dict)) else vars(output)
    tensors = [t for t in tree_leaves(fields) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    if not tensors:
        raise TypeError("the model's output holds no floating-point tensor to train on; pass loss=")
    logits = tensors[0]
    if logits.dim() == 0:
        return logits
    logits = logits.reshape(-1, logits.shape[-1])
    targets = torch.zeros(logits.shape[0], dtype=torch.int64, device=logits.device)
    return functional.cross_entropy(logits, targets)
