"""One step of the audited model: forward, loss, backward, optimizer; on whatever device it was put."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from course_utils.auditing.attributes import held_tensors
from course_utils.auditing.findings import Phase
from course_utils.auditing.tensors import as_plain, make_movable, movable
from course_utils.reporting.error_text import first_line

LossFunction = Callable[[Any], torch.Tensor]
OptimizerFactory = Callable[[Any], torch.optim.Optimizer]
Enter = Callable[[Phase, str], None]


def sum_of_outputs(output: Any) -> torch.Tensor:
    """Stand in for a loss: the sum of all floating outputs; a model that returns its losses has them added up."""
    found = [x for x in pytree.tree_leaves(as_plain(output)) if isinstance(x, torch.Tensor)]
    floating = [x for x in found if x.is_floating_point() or x.is_complex()]
    if not floating:
        raise ValueError("the model returns no floating tensor to sum up; give loss=, a function of its output")
    total = sum((x.abs() if x.is_complex() else x).sum() for x in floating)
    assert isinstance(total, torch.Tensor)
    return total


def plain_sgd(parameters: Any) -> torch.optim.Optimizer:
    """Stand in for an optimizer: SGD without momentum."""
    return torch.optim.SGD(parameters, lr=1e-3)


class NotAnOptimizerError(TypeError):
    """A factory made something else than an optimizer."""


@dataclass
class AuditedStep:
    """A model with everything that one step needs.

    Args:
        model: the model.
        args: positional inputs.
        kwargs: inputs by name.
        loss: function of the model's output, or None for no loss.
        optimizer: an instance over the model's parameters, a factory, or None.
        train: whether to go on to backward and the optimizer.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loss: LossFunction | None
    optimizer: torch.optim.Optimizer | OptimizerFactory | None
    train: bool

    def copy(self) -> AuditedStep:
        """Copy everything, so that the caller's objects stay as they are.

        Raises:
            ValueError: when a part cannot be copied.
        """
        loss = self.loss if isinstance(self.loss, nn.Module) else None
        optimizer = self.optimizer if isinstance(self.optimizer, torch.optim.Optimizer) else None
        inputs = pytree.tree_map(_copy_input, (self.args, self.kwargs))
        try:
            memo: dict[int, Any] = {id(x): x.detach().clone() for x in self.model.buffers() if _is_sparse(x)}
            # results of a computation, which deepcopy refuses: the weight of a pruned or weight-normed layer
            memo |= {id(x.tensor): x.tensor.detach().clone() for x in held_tensors(self.model) if not x.tensor.is_leaf}
            model, loss, optimizer = copy.deepcopy((self.model, loss, optimizer), memo)
        except Exception as error:  # the model's classes may define how they are copied
            raise ValueError(
                f"the model cannot be copied with copy.deepcopy ({first_line(error)}); the audit works on a copy"
            ) from error
        for parameter in model.parameters():
            if not parameter.is_leaf:  # the copies of a ScriptModule
                parameter.detach_().requires_grad_()
        args, kwargs = inputs
        return AuditedStep(model, args, kwargs, loss or self.loss, optimizer or self.optimizer, self.train)

    def to(self, device: torch.device | str) -> None:
        """Move model, loss, inputs and optimizer; what the device could not hold is replaced first."""
        names = {id(parameter): name for name, parameter in self._parameters()}
        for module in self._modules():
            make_movable(module)
            module.to(device)
        self.args, self.kwargs = pytree.tree_map(lambda leaf: _move(leaf, device), (self.args, self.kwargs))
        if isinstance(self.optimizer, torch.optim.Optimizer):
            _follow_parameters(self.optimizer, names, dict(self._parameters()))

    def make_optimizer(self) -> torch.optim.Optimizer | None:
        """Return the optimizer, made by the factory where one was given; None where nothing is to be optimized.

        Raises:
            NotAnOptimizerError: when the factory returns something else.
        """
        if self.optimizer is None or isinstance(self.optimizer, torch.optim.Optimizer):
            return self.optimizer
        parameters = [parameter for _, parameter in self._parameters() if parameter.requires_grad]
        if not parameters:
            return None
        made = self.optimizer(parameters)
        if not isinstance(made, torch.optim.Optimizer):
            raise NotAnOptimizerError(f"optimizer= made a {type(made).__name__}, not a torch.optim.Optimizer")
        return made

    def run(self, enter: Enter) -> tuple[str, ...]:
        """Run the step.

        Args:
            enter: told when a phase begins, and which class of optimizer runs.

        Returns:
            What was left out, in sentences.
        """
        with torch.set_grad_enabled(self.train):
            return self._run(enter)

    def _run(self, enter: Enter) -> tuple[str, ...]:
        self.model.train(self.train)
        enter("forward", "")
        output = self.model(*self.args, **self.kwargs)
        if self.loss is None:
            return ()
        enter("loss", "")
        loss = self.loss(output)
        if not self.train:
            return ()
        if not loss.requires_grad:
            return ("the loss needs no gradient, so backward and the optimizer were not followed",)
        enter("backward", "")
        loss.backward()  # type: ignore[no-untyped-call]
        enter("optimizer", "")
        optimizer = self.make_optimizer()
        if optimizer is None:
            return ("no parameter needs a gradient, so there was nothing to optimize",)
        enter("optimizer", type(optimizer).__name__)
        if inspect.signature(optimizer.step).parameters["closure"].default is inspect.Parameter.empty:
            optimizer.step(lambda: self._again(optimizer))  # such as LBFGS
        else:
            optimizer.step()
        return ()

    def _again(self, optimizer: torch.optim.Optimizer) -> Any:
        assert self.loss is not None
        with torch.enable_grad():
            optimizer.zero_grad()
            loss = self.loss(self.model(*self.args, **self.kwargs))
            loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _modules(self) -> list[nn.Module]:
        return [self.model, *([self.loss] if isinstance(self.loss, nn.Module) else [])]

    def _parameters(self) -> list[tuple[str, nn.Parameter]]:
        return [
            (f"{index}.{name}", parameter)
            for index, module in enumerate(self._modules())
            for name, parameter in module.named_parameters()
        ]


def _is_sparse(tensor: torch.Tensor) -> bool:
    return tensor.layout is not torch.strided  # copy.deepcopy does not know compressed layouts


def _copy_input(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)
    return copy.deepcopy(leaf)


def _move(leaf: Any, device: torch.device | str) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return movable(leaf.detach()).to(device).requires_grad_(leaf.requires_grad)


def _follow_parameters(optimizer: torch.optim.Optimizer, names: dict[int, str], moved: dict[str, nn.Parameter]) -> None:
    """Give an optimizer the moved parameters, and move its state along.

    Raises:
        ValueError: when it holds other parameters than the model's.
    """
    held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    cpu_arguments = sum(id(parameter) not in names for parameter in held)
    if cpu_arguments:
        raise ValueError(
            f"the optimizer holds {cpu_arguments} of {len(held)} parameters that are not the model's; "
            "make it from model.parameters(), or give a factory such as torch.optim.AdamW"
        )
    state = optimizer.state_dict()
    for group in optimizer.param_groups:
        group["params"] = [moved[names[id(parameter)]] for parameter in group["params"]]
    optimizer.state.clear()
    optimizer.load_state_dict(state)
