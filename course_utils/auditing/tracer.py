"""Follow a step on the device: which operator, in which phase, in which module, from which line.

Two modes of torch see the calls: a dispatch mode below autograd, with arguments and results, and a function mode
above it, with the name that the caller used. On the emulated device its observer tells the operators; on a real one
the dispatch mode looks them up and runs on the CPU what has no kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.auditing.findings import PHASES, Phase
from course_utils.auditing.limits import Limit, limits_of, name_arguments
from course_utils.auditing.tensors import REPLACEMENT, address_of
from course_utils.emulation.location import Location, caller

_LACKS_DTYPE = re.compile("support float64|does not have support for that dtype")
_LACKS_KERNEL = re.compile(r"The operator '(\S+)' is not currently implemented for the MPS device")


@dataclass(frozen=True)
class Where:
    """Where an operator was called; `function` is torch's function that the caller's line called, or None."""

    phase: Phase
    module: str
    location: Location | None
    function: Callable[..., Any] | None = field(default=None, hash=False, compare=False)


@dataclass
class Notebook:
    """Everything that a tracer writes down.

    Args:
        seen: (name, verdict) -> calls.
        suspects: (name, verdict) of operators that are not simply native -> places, with their counts.
        reached: limits that a call reached, with the operator -> places.
        float64: operators that made float64 -> places.
        mixed: names of tensors that were left on the CPU -> places.
        moved: names of tensors of the loss that were moved on the way.
    """

    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    suspects: dict[tuple[str, str], Counter[Where]] = field(default_factory=dict)
    reached: dict[tuple[Limit, str], Counter[Where]] = field(default_factory=dict)
    float64: dict[str, Counter[Where]] = field(default_factory=dict)
    mixed: dict[str, Counter[Where]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)


class Tracer:
    """Sees one step.

    Args:
        model: the model on the device.
        release: of torch, whose limits count.
        macos: this machine's, None where it is not known.
        attributes: address of memory -> name, for tensors that a module holds as plain attributes.
        targets: address of memory -> name, for tensors that the loss carries along.
        verdict_of: how an operator fares, on a real device; None on the emulated one, whose observer tells it.
    """

    def __init__(
        self,
        model: nn.Module,
        release: str,
        *,
        macos: str | None = None,
        attributes: dict[int, str] | None = None,
        targets: dict[int, str] | None = None,
        verdict_of: Callable[[str], str] | None = None,
    ) -> None:
        self.release = release
        self.macos = macos
        self.attributes = attributes or {}
        self.targets = targets or {}
        self.verdict_of = verdict_of
        self.notebook = Notebook()
        self.phases: list[Phase] = []
        self.function: Callable[..., Any] | None = None
        self._names = {id(module): name or type(model).__name__ for name, module in model.named_modules()}
        self._stack: list[str] = []
        self._forward_calls: dict[int, Where] = {}  # number of an autograd node -> its forward call
        self._outside = caller()

    @property
    def phase(self) -> Phase:
        """The phase that runs."""
        return self.phases[-1] if self.phases else PHASES[0]

    def enter(self, phase: Phase) -> None:
        """Note that a phase begins."""
        self.phases.append(phase)
        self._stack.clear()

    def observe(self, name: str, verdict: str, location: Location) -> None:
        """Write down an operator that reached the device."""
        self.notebook.seen[name, verdict] += 1
        if self.phase == "forward" or self.phase == "loss":
            # autograd has just numbered the node of this operator; the first one to see a number is its owner
            number = torch._C._autograd._get_sequence_nr() - 1
            if number not in self._forward_calls:
                self._forward_calls[number] = self._here(location)
        if verdict in ("missing", "cpu_always"):
            places = self.notebook.suspects.setdefault((name, verdict), Counter())
            places[self.where(location)] += 1

    def where(self, location: Location | None = None) -> Where:
        """Say where the step is: in backward, where the forward call was."""
        node = torch._C._current_autograd_node()
        if node is not None:
            forward = self._forward_calls.get(node._sequence_nr())
            if forward is not None:
                return Where(self.phase, forward.module, forward.location)
            return Where(self.phase, "", None)
        return self._here(location or caller())

    def _here(self, location: Location) -> Where:
        at = None if location == self._outside or not location.line else location
        if at is not None and (at.file, at.function) == (self._outside.file, self._outside.function):
            at = None  # the whole way leads through torch to the line that asked for the audit
        return Where(self.phase, self._stack[-1] if self._stack else "", at, self.function)

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """See everything that runs in this block."""
        hooks = torch.nn.modules.module
        with ExitStack() as stack:
            before = hooks.register_module_forward_pre_hook(self._enter_module)
            stack.callback(before.remove)
            after = hooks.register_module_forward_hook(self._leave_module, always_call=True)
            stack.callback(after.remove)
            stack.enter_context(_Functions(self))
            stack.enter_context(_Operators(self))
            yield

    def _enter_module(self, module: nn.Module, _: Any) -> None:
        self._stack.append(self._names.get(id(module)) or type(module).__name__)

    def _leave_module(self, module: nn.Module, *_: Any) -> None:
        if self._stack:
            self._stack.pop()


class _Functions(TorchFunctionMode):
    """Keeps the function of torch that the caller's line called, while it runs."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outer, self.tracer.function = self.tracer.function, func
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.tracer.function = outer


