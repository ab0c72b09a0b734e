"""Follow a step on a Mac's own MPS: a dispatch mode looks operators up, and runs on the CPU what has no kernel.

Nothing can be emulated where torch was built with MPS. A dispatch mode sees the operators below autograd, but not
those that C++ calls inside a composite one; of these, only an error tells. And C++ takes a few composite operators
apart in another way while such a mode is on (`isTensorSubclassLike` in ATen/TensorSubclassLikeUtils.h, torch 2.1 and
later), for instance linalg_eigvals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.auditing.calls import Calls, is_here
from course_utils.emulation.location import caller
from course_utils.operators.table import OperatorTable

WARNING = (
    "followed on this machine's MPS, where operators that C++ calls inside a composite one are seen only if they fail, "
    "and a few composite ones are taken apart in another way while they are watched"
)
_LACKS_KERNEL = re.compile(r"The operator '(\S+)' is not currently implemented for the MPS device")


def verdicts_of(table: OperatorTable) -> Callable[[str], str]:
    """Return a function that says how an operator fares: "native", "composite", "cpu_always" or "missing"."""

    def verdict(name: str) -> str:
        if not name.startswith("aten::"):
            return "native"  # outside aten only an error tells
        try:
            status = table.verdict(name).status
        except LookupError:
            return "native"
        return status if status in ("composite", "cpu_always", "missing") else "native"

    return verdict


class RealDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operator that meets a tensor of the device.

    Args:
        calls: runs the kernels.
        verdict_of: how an operator fares.
    """

    def __init__(self, calls: Calls, verdict_of: Callable[[str], str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = calls
        self.verdict_of = verdict_of

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not _on_device((args, kwargs)):
            return func(*args, **kwargs)
        name = func.name()
        verdict = self.verdict_of(name)
        self.calls.tracer.observe(name, verdict, caller())
        if verdict == "missing":
            return run_on_cpu(func, args, kwargs)
        try:
            return self.calls.run(func, func, args, kwargs)
        except NotImplementedError as error:
            inner = _LACKS_KERNEL.search(str(error))
            if inner is None:
                raise
            self.calls.tracer.observe(inner.group(1), "missing", caller())
            return run_on_cpu(func, args, kwargs)


def _on_device(values: Any) -> bool:
    for leaf in pytree.tree_leaves(values):
        if isinstance(leaf, torch.Tensor):
            if not is_here(leaf):
                return True
        elif isinstance(leaf, torch.device) and leaf.type == "mps":
            return True
    return False


def run_on_cpu(func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator on the CPU, and bring back its results and what it wrote into its arguments."""
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    device: list[torch.device] = []

    def fetch(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and not is_here(leaf):
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
