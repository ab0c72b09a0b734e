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

from course_utils.memory.ledger import StorageLedger, storages_of
from course_utils.memory.settings import EstimateSettings, OptimizerFactory
from course_utils.memory.stand_ins import StandIn, stand_in, stand_in_parameters, tracing_context

FORWARD, BACKWARD, UPDATE = "forward pass", "backward pass", "optimizer step"
_OWN = ("parameters", "buffers", "inputs")


@dataclass(frozen=True)
class MemoryTrace:
    """What one traced step held, in bytes.

    Args:
        held_bytes: by category, each at its largest: activations when the forward pass ends, gradients when the
            backward pass ends, optimizer state after the step.
        peaks_bytes: by phase, "forward pass", "backward pass" or "optimizer step": by category at the phase's peak.
        output_bytes: the model's output, without what is a parameter, buffer or input itself.
        largest_bytes: the largest single storage.
        without_gradient: names of trainable parameters that the step gave no gradient.
    """

    held_bytes: dict[str, int]
    peaks_bytes: dict[str, dict[str, int]]
    output_bytes: int
    largest_bytes: int
    without_gradient: tuple[str, ...]

    @property
    def phase_peaks_bytes(self) -> dict[str, int]:
        """The peak of each phase."""
        return {phase: sum(counts.values()) for phase, counts in self.peaks_bytes.items()}

    @property
    def at_peak_bytes(self) -> dict[str, int]:
        """By category at the peak of the step."""
        return max(self.peaks_bytes.values(), key=lambda counts: sum(counts.values()))


@dataclass(frozen=True)
class TracedStep:
    """What to trace.

    Args:
        model: the model, real or on meta; it is not changed.
        args: positional inputs.
        kwargs: inputs by name.
        settings: the dtype, optimizer, loss, route and loop.
        updates: whether the optimizer's step is traced, where there is an optimizer.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    settings: EstimateSettings
    updates: bool = True


def trace(step: TracedStep, where: StandIn) -> MemoryTrace:
    """Run the step on stand-ins and count; whatever the model raises comes back unchanged.

    The traced training step is one in the middle of training: the optimizer's state exists already, gradients of the
    step before were set to None, or, where gradients are accumulated, are those of the batches before.
    """
    found = _trace(step, where, without_gradient=())
    makes_state = step.updates and step.settings.make_optimizer() is not None
    if found.without_gradient and (makes_state or step.settings.accumulate_steps > 1):
        # nothing is made for a parameter that never had a gradient: no state, and no sum of gradients
        return _trace(step, where, without_gradient=found.without_gradient)
    return found


def _trace(step: TracedStep, where: StandIn, *, without_gradient: tuple[str, ...]) -> MemoryTrace:
    settings, ledger = step.settings, StorageLedger()
    with (
        tracing_context(where, settings.device),
        _in_mode(step.model, settings.train),
        torch.random.fork_rng(devices=[]),
    ):
        parameters = stand_in_parameters(step.model, where, settings.dtype)
        buffers = {name: stand_in(buffer, where, settings.dtype) for name, buffer in step.model.named_buffers()}
        args, kwargs = tree_map_only(
            torch.Tensor,
            lambda t: stand_in(t, where, settings.dtype).requires_grad_(t.requires_grad),
            (step.args, step.kwargs),
        )
        for category, tensors in zip(_OWN, (parameters.values(), buffers.values(), (args, kwargs)), strict=True):
            for tensor in tensors_in(tuple(tensors)):
                ledger.file(tensor, category)
        run = _Run(step, ledger, {name: p for name, p in parameters.items() if p.requires_grad}, without_gradient)
        # the whole step runs with the stand-ins in place: checkpointed blocks run again in the backward pass
        held = {f"model.{name}": tensor for name, tensor in (*parameters.items(), *buffers.items())}
        found: MemoryTrace = functional_call(
            _Whole(step.model), held, (lambda model: run.trace(lambda: model(*args, **kwargs)),)
        )
        return found


class _Whole(nn.Module):
    """A model as a part of something that runs it: functional_call replaces weights only while forward runs."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, run: Callable[[nn.Module], MemoryTrace]) -> MemoryTrace:
        return run(self.model)


