"""A device that rounds otherwise than the CPU does, as another honest device may."""

import re

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


class Rounding(TorchDispatchMode):
    """An honest device: each inexact result is off by some units of its last place, and exact results are exact.

    Metal allows 4 units for most functions (Metal Shading Language specification, table of math functions).
    """

    UNITS = 4
    # sums, products of matrices and functions; IEEE arithmetic such as a + b is rounded alike everywhere
    INEXACT = re.compile(
        r"mm|convolution|attention|norm|softm|lstm|exp|log|tanh|sigmoid|silu|mish|elu|gamma|hypot|sqrt|sum|mean|var|std|fft"
        r"|softplus|grid|linalg|pool"
    )

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        return tree_map_only(torch.Tensor, self.off, result) if self.INEXACT.search(operator.__name__) else result

    def off(self, result):
        """Return a result with every number that is not an integer a little off."""
        if not result.is_floating_point() or result.layout is not torch.strided:
            return result
        whole = (result == result.round()) | ~result.isfinite()
        drawn = torch.rand(result.shape, generator=torch.Generator().manual_seed(0))  # alike for equal calls
        noise = (drawn * 2 - 1) * self.UNITS * torch.finfo(result.dtype).eps
        return torch.where(whole, result, (result * (1 + noise)).to(result.dtype))