class _Operators(TorchDispatchMode):
    """Sees every operator with its arguments; goes on where the device refuses float64 or a tensor on the CPU."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer
        self._limits: dict[Any, tuple[Limit, ...]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tracer = self.tracer
        limits = self._limits.get(func)
        if limits is None:
            limits = self._limits[func] = limits_of(func.name(), tracer.release, tracer.macos)
        result = self._call(func, args, kwargs)
        if limits and _on_device(args):
            named = name_arguments(func._schema, args, kwargs)
            for limit in limits:
                if limit.reached_by(named, result):
                    key = (limit, f"aten::{func.name().removeprefix('aten::')}")
                    tracer.notebook.reached.setdefault(key, Counter())[tracer.where()] += 1
        return result

    def _call(self, func: Any, args: Any, kwargs: Any) -> Any:
        tracer = self.tracer
        verdict = ""
        if tracer.verdict_of is not None and _on_device((args, kwargs)):
            verdict = tracer.verdict_of(func.name())
            tracer.observe(func.name(), verdict, caller())
        if verdict == "missing":
            return run_on_cpu(func, args, kwargs)
        try:
            return func(*args, **kwargs)
        except TypeError as error:
            if not _LACKS_DTYPE.search(str(error)):
                raise
            return self._without_float64(func, args, kwargs)
        except RuntimeError as error:
            inner = _LACKS_KERNEL.search(str(error)) if tracer.verdict_of is not None else None
            if inner is not None:  # a composite operator called one without a kernel
                tracer.observe(inner.group(1), "missing", caller())
                return run_on_cpu(func, args, kwargs)
            return self._with_strangers_moved(func, args, kwargs, error)

    def _without_float64(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Call again with 32 bits, as if the reader had followed the advice."""
        places = self.tracer.notebook.float64.setdefault(func.name(), Counter())
        places[self.tracer.where()] += 1
        return func(*pytree.tree_map(_narrow, args), **pytree.tree_map(_narrow, kwargs))

    def _with_strangers_moved(self, func: Any, args: Any, kwargs: Any, error: RuntimeError) -> Any:
        """Call again with the CPU's tensors moved, if they are what the device refused; else raise its error."""
        leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        there = [leaf for leaf in leaves if not _is_here(leaf)]
        strangers = [leaf for leaf in leaves if _is_here(leaf) and leaf.dim() > 0]
        if not there or not strangers or (func._schema.is_mutable and _is_here(leaves[0])):
            raise error
        for stranger in strangers:
            self._note_stranger(stranger, func)

        def move(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor) and _is_here(leaf) and leaf.dim() > 0:
                return _narrow(leaf).to(there[0].device)
            return leaf

        return func(*pytree.tree_map(move, args), **pytree.tree_map(move, kwargs))

    def _note_stranger(self, tensor: torch.Tensor, func: Any) -> None:
        tracer = self.tracer
        address = address_of(tensor)
        if address in tracer.targets and address not in tracer.attributes:
            tracer.notebook.moved.add(tracer.targets[address])
            return
        name = tracer.attributes.get(address, f"a tensor on the CPU, given to {func.name()}")
        tracer.notebook.mixed.setdefault(name, Counter())[tracer.where()] += 1


def _is_here(tensor: torch.Tensor) -> bool:
    with torch._C.DisableTorchFunction():
        return bool(torch._C.TensorBase.is_cpu.__get__(tensor))


def _on_device(values: Any) -> bool:
    for leaf in pytree.tree_leaves(values):
        if isinstance(leaf, torch.Tensor):
            if not _is_here(leaf):
                return True
        elif isinstance(leaf, torch.device) and leaf.type == "mps":
            return True
    return False


def _narrow(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return REPLACEMENT.get(value, value)
    if isinstance(value, torch.Tensor) and value.dtype in REPLACEMENT:
        return value.to(REPLACEMENT[value.dtype])
    return value


def run_on_cpu(func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator on the CPU and bring back its results and what it wrote into its arguments."""
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    device: list[torch.device] = []

    def fetch(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and not _is_here(leaf):
            device.append(leaf.device)
            pairs.append((leaf, leaf.cpu()))
            return pairs[-1][1]
        if isinstance(leaf, torch.device) and leaf.type == "mps":
            device.append(leaf)
            return torch.device("cpu")
        return leaf

    result = func(*pytree.tree_map(fetch, args), **pytree.tree_map(fetch, kwargs))
    if func._schema.is_mutable:
        for original, copy in pairs:
            original.copy_(copy)

    def bring(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return next((original for original, copy in pairs if copy is leaf), None) or leaf.to(device[0])

    return pytree.tree_map(bring, result)
