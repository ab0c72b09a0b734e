"""Follow a step on a Mac's own MPS: a dispatch mode looks operators up, and runs on the CPU what has no kernel.

Nothing can be emulated where torch was built with MPS. A dispatch mode sees the operators below autograd, but not
those that C++ calls inside a composite one; of these, only an error tells. And C++ takes a few composite operators
apart in another way while such a mode is on (`isTensorSubclassLike` in ATen/TensorSubclassLikeUtils.h, torch 2.1 and
later), for instance linalg_eigvals.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_utils.auditing.calls import is_on_cpu
from course_utils.auditing.tensors import REPLACEMENT
from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.emulation.events import CallHook, CallVerdict, OperatorCall
from course_utils.emulation.kernels import KernelTable
from course_utils.emulation.limits import limits_of
from course_utils.emulation.refusals import MpsRule, refusal

WARNING = (
    "followed on this machine's MPS, where operators that C++ calls inside a composite one are seen only if they fail, "
    "and a few composite ones are taken apart in another way while they are watched"
)
_LACKS_KERNEL = re.compile(r"The operator '(\S+)' is not currently implemented for the MPS device")


class RealDeviceMode(DispatchMode):
    """Emits an event for every operator that meets a tensor of the device, as the emulated device does.

    Args:
        hook: receives the calls.
        table: the kernels of the release in question.
        macos: whose limits count; None for those of every macOS.
    """

    def __init__(self, hook: CallHook, table: KernelTable, macos: str | None = None) -> None:
        super().__init__()
        self.hook = hook
        self.table = table
        self.macos = macos

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not _on_device((args, kwargs)):
            return func(*args, **kwargs)
        name = func.name()
        verdict = self._verdict(name)
        limits = limits_of(name, self.table.torch_version, self.macos)
        kernel = partial(detour_over_cpu, func) if verdict == "missing" else partial(self._run, func)
        return self.hook(OperatorCall(func, name, verdict, self.table, limits, kernel, args, kwargs))

    def _verdict(self, name: str) -> CallVerdict:
        entry = self.table.verdict(name)  # outside aten only an error tells
        if entry is None:
            return "native"
        return entry.status if entry.status in ("composite", "cpu_always", "missing") else "native"

    def _run(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Run an operator; one that C++ calls inside it and that has no kernel becomes an event of its own."""
        try:
            return func(*args, **kwargs)
        except NotImplementedError as error:
            inner = _LACKS_KERNEL.search(str(error))  # torch's text is the only place that has the name
            if inner is None:
                raise
            on_cpu = partial(detour_over_cpu, func)
            return self.hook(OperatorCall(func, inner.group(1), "missing", self.table, (), on_cpu, args, kwargs))
        except (TypeError, RuntimeError) as error:
            rule = _broken_rule(error, (args, kwargs))
            raise (error if rule is None else refusal(error, rule)) from None


def _broken_rule(error: Exception, values: Any) -> MpsRule | None:
    """Return which rule of MPS an operator's arguments break, None where they break none of those known."""
    leaves = pytree.tree_leaves(values)
    dtypes = {leaf.dtype if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves}
    if isinstance(error, TypeError) and not REPLACEMENT.keys().isdisjoint(dtypes):
        return MpsRule.UNSUPPORTED_DTYPE
    on_cpu = [
        is_on_cpu(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor) and (leaf.dim() or not is_on_cpu(leaf))
    ]
    return MpsRule.MIXED_DEVICES if len(set(on_cpu)) > 1 else None


def _on_device(values: Any) -> bool:
    for leaf in pytree.tree_leaves(values):
        if isinstance(leaf, torch.Tensor):
            if not is_on_cpu(leaf):
                return True
        elif isinstance(leaf, torch.device) and leaf.type == "mps":
            return True
    return False


def detour_over_cpu(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operator on the CPU, and bring back its results and what it wrote into its arguments."""
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    device: list[torch.device] = []

    def fetch(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and not is_on_cpu(leaf):
            device.append(leaf.device)
            pairs.append((leaf, leaf.cpu()))
            return pairs[-1][1]
        if isinstance(leaf, torch.device) and leaf.type == "mps":
            device.append(leaf)
            return torch.device("cpu")
        return leaf

    args, kwargs = pytree.tree_map(fetch, (args, kwargs))
    result = func(*args, **kwargs)
    if func._schema.is_mutable:
        for original, copy in pairs:
            original.copy_(copy)

    def bring(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        for original, copy in pairs:
            if copy is leaf:
                return original
        return leaf.to(device[0])

    return pytree.tree_map(bring, result)
