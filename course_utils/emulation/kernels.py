"""Which operators have an MPS kernel, as the emulated device needs to know it: one function, `mps_kernels`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from course_utils.operators.hand_registered import hand_registered, torchvision_kernels
from course_utils.operators.libraries import library_verdict
from course_utils.operators.table import OperatorTable, OperatorVerdict, operator_table


def _library_kernels(torch_release: str) -> frozenset[str]:
    """Return the operators outside aten with an MPS kernel, for the torchvision that belongs to a torch."""
    found = {name: library_verdict(name, torch_release) for name in torchvision_kernels()}
    return frozenset(name for name, verdict in found.items() if verdict is not None and verdict.status == "native")


@dataclass(frozen=True)
class KernelTable:
    """The operators that a torch release runs on MPS.

    Args:
        torch_version: the release, such as "2.14.1".
        native: overloads of aten with an MPS kernel, such as "add.Tensor" or "linear".
        cpu_always: overloads of aten that run on the CPU with a warning, whatever the fallback variable says.
        other_native: qualified names outside aten with an MPS kernel, such as "torchvision::nms"; none by default.
        operators: the operator table from which this was taken, None for a table made by hand.
    """

    torch_version: str
    native: frozenset[str]
    cpu_always: frozenset[str]
    other_native: frozenset[str] = frozenset()
    operators: OperatorTable | None = None

    def verdict(self, name: str) -> OperatorVerdict | None:
        """Look up an operator once; None where this release lacks it, and for libraries that were not looked at.

        Args:
            name: qualified, such as "aten::linalg_eig".
        """
        if name not in self._verdicts:
            self._verdicts[name] = self._look_up(name)
        return self._verdicts[name]

    def _look_up(self, name: str) -> OperatorVerdict | None:
        try:
            if not name.startswith("aten::"):
                return library_verdict(name, self.torch_version)
            return None if self.operators is None else self.operators.verdict(name)
        except LookupError:
            return None

    @cached_property
    def _verdicts(self) -> dict[str, OperatorVerdict | None]:
        return {}


def mps_kernels(release: str | None = None) -> KernelTable:
    """Return the kernels of a torch release, as `operators.operator_table` knows them.

    Args:
        release: such as "2.9.1"; by default the installed torch.

    Raises:
        LookupError: when the history does not hold the release; the message lists those that it holds.
    """
    return kernels_of(operator_table(release))


@cache
def kernels_of(table: OperatorTable) -> KernelTable:
    """Return the kernels that an operator table promises."""

    def bare(names: frozenset[str]) -> frozenset[str]:
        return frozenset(name.removeprefix("aten::") for name in names)

    return KernelTable(
        torch_version=table.torch_release,
        # what Python registers for MPS is a kernel to the dispatcher, whatever it is made of
        native=bare(table.native) | hand_registered(table.torch_release).python_registration,
        cpu_always=bare(table.with_status("cpu_always")),
        other_native=_library_kernels(table.torch_release),
        operators=table,
    )