class _Run:
    """One run of a step on stand-ins.

    Args:
        step: what to trace.
        ledger: counts; parameters, buffers and inputs are in it.
        trained: the stand-ins of the parameters to train, by name.
        without_gradient: those of them that are known to get no gradient.
    """

    def __init__(
        self,
        step: TracedStep,
        ledger: StorageLedger,
        trained: dict[str, nn.Parameter],
        without_gradient: tuple[str, ...],
    ) -> None:
        self.settings, self.ledger = step.settings, ledger
        self.trained = trained if self.settings.train else {}
        self.with_gradient = {name: p for name, p in self.trained.items() if name not in without_gradient}
        self.reached: set[str] = set()
        self.optimizer: torch.optim.Optimizer | None = None
        make = self.settings.make_optimizer() if step.updates else None
        if make is not None and self.trained:
            self.optimizer = self._warm_optimizer(make)
            self._file_state()
        if self.settings.accumulate_steps > 1:
            for parameter in self.with_gradient.values():
                parameter.grad = torch.zeros_like(parameter)
                self.ledger.file(parameter.grad, "gradients")
        for name, parameter in self.trained.items():
            parameter.register_post_accumulate_grad_hook(self._file_gradient(name))  # type: ignore[no-untyped-call]

    def trace(self, call: Callable[[], Any]) -> MemoryTrace:
        """Run the step; `call` is the forward pass."""
        ledger = self.ledger
        self.held = dict(ledger.live_bytes)
        ledger.peaks_bytes.clear()
        ledger.start_phase(FORWARD)
        with ledger:
            output_bytes = self._train(call) if self.settings.train else self._evaluate(call)
        trains = BACKWARD in ledger.peaks_bytes
        missing = tuple(name for name in self.trained if name not in self.reached) if trains else ()
        return MemoryTrace(self.held, ledger.peaks_bytes, output_bytes, ledger.largest_bytes, missing)

    def _evaluate(self, call: Callable[[], Any]) -> int:
        with torch.no_grad():
            output = call()
        return self._file_output(output)

    def _train(self, call: Callable[[], Any]) -> int:
        ledger, held = self.ledger, self.held
        kept = []
        with saved_tensors_hooks(self._pack, lambda t: t):
            output = call()
            if self.settings.keeps_output:
                kept.append(output)
                # a loop's variable holds the output of the step before until it is given the next
                ledger.raise_peak("output", sum(storage.nbytes() for storage in self._of_output(output)))
            loss = (self.settings.loss or default_loss)(output)
        output_bytes = self._file_output(output)
        held["activations"], held["output"] = ledger.live_bytes["activations"], ledger.live_bytes["output"]
        del output
        if loss.requires_grad:
            ledger.start_phase(BACKWARD)
            loss.backward()  # type: ignore[no-untyped-call]
            held["gradients"] = ledger.live_bytes["gradients"]
        if self.optimizer is not None and self.reached:
            ledger.start_phase(UPDATE)
            self.optimizer.step()
            self._file_state()
            held["optimizer state"] = ledger.live_bytes["optimizer state"]
        return output_bytes

    def _of_output(self, output: Any) -> list[torch.UntypedStorage]:
        """Return the storages of the model's output, each once, without the model's own and the inputs."""
        unique = {storage._cdata: storage for storage in storages_of(tensors_in(output))}
        return [storage for storage in unique.values() if self.ledger.category_of(storage) not in _OWN]

    def _file_output(self, output: Any) -> int:
        """File the output, where nothing saved it, and return its size in bytes."""
        for tensor in tensors_in(output):
            self.ledger.file(tensor, "output", only_from="workspace")
        return sum(storage.nbytes() for storage in self._of_output(output))

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        # parameters, buffers and inputs are saved for the backward pass too, but they cost nothing extra
        self.ledger.file(tensor, "activations", only_from="workspace")
        return tensor

    def _file_gradient(self, name: str) -> Callable[[torch.Tensor], None]:
        def file(parameter: torch.Tensor) -> None:
            self.reached.add(name)
            if parameter.grad is not None:
                self.ledger.file(parameter.grad, "gradients")

        return file

    def _file_state(self) -> None:
        for tensor in tensors_in(list(self.optimizer.state.values()) if self.optimizer is not None else []):
            self.ledger.file(tensor, "optimizer state", only_from="workspace")

    def _warm_optimizer(self, make: OptimizerFactory) -> torch.optim.Optimizer:
        """Make an optimizer and let it take one step, so that its state exists."""
        optimizer = make(list(self.trained.values()))
        for parameter in self.with_gradient.values():
            parameter.grad = torch.zeros_like(parameter)
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


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested containers, and in the fields of an object such as a model's output."""
    plain = not hasattr(value, "__dict__") or isinstance(value, (torch.Tensor, dict, list, tuple))
    return [leaf for leaf in tree_leaves(value if plain else vars(value)) if isinstance(leaf, torch.Tensor)]


def default_loss(output: Any) -> torch.Tensor:
    """Make a scalar from a model's output: its own loss if it has one, else cross-entropy over the last dimension.

    Raises:
        TypeError: when the output holds no floating-point tensor.
    """
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    logits = next((tensor for tensor in tensors_in(output) if tensor.is_floating_point()), None)
    if logits is None:
        raise TypeError("the model's output holds no floating-point tensor to train on; pass loss=")
    if logits.dim() == 0:
        return logits
    logits = logits.reshape(-1, logits.shape[-1])
    targets = torch.zeros(logits.shape[0], dtype=torch.int64, device=logits.device)
    return functional.cross_entropy(logits, targets)
