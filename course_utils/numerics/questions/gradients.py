"""Gradients and one optimizer step as callables, so that a device and the reference can run and compare them.

A right output says nothing about its gradient: LSTM's was wrong on MPS in torch 1.13-2.0 and again in 2.13
(pytorch #92615, #95137, #190056), and Adam did not move transposed weights (pytorch #118115).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.running.runners import DeviceRunner, Fn
from course_utils.numerics.tensors.inputs import Inputs, draw, lay_out
from course_utils.numerics.tensors.leaves import OutputLeaf, flatten

MakeOptimizer = Callable[[Iterable[torch.Tensor]], torch.optim.Optimizer]


def smooth_adam(parameters: Iterable[torch.Tensor]) -> torch.optim.Optimizer:
    """Make an Adam whose first step is a smooth function of the gradient: the usual eps makes it nearly a sign."""
    return torch.optim.Adam(parameters, lr=0.1, eps=0.1)


def cotangents_for(outputs: Any, dtype: torch.dtype, seed: int) -> Inputs:
    """Draw what is backpropagated: one normal tensor for each floating-point output; a plain sum would hide errors."""
    shapes = [
        leaf.shape for leaf in tree_leaves(outputs) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    ]  # fmt: skip
    return tuple(draw(*shape, dtype=dtype, seed=seed + place) for place, shape in enumerate(shapes))


class GradientOf(nn.Module):
    """Returns the gradients of a callable's outputs, weighted by cotangents.

    Args:
        fn: a callable or a module.
        count: how many of the arguments are the callable's inputs; the rest are cotangents.
    """

    def __init__(self, fn: Fn, count: int) -> None:
        super().__init__()
        self.fn, self.count = fn, count

    def forward(self, *arguments: Any) -> dict[str, torch.Tensor | None]:
        """Run forward and backward.

        Returns:
            Gradients by name, such as "gradient of input 0" or "gradient of parameter weight"; None where the output
            does not depend on it.

        Raises:
            RuntimeError: when no output has a gradient.
        """
        inputs = _requiring_gradients(arguments[: self.count])
        outputs = _differentiable(self.fn(*inputs))
        wanted = _wanted(self.fn, inputs)
        weights = [_like(w, o) for w, o in zip(arguments[self.count :], outputs, strict=False)]
        pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        if not pairs or not wanted:
            raise RuntimeError("no output has a gradient")
        gradients = torch.autograd.grad(
            [output for output, _ in pairs], list(wanted.values()), [weight for _, weight in pairs], allow_unused=True
        )
        return dict(zip(wanted, gradients, strict=True))


class StepOf(nn.Module):
    """Returns a module's parameters after one optimizer step.

    Args:
        fn: the module.
        count: how many of the arguments are the module's inputs; the rest are cotangents.
        make_optimizer: makes the optimizer from the parameters.
    """

    def __init__(self, fn: nn.Module, count: int, make_optimizer: MakeOptimizer = smooth_adam) -> None:
        super().__init__()
        self.fn, self.count, self.make_optimizer = fn, count, make_optimizer

    def forward(self, *arguments: Any) -> dict[str, torch.Tensor]:
        """Run forward, backward and one step."""
        optimizer = self.make_optimizer([p for p in self.fn.parameters() if p.requires_grad])
        outputs = _differentiable(self.fn(*arguments[: self.count]))
        pairs = [(o, _like(w, o)) for o, w in zip(outputs, arguments[self.count :], strict=False) if o.requires_grad]
        torch.autograd.backward([output for output, _ in pairs], [weight for _, weight in pairs])
        optimizer.step()
        return {f"parameter {name} after the step": p.detach() for name, p in self.fn.named_parameters()}

    def unmoved(self, after: Sequence[OutputLeaf]) -> set[str]:
        """List the parameters that are after a step what they are before it.

        Args:
            after: the flat result of a step of a copy of this module.
        """
        before = {f"parameter {name} after the step": p.detach() for name, p in self.fn.named_parameters()}
        return {leaf.path for leaf in after if leaf.path in before and torch.equal(leaf.tensor, before[leaf.path])}


def transposed_parameters(fn: nn.Module) -> nn.Module:
    """Copy a module whose matrices lie transposed in memory, with the same values."""
    copied = copy.deepcopy(fn)
    for parameter in copied.parameters():
        parameter.data = lay_out(parameter.data, "transposed")
    return copied


def _requiring_gradients(inputs: Sequence[Any]) -> list[Any]:
    def one(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor

    mapped: list[Any] = tree_map_only(torch.Tensor, one, list(inputs))
    return mapped


def _differentiable(outputs: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(outputs) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def _like(weight: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    return weight.to(output.dtype).reshape(output.shape)


def _wanted(fn: Fn, inputs: list[Any]) -> dict[str, torch.Tensor]:
    leaves = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    wanted = {f"gradient of input {place}": leaf for place, leaf in enumerate(leaves) if leaf.requires_grad}
    if isinstance(fn, nn.Module):
        wanted |= {f"gradient of parameter {name}": p for name, p in fn.named_parameters() if p.requires_grad}
    return wanted


def slope_disagreement(runner: DeviceRunner, fn: Fn, inputs: Inputs, cotangents: Inputs, seed: int) -> str | None:
    """Compare backward with finite differences on one device, the seed set before every call.

    This needs no other device, so it also judges callables that draw random numbers (pytorch #190056: dropout between
    the layers of an LSTM was ignored in backward).

    Args:
        runner: the device.
        fn: the callable, in float32 or float64.
        inputs: its inputs.
        cotangents: what is backpropagated.
        seed: set before every call, so that the same random numbers are drawn.

    Returns:
        A sentence with both slopes, or None where they agree or there is no gradient.
    """
    seeded = _Seeded(GradientOf(fn, len(inputs)), seed)
    gradients = {leaf.path: leaf.tensor.double() for leaf in flatten(runner.run(seeded, (*inputs, *cotangents)))}
    by_input = {int(path.rsplit(" ", 1)[1]): g for path, g in gradients.items() if path.startswith("gradient of input")}
    slope = sum(float(g.square().sum()) for g in by_input.values()) ** 0.5
    if not slope:
        return None
    scale = max((float(leaf.abs().max()) for leaf in _floats(inputs)), default=1.0)
    # the cube root of eps balances rounding against curvature
    step = max(scale, 1.0) * torch.finfo(torch.float32).eps ** (1 / 3)
    losses = []
    for sign in (1.0, -1.0):
        moved = _shifted(inputs, by_input, sign * step / max(float(g.abs().max()) for g in by_input.values()))
        outputs = flatten(runner.run(_Seeded(fn, seed), moved))
        numbers = [leaf.tensor.double() for leaf in outputs if leaf.tensor.is_floating_point()]
        losses.append(sum(float((n * c.double()).sum()) for n, c in zip(numbers, cotangents, strict=True)))
    length = step / max(float(g.abs().max()) for g in by_input.values()) * slope
    measured = (losses[0] - losses[1]) / (2 * length)
    if abs(measured - slope) <= 0.05 * slope:
        return None
    return (
        f"along the gradient of the inputs the output rises by {measured:.4g}, backward says {slope:.4g} "
        "(finite differences on the device itself, same seed)"
    )


def _floats(inputs: Inputs) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def _shifted(inputs: Inputs, by_input: dict[int, torch.Tensor], factor: float) -> Inputs:
    places = iter(range(len(tree_leaves(list(inputs)))))

    def one(tensor: torch.Tensor) -> torch.Tensor:
        gradient = by_input.get(next(places))
        return tensor if gradient is None else (tensor.double() + factor * gradient).to(tensor.dtype)

    return tuple(tree_map_only(torch.Tensor, one, list(inputs)))


class _Seeded(nn.Module):
    def __init__(self, fn: Fn, seed: int) -> None:
        super().__init__()
        self.fn, self.seed = fn, seed

    def forward(self, *inputs: Any) -> Any:
        torch.manual_seed(self.seed)
        return self.fn(*inputs)
