"""Metal kernels without a Mac: built by the system's C++ compiler, run thread by thread in a shut-in process, checked.

Out-of-bounds accesses, races, missing barriers and reads of unwritten threadgroup memory get a sentence with the line,
which a Mac does not do. Nothing here gives a time. `torch.mps.compile_shader` of the emulated device leads here.
"""

from course_utils.metal.errors import FaultKind, MetalCompilerMissing, MetalFault
from course_utils.metal.launch import RunLimits
from course_utils.metal.library import MetalKernel, ShaderLibrary, compile_source

__all__ = [
    "FaultKind",
    "MetalCompilerMissing",
    "MetalFault",
    "MetalKernel",
    "RunLimits",
    "ShaderLibrary",
    "compile_source",
]
