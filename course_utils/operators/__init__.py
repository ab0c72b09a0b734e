"""Which aten operators have an MPS kernel, in the installed torch and in every release since 2.0.

    from course_utils.operators import operator_table
    print(operator_table().verdict("aten::linalg_eig"))

Nothing here imports torch, except on a Mac, where its dispatcher is asked too.
"""

from course_utils.operators.hand_registered import torchvision_kernels
from course_utils.operators.history import History, first_native, history
from course_utils.operators.rules import STATUSES, Status
from course_utils.operators.table import OperatorTable, OperatorVerdict, operator_table

__all__ = [
    "STATUSES",
    "History",
    "OperatorTable",
    "OperatorVerdict",
    "Status",
    "first_native",
    "history",
    "operator_table",
    "torchvision_kernels",
]
