"""Gradients and one optimizer step as callables, so that a device and the reference can run and compare them.

A right output says nothing about its gradient: LSTM's was wrong on MPS in torch 1.13-2.0 and again in 2.13
(pytorch #92615, #95137, #190056), and Adam did not move transposed weights (pytorch #118115).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.running.observed import ObservedCall, differentiable
from course_utils.numerics.running.runners import DeviceRunner, Fn, TorchDevice, copied
from course_utils.numerics.running.seeds import set_seed
from course_utils.numerics.tensors.inputs import Inputs, move
from course_utils.numerics.tensors.leaves import flatten

# finite differences judge a device only where they come closer than they have to on the CPU, in so many draws
_CLOSER = 0.02
_DRAWS = 3
MakeOptimizer = Callable[[Iterable[torch.Tensor]], torch.optim.Optimizer]


def smooth_adam(parameters: Iterable[torch.Tensor]) -> torch.optim.Optimizer:
    """Make an Adam whose first step is a smooth function of the gradient: the usual eps makes it nearly a sign."""
    return torch.optim.Adam(parameters, lr=0.1, eps=0.1)


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
        module = copied(self.fn)
        assert isinstance(module, nn.Module)
        for parameter in module.parameters():
            parameter.data = move(parameter.data, parameter.device)  # the step writes into them
        optimizer = self.make_optimizer([p for p in module.parameters() if p.requires_grad])
        outputs = differentiable(module(*arguments[: self.count]))
        weights = arguments[self.count :]
        pairs = [(o, w.to(o).reshape(o.shape)) for o, w in zip(outputs, weights, strict=False) if o.requires_grad]
        torch.autograd.backward([output for output, _ in pairs], [weight for _, weight in pairs])
        optimizer.step()
        return {f"parameter {name} after the step": p.detach() for name, p in module.named_parameters()}

    def is_unmoved(self, name: str, after: torch.Tensor) -> bool:
        """Return whether a parameter is after a step what it was before it.

        Args:
            name: the parameter's name.
            after: its numbers after the step.
        """
        before = dict(self.fn.named_parameters()).get(name)
        return before is not None and torch.equal(before.detach(), after)


def bends_within_a_step(exact: Fn, inputs: Inputs, cotangents: Inputs, seed: int) -> bool:
    """Return whether finite differences of float32's step length judge nothing here: the output bends within the step.

    A batch norm over few numbers does that (MobileNetV2 in training at 64 x 64 pixels): backward is right, and the
    differences say 14.6 where the slope is 711. On the CPU in float64 they miss the slope too, and much shorter ones
    meet it, which no wrong backward would let them do.

    Args:
        exact: the callable with its numbers in the reference's precision.
        inputs: in the reference's precision.
        cotangents: what is backpropagated.
        seed: other draws are tried as well, since they bend the output elsewhere.
    """
    cpu = TorchDevice("cpu")
    draws = range(seed, seed + _DRAWS)
    if all(slope_disagreement(cpu, exact, inputs, cotangents, draw, within=_CLOSER) is None for draw in draws):
        return False
    return slope_disagreement(cpu, exact, inputs, cotangents, seed, step_for=torch.float64) is None


def slope_disagreement(
    runner: DeviceRunner,
    fn: Fn,
    inputs: Inputs,
    cotangents: Inputs,
    seed: int,
    *,
    within: float = 0.05,
    step_for: torch.dtype = torch.float32,
) -> str | None:
    """Compare backward with finite differences on one device, the seed set before every call.

    This needs no other device, so it also judges callables that draw random numbers (pytorch #190056: dropout between
    the layers of an LSTM was ignored in backward).

    Args:
        runner: the device.
        fn: the callable, in float32 or float64.
        inputs: its inputs.
        cotangents: what is backpropagated.
        seed: set before every call, so that the same random numbers are drawn.
        within: how far apart both may be, as a part of the slope.
        step_for: the dtype whose rounding the length of the step balances against curvature.

    Returns:
        A sentence with both slopes, or None where they agree or there is no gradient.
    """
    seeded = _Seeded(ObservedCall(fn, len(inputs), gradients=True, dtype=torch.float32), seed)
    gradients = {leaf.path: leaf.tensor.double() for leaf in flatten(runner.run(seeded, (*inputs, *cotangents)))}
    by_input = {int(path.rsplit(" ", 1)[1]): g for path, g in gradients.items() if path.startswith("gradient of input")}
    slope = sum(float(g.square().sum()) for g in by_input.values()) ** 0.5
    if not slope:
        return None
    scale = max((float(leaf.abs().max()) for leaf in _floats(inputs)), default=1.0)
    # the cube root of eps balances rounding against curvature
    step = max(scale, 1.0) * torch.finfo(step_for).eps ** (1 / 3)
    losses = []
    for sign in (1.0, -1.0):
        moved = _shifted(inputs, by_input, sign * step / max(float(g.abs().max()) for g in by_input.values()))
        outputs = flatten(runner.run(_Seeded(fn, seed), moved))
        numbers = [leaf.tensor.double() for leaf in outputs if leaf.tensor.is_floating_point()]
        losses.append(sum(float((n * c.double()).sum()) for n, c in zip(numbers, cotangents, strict=True)))
    length = step / max(float(g.abs().max()) for g in by_input.values()) * slope
    measured = (losses[0] - losses[1]) / (2 * length)
    if abs(measured - slope) <= within * slope:
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
        set_seed(self.seed)
        return self.fn(*inputs)
