"""What goes wrong with a Metal kernel: a fault with its line, or no compiler to build it with."""

from __future__ import annotations

from enum import Enum


class FaultKind(Enum):
    """What is wrong with a kernel, or with how it was called."""

    OUT_OF_BOUNDS = "out of bounds"
    RACE = "race"
    UNWRITTEN = "unwritten threadgroup memory"
    BARRIER = "barrier not reached by every thread"
    LANE = "value of an absent lane"
    DIVISION = "division"
    MEMORY = "too much threadgroup memory"
    STACK = "stack overflow"
    TIME = "time over"
    CRASH = "crash"
    ARGUMENT = "argument"


class MetalFault(RuntimeError):  # noqa: N818  (a fault of the kernel; what is raised on a Mac are other classes)
    """A kernel did what Metal does not define, or was called with arguments that it cannot read.

    A Mac says nothing in these cases: it computes something else, or the same on most days.

    Args:
        message: the sentence, with the line of the Metal source.
        kind: what is wrong.
        kernel: name of the kernel.
        line: line in the Metal source, from 1; None where no line is to blame.
    """

    def __init__(self, message: str, kind: FaultKind, kernel: str, line: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.kernel = kernel
        self.line = line


class MetalCompilerMissing(RuntimeError):  # noqa: N818  (the sentence names what is missing)
    """No compiler of this machine can build Metal kernels for the emulated device; the message says what to do."""
