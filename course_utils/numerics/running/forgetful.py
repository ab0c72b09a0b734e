"""A CPU that loses chosen in-place writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.tensors.operators import is_write

Rule = Callable[[int, torch.Tensor], bool]


def writes_into_part(target: torch.Tensor) -> bool:
    """Return whether a tensor is a view of a part of its memory, or lies in it with other strides."""
    covered = target.numel() * target.element_size() == target.untyped_storage().nbytes()
    return not (covered and target.is_contiguous())


class Forgetful(DispatchMode):
    """While active, in-place operators that a rule picks do nothing.

    Args:
        forgets: takes the number of the write, from 0, and the tensor that is written.
    """

    def __init__(self, forgets: Rule) -> None:
        super().__init__()
        self.forgets, self.count = forgets, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator unless it is a write to forget."""
        if is_write(func) and args and isinstance(args[0], torch.Tensor):
            number, self.count = self.count, self.count + 1
            if self.forgets(number, args[0]):
                return args[0]
        return func(*args, **(kwargs or {}))
