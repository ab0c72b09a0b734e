"""Compare a device's numbers with a higher-precision reference on the CPU.

from course_utils import compare_numerics
print(compare_numerics(torch.nn.functional.silu, (torch.randn(8, 16),), device="mps"))
"""

from course_utils.numerics.questions.layers import NonFiniteLayer, first_nonfinite_layer
from course_utils.numerics.reference.differences import OutputDifference, compare_outputs
from course_utils.numerics.report.findings import KINDS, NumericsFinding
from course_utils.numerics.report.numerics_report import NumericsCase, NumericsReport
from course_utils.numerics.run import compare_numerics
from course_utils.numerics.running.faulty import FAULTS, FaultyDevice, UnlabelledDevice
from course_utils.numerics.running.runners import DeviceRunner, TorchDevice
from course_utils.numerics.tensors.inputs import draw
from course_utils.numerics.tensors.layouts import lay_out

__all__ = [
    "FAULTS",
    "KINDS",
    "DeviceRunner",
    "FaultyDevice",
    "NonFiniteLayer",
    "NumericsCase",
    "NumericsFinding",
    "NumericsReport",
    "OutputDifference",
    "TorchDevice",
    "UnlabelledDevice",
    "compare_numerics",
    "compare_outputs",
    "draw",
    "first_nonfinite_layer",
    "lay_out",
]
