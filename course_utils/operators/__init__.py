"""Which aten operators have an MPS kernel, in the installed torch and in every release since 2.0.

    from course_utils.operators import operator_table
    print(operator_table().verdict("aten::linalg_eig"))

Nothing here imports torch, except on a Mac, where its dispatcher is asked too, and for `audit`, which loads on first
use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from course_utils.operators.hand_registered import torchvision_kernels
from course_utils.operators.history import History, first_native, history
from course_utils.operators.rules import STATUSES, Status
from course_utils.operators.table import OperatorTable, Verdict, operator_table

__all__ = [
    "STATUSES",
    "History",
    "OperatorTable",
    "Status",
    "Verdict",
    "audit",
    "first_native",
    "history",
    "operator_table",
    "torchvision_kernels",
]

if TYPE_CHECKING:
    from course_utils.auditing import audit


def __getattr__(name: str) -> Any:
    """Load the audit, which stands above this package and imports torch, on first use (PEP 562)."""
    if name == "audit":
        from course_utils.auditing import audit

        return audit
    raise AttributeError(
        f"module 'course_utils.operators' has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
    )
