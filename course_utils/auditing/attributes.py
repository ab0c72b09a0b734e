"""Tensors that a model holds outside parameters and buffers: plain attributes, lists, other objects, unlisted modules.

`Module.to()` does not move them, and `copy.deepcopy` refuses those that are results of a computation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

_REGISTERED = frozenset({"_parameters", "_buffers", "_modules"})
_DEEPEST = 4  # levels of lists and objects below a module


@dataclass(frozen=True)
class HeldTensor:
    """A tensor that a module holds outside its parameters and buffers.

    Args:
        path: from the model, such as "encoder.win" or "layers[0].weight".
        tensor: the tensor.
        advice: how to make `Module.to()` move it.
    """

    path: str
    tensor: torch.Tensor
    advice: str


def held_tensors(model: nn.Module) -> Iterator[HeldTensor]:
    """Yield the tensors that modules of a model hold as plain attributes, each once."""
    seen = {id(module) for module in model.modules()}
    for module_name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute in _REGISTERED:
                continue
            path = f"{module_name}.{attribute}".strip(".")
            advice = f'register it as a buffer: self.register_buffer("{attribute}", ..., persistent=False)'
            yield from _walk(value, path, advice, seen)


def _walk(value: Any, path: str, advice: str, seen: set[int], levels: int = _DEEPEST) -> Iterator[HeldTensor]:
    """Yield the tensors below a value; `seen` holds the ids of what is not to be followed, and grows."""
    if levels < 0 or id(value) in seen:
        return
    if isinstance(value, torch.Tensor):
        seen.add(id(value))
        yield HeldTensor(path, value, advice)
    elif isinstance(value, nn.Module):
        seen.add(id(value))
        advice = "keep the modules in an nn.ModuleList or nn.ModuleDict, which .to() follows"
        for name, tensor in (*value.named_parameters(), *value.named_buffers()):
            yield from _walk(tensor, f"{path}.{name}", advice, seen, levels)
    else:
        for key, inner in _parts(value):
            yield from _walk(inner, f"{path}{key}", advice, seen, levels - 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in list(value.items()))
    elif not isinstance(value, type) and not type(value).__module__.startswith(("torch", "builtins", "numpy")):
        yield from ((f".{name}", item) for name, item in list(getattr(value, "__dict__", {}).items()))
