"""Follow each call of an operator: log it, compare it with the documented limits, and go on where MPS refuses it.

Refused float64 and tensors on the CPU are logged, and the call is made again as if the reader had followed the advice.
So one audit finds what comes after, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from course_utils.auditing.attributes import HeldTensor
from course_utils.auditing.public_names import name_of_function
from course_utils.auditing.tensors import REPLACEMENT, address_of
from course_utils.auditing.tracer import Tracer
from course_utils.emulation.events import OperatorCall
from course_utils.emulation.refusals import MpsRule, rule_of

_TENSOR: Any = torch._C.TensorBase
_is_cpu = _TENSOR.is_cpu.__get__


class CallFollower:
    """The hook of an audit: receives the calls of one step.

    Args:
        tracer: knows where the step is, and keeps the log.
        attributes: address of memory -> what a module holds there as a plain attribute.
        targets: address of memory -> name, for tensors that the loss carries along.
    """

    def __init__(
        self,
        tracer: Tracer,
        *,
        attributes: dict[int, HeldTensor] | None = None,
        targets: dict[int, str] | None = None,
    ) -> None:
        self.tracer = tracer
        self.attributes = attributes or {}
        self.targets = targets or {}
        self._known_cpu_arguments: set[int] = set()

    def __call__(self, call: OperatorCall) -> Any:
        """Log a call and return its result; moving the model, before the first phase, is not part of the step."""
        if not self.tracer.phases:
            return call.run()
        self.tracer.observe(call)
        result = self._run(call)
        for limit in call.limits_reached(result):
            reached = self.tracer.log.reached.setdefault((limit, call.name), Counter())
            reached[self.tracer.where()] += 1
        return result

    def _run(self, call: OperatorCall) -> Any:
        try:
            return call.run()
        except (TypeError, RuntimeError) as error:
            rule = rule_of(error)
            if rule is MpsRule.UNSUPPORTED_DTYPE:
                return self._without_float64(call)
            if rule is MpsRule.MIXED_DEVICES:
                return self._retry_with_arguments_on_device(call, error)
            raise

    def _without_float64(self, call: OperatorCall) -> Any:
        places = self.tracer.log.float64.setdefault(call.name, Counter())
        places[self.tracer.where()] += 1
        with torch._C.DisableTorchFunction():
            args, kwargs = pytree.tree_map(_narrow, (call.args, call.kwargs))
        return replace(call, args=args, kwargs=kwargs).run()

    def _retry_with_arguments_on_device(self, call: OperatorCall, error: Exception) -> Any:
        """Run the call again with the CPU's tensors moved; raise its error where it writes into one of them."""
        with torch._C.DisableTorchFunction():
            writes = call.operator._schema.is_mutable
            if self.tracer.function is not None and any(map(_needs_gradient, pytree.tree_leaves(call.args))):
                raise error  # FunctionFollower moves it above autograd, which then knows of the move
            moved = self.move_cpu_arguments(call.name, call.args, call.kwargs, writes=writes)
        if moved is None:
            raise error
        return replace(call, args=moved[0], kwargs=moved[1]).run()

    def move_cpu_arguments(self, called: Any, args: Any, kwargs: Any, *, writes: bool) -> tuple[Any, Any] | None:
        """Log the CPU's tensors among tensors of the device, and return the arguments with them moved.

        Args:
            called: the operator's name, or torch's function.
            args: positional arguments.
            kwargs: arguments by name.
            writes: whether the call writes into its first tensor.

        Returns:
            New args and kwargs; None where devices are not mixed, or the call writes into a tensor on the CPU.
        """
        leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        there = [leaf for leaf in leaves if not is_on_cpu(leaf)]
        cpu_arguments = [leaf for leaf in leaves if is_on_cpu(leaf) and leaf.dim() > 0]
        if not there or not cpu_arguments or (writes and is_on_cpu(leaves[0])):
            return None
        name = called if isinstance(called, str) else name_of_function(called) or getattr(called, "__name__", "")
        for cpu_argument in cpu_arguments:
            self._log_cpu_argument(cpu_argument, name)

        def move(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor) and is_on_cpu(leaf) and leaf.dim() > 0:
                return _narrow(leaf).to(there[0].device)
            return leaf

        moved: tuple[Any, Any] = pytree.tree_map(move, (args, kwargs))
        return moved

    def _log_cpu_argument(self, tensor: torch.Tensor, operator: str) -> None:
        address = address_of(tensor)
        if address in self.targets and address not in self.attributes:
            self.tracer.log.moved.add(self.targets[address])
            return
        if self.tracer.phase == "backward" and address in self._known_cpu_arguments:
            return  # saved by the forward call, where it was named
        self._known_cpu_arguments.add(address)
        held = self.attributes.get(address)
        name = f"attribute {held.path}" if held is not None else f"a tensor on the CPU, given to {operator}"
        self.tracer.log.mixed.setdefault(name, Counter())[self.tracer.where()] += 1
        self.tracer.log.held[name] = held


class FunctionFollower(TorchFunctionMode):
    """Follows each of torch's functions that the caller's code calls, above the operators.

    Composite functions check devices before any operator runs (`stft`, attention); their error carries no rule.

    Args:
        follower: follows the operators of the same step.
    """

    def __init__(self, follower: CallFollower) -> None:
        super().__init__()
        self.follower = follower

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with self.follower.tracer.calling(func):
            try:
                return func(*args, **kwargs)
            except RuntimeError as error:
                writes = getattr(func, "__name__", "").endswith("_") or "out" in kwargs
                moved = None
                if rule_of(error) in (None, MpsRule.MIXED_DEVICES):
                    moved = self.follower.move_cpu_arguments(func, args, kwargs, writes=writes)
                if moved is None:
                    raise
                return func(*moved[0], **moved[1])


def is_on_cpu(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is in the CPU's memory, whatever the emulated device makes Python answer."""
    with torch._C.DisableTorchFunction():
        return bool(_is_cpu(tensor))


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and is_on_cpu(value) and value.requires_grad


def _narrow(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return REPLACEMENT.get(value, value)
    if isinstance(value, torch.Tensor) and value.dtype in REPLACEMENT and is_on_cpu(value):
        return value.to(REPLACEMENT[value.dtype])
    return value
