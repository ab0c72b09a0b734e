"""A reproducer: a few lines that a device computes, and what is right.

Inputs are drawn on the CPU, because the same seed gives other numbers on another device (pytorch #84288, #153102);
views are taken on the device, because a copy makes most of them contiguous (torch 2.9 to 2.14).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

CPU = torch.device("cpu")
Function = Callable[..., Any]
# a tensor, a number, or a tuple or list of these; torch leaves the type of many results open
Values = Any
Module = TypeVar("Module", bound=torch.nn.Module)


class FromCpu:
    """Stands for "what the same function gives on the CPU"."""


FROM_CPU = FromCpu()


@dataclass(frozen=True)
class Reproducer:
    """One published fault as a question to a device.

    Args:
        issue: the fault's id in `course_utils/data/known_faults.json`, such as "pytorch#190052".
        function: takes a device and returns what that device computed: a tensor, a number, or a tuple or list of
            these.
        right: what a right device returns; FROM_CPU for what the function gives on the CPU, a number for a tensor
            full of it, a function without arguments for a value to compute.
        tolerance: largest absolute difference that a right device may show; 0 where every right device gives the same
            bits.
        small: arguments that make a reproducer of a large tensor small. The fault does not show at that size; the
            tests use it.
    """

    issue: str
    function: Function
    right: Any = FROM_CPU
    tolerance: float = 0.0
    small: Mapping[str, int] = field(default_factory=dict)

    @property
    def asks(self) -> str:
        """What is computed, in one sentence."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def observe(self, device: torch.device, *, small: bool = False) -> Any:
        """Compute on the device; whatever the function raises is passed on."""
        return self.function(device, **(self.small if small else {}))

    def expected(self, *, small: bool = False) -> Any:
        """Return what a right device gives."""
        if isinstance(self.right, FromCpu):
            return self.observe(CPU, small=small)
        return self.right() if callable(self.right) else self.right


REPRODUCERS: dict[str, Reproducer] = {}


def reproduces(
    issue: str, *, right: Any = FROM_CPU, tolerance: float = 0.0, small: Mapping[str, int] | None = None
) -> Callable[[Function], Function]:
    """Register a function as the reproducer of a fault; the arguments are those of `Reproducer`.

    Raises:
        ValueError: for an issue that has a reproducer already.
    """

    def register(function: Function) -> Function:
        if issue in REPRODUCERS:
            raise ValueError(f"{issue} has a reproducer already: {REPRODUCERS[issue].function.__name__}")
        REPRODUCERS[issue] = Reproducer(issue, function, right, tolerance, small or {})
        return function

    return register


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Draw normal numbers on the CPU."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def uniform(*shape: int, seed: int = 0) -> torch.Tensor:
    """Draw numbers between 0 and 1 on the CPU."""
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def seeded(make: Callable[[], Module]) -> Module:
    """Make a module with the same weights every time, and leave torch's random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()


def gradient(function: Function, x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the sum of `function(x)` with respect to x; x keeps its strides."""
    leaf = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(function(leaf).sum(), leaf)
    return found


def leave_junk(device: torch.device, value: float) -> None:
    """Fill memory with a number and give it back, so that a read behind a later tensor finds it."""
    torch.full((4_000_000,), value, device=device)


def refused(attempt: Callable[[], Any], device: torch.device) -> bool:
    """Return whether an error was raised, at once or when the device was waited for.

    IndexError on the CPU; RuntimeError, of which torch's AcceleratorError is a kind, where a device reports it late.
    """
    try:
        attempt()
        torch.zeros(1, device=device).cpu()
    except (IndexError, RuntimeError):
        return True
    return False


def compiled(function: Function, device: torch.device) -> Function:
    """Compile a function for MPS; elsewhere leave it alone, since the faults are those of MPS's generated kernels."""
    return torch.compile(function) if device.type == "mps" else function
