"""Find the first module whose output is not finite although its inputs are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from course_utils.numerics.running.runners import DeviceRunner
from course_utils.numerics.tensors.inputs import Inputs


@dataclass(frozen=True)
class NonFiniteLayer:
    """The module where numbers stopped being finite.

    Args:
        name: its name in the model, such as "encoder.layers.0.norm1"; "" for the model itself.
        type_name: its class.
        count: how many numbers of its output are NaN or infinite.
        total: how many numbers its output has.
    """

    name: str
    type_name: str
    count: int
    total: int

    def __str__(self) -> str:
        name = f"module {self.name!r}" if self.name else "the model itself"
        counts = f"{self.count} of {self.total} numbers of its output are not finite"
        return f"{name} ({self.type_name}): {counts}, its inputs are"


class _Watched(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: Any) -> list[NonFiniteLayer]:
        found: list[NonFiniteLayer] = []
        handles = [
            module.register_forward_hook(_watch(name, found)) for name, module in self.model.named_modules()
        ]  # fmt: skip
        try:
            self.model(*inputs)
        finally:
            for handle in handles:
                handle.remove()
        return found


def _watch(name: str, found: list[NonFiniteLayer]) -> Callable[[nn.Module, Any, Any], None]:
    def hook(module: nn.Module, inputs: Any, outputs: Any) -> None:
        count, total = _count(outputs)
        if count and not _count(inputs)[0]:
            found.append(NonFiniteLayer(name, type(module).__name__, count, total))

    return hook


def _count(values: Any) -> tuple[int, int]:
    tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    return sum(int((~t.isfinite()).sum()) for t in tensors), sum(t.numel() for t in tensors)


def first_nonfinite_layer(model: nn.Module, inputs: Inputs, runner: DeviceRunner) -> NonFiniteLayer | None:
    """Run a model and find where numbers stop being finite.

    Args:
        model: a module on the CPU; it is copied.
        inputs: its inputs, on the CPU.
        runner: where it runs.

    Returns:
        The first module, in the order in which modules finish, whose output holds NaN or infinity while its inputs
        hold none; None where there is no such module. Inner modules finish before those that contain them.
    """
    found: list[NonFiniteLayer] = runner.run(_Watched(model), inputs)
    return found[0] if found else None
