"""One call of a callable with everything it leaves behind: outputs, written inputs, buffers, gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.running.runners import Fn, copied
from course_utils.numerics.tensors.inputs import draw

GRADIENT = "gradient of "


class ObservedCall(nn.Module):
    """Calls a callable and returns all that it computes and writes.

    Args:
        fn: a callable or a module.
        count: how many of the arguments are the callable's inputs; the rest are cotangents, what is backpropagated.
        gradients: whether to run backward too.
        dtype: the dtype of cotangents that are drawn here because none were given.
        seed: of those cotangents.
    """

    def __init__(self, fn: Fn, count: int, *, gradients: bool, dtype: torch.dtype, seed: int = 0) -> None:
        super().__init__()
        self.fn, self.count, self.gradients = fn, count, gradients
        self.dtype, self.seed = dtype, seed
        self.cotangents: tuple[torch.Tensor, ...] = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> ObservedCall:
        """Copy with the strides of the parameters, which a plain deep copy loses."""
        return ObservedCall(
            copied(self.fn), self.count, gradients=self.gradients, dtype=self.dtype, seed=self.seed
        )  # fmt: skip

    def forward(self, *arguments: Any) -> dict[str, Any]:
        """Run forward and, where asked, backward.

        Returns:
            "output", "input N after the call", "buffer NAME", "gradient of input N", "gradient of parameter NAME".
        """
        inputs = list(arguments[: self.count])
        if not self.gradients:
            inference = isinstance(self.fn, nn.Module) and not self.fn.training
            with torch.no_grad() if inference else contextlib.nullcontext():
                output = self.fn(*inputs)
            return {"output": output, **self._left_behind(inputs)}
        inputs = _requiring_gradients(inputs)
        output = self.fn(*inputs)
        given = arguments[self.count :] or self._draw(output)
        return {"output": output, **self._left_behind(inputs), **self._gradients(inputs, output, given)}

    def _left_behind(self, inputs: Sequence[Any]) -> dict[str, Any]:
        after: dict[str, Any] = {f"input {place} after the call": value for place, value in enumerate(inputs)}
        if isinstance(self.fn, nn.Module):
            after |= {f"buffer {name}": buffer for name, buffer in self.fn.named_buffers()}
        return after

    def _draw(self, output: Any) -> tuple[torch.Tensor, ...]:
        self.cotangents = cotangents_for(output, self.dtype, self.seed)
        return self.cotangents

    def _gradients(self, inputs: list[Any], output: Any, given: Sequence[Any]) -> dict[str, Any]:
        wanted = _wanted(self.fn, inputs)
        pairs = [
            (result, weight.to(device=result.device, dtype=result.dtype).reshape(result.shape))
            for result, weight in zip(differentiable(output), given, strict=False)
            if result.requires_grad
        ]
        if not pairs or not wanted:
            return {}
        results, weights = zip(*pairs, strict=True)
        found = torch.autograd.grad(results, list(wanted.values()), weights, allow_unused=True)
        return dict(zip(wanted, found, strict=True))


def cotangents_for(output: Any, dtype: torch.dtype, seed: int) -> tuple[torch.Tensor, ...]:
    """Draw one normal tensor for each floating-point output, of any shape; a plain sum would hide errors."""
    return tuple(
        draw(*result.shape, dtype=dtype, seed=seed + place) for place, result in enumerate(differentiable(output))
    )


def differentiable(output: Any) -> list[torch.Tensor]:
    """List the floating-point tensors of an output."""
    return [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def _requiring_gradients(inputs: Sequence[Any]) -> list[Any]:
    def one(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor

    mapped: list[Any] = tree_map_only(torch.Tensor, one, list(inputs))
    return mapped


def _wanted(fn: Fn, inputs: list[Any]) -> dict[str, torch.Tensor]:
    leaves = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    wanted = {f"{GRADIENT}input {place}": leaf for place, leaf in enumerate(leaves) if leaf.requires_grad}
    if isinstance(fn, nn.Module):
        wanted |= {f"{GRADIENT}parameter {name}": p for name, p in fn.named_parameters() if p.requires_grad}
    return wanted
