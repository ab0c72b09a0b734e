"""Follow a step on the device: which operator, in which phase, in which module, from which line.

Hooks on all modules give the forward that runs, a function mode gives torch's function that the caller's line called,
and autograd's sequence numbers lead from a node of the backward pass to the forward call that made it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course_utils.auditing.attributes import HeldTensor
from course_utils.auditing.findings import PHASES, Phase
from course_utils.emulation.events import OperatorCall
from course_utils.emulation.limits import KernelLimit
from course_utils.emulation.location import Location, caller
from course_utils.operators.table import OperatorVerdict


@dataclass(frozen=True)
class StepPosition:
    """StepPosition an operator was called; `function` is torch's function that the caller's line called, or None."""

    phase: Phase
    module: str
    location: Location | None
    function: Callable[..., Any] | None = field(default=None, hash=False, compare=False)


@dataclass
class TraceLog:
    """Operators, limits and tensors seen in one step.

    Args:
        seen: (name, verdict) -> calls.
        rules: name -> the operator table's entry, for every operator among the suspects; None where it has none.
        suspects: (name, verdict) of operators that are not simply native -> places, with their counts.
        rerouted: (name, composite operator that the release lacks) -> calls that only the installed torch makes.
        reached: limits that a call reached, with the operator -> places.
        float64: operators that made float64 -> places.
        mixed: names of tensors that were left on the CPU -> places.
        held: the same names -> what a module holds, None for a tensor that is not an attribute.
        moved: names of tensors of the loss that were moved on the way.
    """

    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: dict[str, OperatorVerdict | None] = field(default_factory=dict)
    suspects: dict[tuple[str, str], Counter[StepPosition]] = field(default_factory=dict)
    rerouted: Counter[tuple[str, str]] = field(default_factory=Counter)
    reached: dict[tuple[KernelLimit, str], Counter[StepPosition]] = field(default_factory=dict)
    float64: dict[str, Counter[StepPosition]] = field(default_factory=dict)
    mixed: dict[str, Counter[StepPosition]] = field(default_factory=dict)
    held: dict[str, HeldTensor | None] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)


class Tracer:
    """Keeps track of one step.

    Args:
        model: the model on the device.
    """

    def __init__(self, model: nn.Module) -> None:
        self.log = TraceLog()
        self.phases: list[Phase] = []
        self.function: Callable[..., Any] | None = None
        self._names = {id(module): name or type(model).__name__ for name, module in model.named_modules()}
        self._stack: list[str] = []
        self._forward_calls: dict[int, StepPosition] = {}  # number of an autograd node -> its forward call
        self._outside = caller()

    @property
    def phase(self) -> Phase:
        """The phase that runs."""
        return self.phases[-1] if self.phases else PHASES[0]

    def enter(self, phase: Phase, scope: str = "") -> None:
        """Note that a phase begins; `scope` names what runs, where it is not a module."""
        if phase != self.phase or not self.phases:
            self.phases.append(phase)
        self._stack = [scope] if scope else []

    def observe(self, call: OperatorCall) -> None:
        """Log an operator that reached the device."""
        location = call.location
        self.log.seen[call.name, call.verdict] += 1
        if self.phase in {"forward", "loss"}:
            # autograd has just numbered the node of this operator; the first one to see a number is its owner
            number = torch._C._autograd._get_sequence_nr() - 1
            if number not in self._forward_calls:
                self._forward_calls[number] = self._here(location)
        if call.verdict in ("missing", "cpu_always") and call.through:
            self.log.rerouted[call.name, call.through] += 1
        elif call.verdict in ("missing", "cpu_always"):
            self.log.rules[call.name] = call.rule
            places = self.log.suspects.setdefault((call.name, call.verdict), Counter())
            places[self.where(location)] += 1

    def where(self, location: Location | None = None) -> StepPosition:
        """Return where the step is: in backward, where the forward call was."""
        node: Any = torch._C._current_autograd_node()  # None outside the backward pass
        if node is not None:
            forward = self._forward_calls.get(node._sequence_nr())
            if forward is not None:
                return StepPosition(self.phase, forward.module, forward.location)
            return StepPosition(self.phase, "", None)
        return self._here(location or caller())

    def _here(self, location: Location) -> StepPosition:
        at = None if location == self._outside or not location.line else location
        if at is not None and (at.file, at.function) == (self._outside.file, self._outside.function):
            at = None  # the whole way leads through torch to the line that asked for the audit
        return StepPosition(self.phase, self._stack[-1] if self._stack else "", at, self.function)

    @contextmanager
    def calling(self, function: Callable[..., Any]) -> Iterator[None]:
        """Note which of torch's functions the caller's line calls, while it runs."""
        outer, self.function = self.function, function
        try:
            yield
        finally:
            self.function = outer

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """See everything that runs in this block."""
        hooks = torch.nn.modules.module
        with ExitStack() as stack:
            before = hooks.register_module_forward_pre_hook(self._enter_module)
            stack.callback(before.remove)
            after = hooks.register_module_forward_hook(self._leave_module, always_call=True)
            stack.callback(after.remove)
            yield

    def _enter_module(self, module: nn.Module, _: Any) -> None:
        self._stack.append(self._names.get(id(module)) or type(module).__name__)

    def _leave_module(self, module: nn.Module, *_: Any) -> None:
        if self._stack:
            self._stack.pop()
