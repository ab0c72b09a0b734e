"""Compare a device's numbers with a higher-precision reference on the CPU.

from course_utils import compare_numerics
print(compare_numerics(torch.nn.functional.silu, (torch.randn(8, 16),), device="mps"))
"""

from course_utils.numerics.compare import Difference, compare_outputs
from course_utils.numerics.faulty import FAULTS, FaultyDevice
from course_utils.numerics.findings import KINDS, Finding
from course_utils.numerics.inputs import draw, lay_out
from course_utils.numerics.layers import NonFiniteLayer, first_nonfinite_layer
from course_utils.numerics.report import Case, NumericsReport
from course_utils.numerics.run import compare_numerics
from course_utils.numerics.runners import Runner, TorchDevice
from course_utils.numerics.tolerance import Tolerance

__all__ = [
    "FAULTS",
    "KINDS",
    "Case",
    "Difference",
    "FaultyDevice",
    "Finding",
    "NonFiniteLayer",
    "NumericsReport",
    "Runner",
    "Tolerance",
    "TorchDevice",
    "compare_numerics",
    "compare_outputs",
    "draw",
    "first_nonfinite_layer",
    "lay_out",
]
