"""The event that the emulated device emits for each call of an operator, and the hook that receives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

from course_utils.emulation.kernels import KernelTable
from course_utils.emulation.limits import KernelLimit, name_arguments
from course_utils.emulation.location import Location, caller
from course_utils.operators.table import OperatorVerdict

Kernel = Callable[..., Any]
CallVerdict = Literal["native", "composite", "cpu_always", "missing"]


@dataclass(slots=True)
class OperatorCall:
    """One call of an operator that reached the device; the kernel has not run yet.

    Args:
        operator: the overload of torch.ops.
        name: its qualified name with overload, such as "aten::add.Tensor".
        verdict: "native", "composite" (takes itself apart in Python), "cpu_always" or "missing".
        table: the kernels of the release that the device follows.
        limits: documented limits of the kernel that are in force.
        kernel: what computes it.
        args: positional arguments.
        kwargs: arguments by name.
        through: the composite operator that called it and that the followed release lacks, "" without one.
    """

    operator: Any
    name: str
    verdict: CallVerdict
    table: KernelTable
    limits: tuple[KernelLimit, ...]
    kernel: Kernel
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    through: str = ""

    def run(self) -> Any:
        """Return the kernel's result; raises what MPS would raise."""
        return self.kernel(*self.args, **self.kwargs)

    def limits_reached(self, result: Any) -> Iterator[KernelLimit]:
        """Yield the limits that the call reaches.

        Args:
            result: what the call returned.
        """
        if not self.limits:
            return
        arguments = name_arguments(self.operator._schema, self.args, self.kwargs)
        with torch._C.DisableTorchFunction():
            for limit in self.limits:
                if limit.reached_by(arguments, result):
                    yield limit

    @property
    def rule(self) -> OperatorVerdict | None:
        """The operator table's entry from which the verdict comes; None where the table has none."""
        return self.table.verdict(self.name)

    @property
    def location(self) -> Location:
        """The caller's line; to be read while the call runs."""
        return caller()


def refuse_beyond_limits(call: OperatorCall) -> Any:
    """Return a call's result, or raise what MPS raises where the call reaches a limit of its kernel."""
    result = call.run()
    for limit in call.limits_reached(result):
        if limit.error is not None:
            raise limit.refusal()
    return result


# receives each call in place of its kernel, and returns the result, as a rule `call.run()`
CallHook = Callable[[OperatorCall], Any]
