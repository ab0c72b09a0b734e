"""Follow each call of an operator: log it, compare it with the documented limits, and go on where MPS refuses it.

Refused float64 and tensors on the CPU are logged, and the call is made again as if the reader had followed the advice.
So one audit finds what comes after, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_utils.auditing.limits import KernelLimit, limits_of, name_arguments
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
        release: of torch, whose limits count.
        macos: this machine's, None where it is not known.
        attributes: address of memory -> name, for tensors that a module holds as plain attributes.
        targets: address of memory -> name, for tensors that the loss carries along.
    """

    def __init__(
        self,
        tracer: Tracer,
        release: str,
        *,
        macos: str | None = None,
        attributes: dict[int, str] | None = None,
        targets: dict[int, str] | None = None,
    ) -> None:
        self.tracer = tracer
        self.release = release
        self.macos = macos
        self.attributes = attributes or {}
        self.targets = targets or {}
        self._limits: dict[Any, tuple[KernelLimit, ...]] = {}
        self._known_cpu_arguments: set[int] = set()

    def __call__(self, call: OperatorCall) -> Any:
        """Log a call and return its result; moving the model, before the first phase, is not part of the step."""
        if not self.tracer.phases:
            return call.run()
        self.tracer.observe(call)
        result = self._run(call)
        limits = self._limits.get(call.operator)
        if limits is None:
            limits = self._limits[call.operator] = limits_of(call.name, self.release, self.macos)
        if limits:
            self._compare(call, limits, result)
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

    def _compare(self, call: OperatorCall, limits: tuple[KernelLimit, ...], result: Any) -> None:
        arguments = name_arguments(call.operator._schema, call.args, call.kwargs)
        with torch._C.DisableTorchFunction():
            for limit in limits:
                if limit.reached_by(arguments, result):
                    reached = self.tracer.log.reached.setdefault((limit, call.name), Counter())
                    reached[self.tracer.where()] += 1

    def _without_float64(self, call: OperatorCall) -> Any:
        places = self.tracer.log.float64.setdefault(call.name, Counter())
        places[self.tracer.where()] += 1
        with torch._C.DisableTorchFunction():
            args, kwargs = pytree.tree_map(_narrow, (call.args, call.kwargs))
        return replace(call, args=args, kwargs=kwargs).run()

    def _retry_with_arguments_on_device(self, call: OperatorCall, error: Exception) -> Any:
        """Run the call again with the CPU's tensors moved; raise its error where it writes into one of them."""
        with torch._C.DisableTorchFunction():
            leaves = [leaf for leaf in pytree.tree_leaves((call.args, call.kwargs)) if isinstance(leaf, torch.Tensor)]
            there = [leaf for leaf in leaves if not is_on_cpu(leaf)]
            cpu_arguments = [leaf for leaf in leaves if is_on_cpu(leaf) and leaf.dim() > 0]
            if not there or not cpu_arguments or (call.operator._schema.is_mutable and is_on_cpu(leaves[0])):
                raise error
            for cpu_argument in cpu_arguments:
                self._log_cpu_argument(cpu_argument, call.name)

            def move(leaf: Any) -> Any:
                if isinstance(leaf, torch.Tensor) and is_on_cpu(leaf) and leaf.dim() > 0:
                    return _narrow(leaf).to(there[0].device)
                return leaf

            args, kwargs = pytree.tree_map(move, (call.args, call.kwargs))
        return replace(call, args=args, kwargs=kwargs).run()

    def _log_cpu_argument(self, tensor: torch.Tensor, operator: str) -> None:
        address = address_of(tensor)
        if address in self.targets and address not in self.attributes:
            self.tracer.log.moved.add(self.targets[address])
            return
        if self.tracer.phase == "backward" and address in self._known_cpu_arguments:
            return  # saved by the forward call, where it was named
        self._known_cpu_arguments.add(address)
        name = self.attributes.get(address, f"a tensor on the CPU, given to {operator}")
        self.tracer.log.mixed.setdefault(name, Counter())[self.tracer.where()] += 1


def is_on_cpu(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is in the CPU's memory, whatever the emulated device makes Python answer."""
    with torch._C.DisableTorchFunction():
        return bool(_is_cpu(tensor))


def _narrow(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return REPLACEMENT.get(value, value)
    if isinstance(value, torch.Tensor) and value.dtype in REPLACEMENT and is_on_cpu(value):
        return value.to(REPLACEMENT[value.dtype])
    return value
