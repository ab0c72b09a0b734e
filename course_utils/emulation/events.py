"""The event that the emulated device emits for each call of an operator, and the hook that receives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from course_utils.emulation.kernels import KernelTable
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
        kernel: what computes it.
        args: positional arguments.
        kwargs: arguments by name.
    """

    operator: Any
    name: str
    verdict: CallVerdict
    table: KernelTable
    kernel: Kernel
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> Any:
        """Return the kernel's result; raises what MPS would raise."""
        return self.kernel(*self.args, **self.kwargs)

    @property
    def rule(self) -> OperatorVerdict | None:
        """The operator table's entry from which the verdict comes; None where the table has none."""
        return self.table.verdict(self.name)

    @property
    def location(self) -> Location:
        """The caller's line; to be read while the call runs."""
        return caller()


# receives each call in place of its kernel, and returns the result, as a rule `call.run()`
CallHook = Callable[[OperatorCall], Any]
