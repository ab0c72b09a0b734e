"""One call of an operator on the device: does it reach a documented limit, and how to go on where it is refused.

Refused float64 and tensors left on the CPU are written down, and the call is made again as if the reader had followed
the advice. So one audit finds what comes after, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_utils.auditing.limits import Limit, limits_of, name_arguments
from course_utils.auditing.tensors import REPLACEMENT, address_of
from course_utils.auditing.tracer import Tracer

_LACKS_DTYPE = re.compile("support float64|does not have support for that dtype")
Kernel = Callable[..., Any]
_TENSOR: Any = torch._C.TensorBase
_is_cpu = _TENSOR.is_cpu.__get__


class Calls:
    """Runs the kernels of one step.

    Args:
        tracer: where to write down.
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
        self._limits: dict[Any, tuple[Limit, ...]] = {}
        self._known_strangers: set[int] = set()

    def run(self, operator: Any, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a kernel.

        Args:
            operator: an overload of torch.ops.
            kernel: what runs it on the device.
            args: positional arguments.
            kwargs: arguments by name.
        """
        try:
            result = kernel(*args, **kwargs)
        except TypeError as error:
            if not _LACKS_DTYPE.search(str(error)):
                raise
            result = self._without_float64(operator, kernel, args, kwargs)
        except NotImplementedError:
            raise
        except RuntimeError as error:
            result = self._with_strangers_moved(operator, kernel, args, kwargs, error)
        limits = self._limits.get(operator)
        if limits is None:
            limits = self._limits[operator] = limits_of(operator.name(), self.release, self.macos)
        if limits:
            self._compare(operator, limits, name_arguments(operator._schema, args, kwargs), result)
        return result

    def _compare(self, operator: Any, limits: tuple[Limit, ...], arguments: dict[str, Any], result: Any) -> None:
        with torch._C.DisableTorchFunction():
            for limit in limits:
                if limit.reached_by(arguments, result):
                    reached = self.tracer.notebook.reached.setdefault((limit, operator.name()), Counter())
                    reached[self.tracer.where()] += 1

    def _without_float64(self, operator: Any, kernel: Kernel, args: Any, kwargs: Any) -> Any:
        places = self.tracer.notebook.float64.setdefault(operator.name(), Counter())
        places[self.tracer.where()] += 1
        with torch._C.DisableTorchFunction():
            args, kwargs = pytree.tree_map(_narrow, (args, kwargs))
        return kernel(*args, **kwargs)

    def _with_strangers_moved(self, operator: Any, kernel: Kernel, args: Any, kwargs: Any, error: RuntimeError) -> Any:
        """Call again with the CPU's tensors moved, if they are what the device refused; else raise its error."""
        with torch._C.DisableTorchFunction():
            leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
            there = [leaf for leaf in leaves if not is_here(leaf)]
            strangers = [leaf for leaf in leaves if is_here(leaf) and leaf.dim() > 0]
            if not there or not strangers or (operator._schema.is_mutable and is_here(leaves[0])):
                raise error
            for stranger in strangers:
                self._note_stranger(stranger, operator)

            def move(leaf: Any) -> Any:
                if isinstance(leaf, torch.Tensor) and is_here(leaf) and leaf.dim() > 0:
                    return _narrow(leaf).to(there[0].device)
                return leaf

            args, kwargs = pytree.tree_map(move, (args, kwargs))
        return kernel(*args, **kwargs)

    def _note_stranger(self, tensor: torch.Tensor, operator: Any) -> None:
        address = address_of(tensor)
        if address in self.targets and address not in self.attributes:
            self.tracer.notebook.moved.add(self.targets[address])
            return
        if self.tracer.phase == "backward" and address in self._known_strangers:
            return  # saved by the forward call, where it was named
        self._known_strangers.add(address)
        name = self.attributes.get(address, f"a tensor on the CPU, given to {operator.name()}")
        self.tracer.notebook.mixed.setdefault(name, Counter())[self.tracer.where()] += 1


def is_here(tensor: torch.Tensor) -> bool:
    """Say whether a tensor is in the CPU's memory, whatever the emulated device makes Python answer."""
    with torch._C.DisableTorchFunction():
        return bool(_is_cpu(tensor))


def _narrow(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return REPLACEMENT.get(value, value)
    if isinstance(value, torch.Tensor) and value.dtype in REPLACEMENT and is_here(value):
        return value.to(REPLACEMENT[value.dtype])
    return value
