"""What `torch.mps.compile_shader` returns on the emulated device: a library of kernels that Python can call."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from course_utils.metal.arguments import MemoryOf, check_sizes, read_arguments, read_sizes
from course_utils.metal.build import BuiltKernel, BuiltProgram, build
from course_utils.metal.errors import FaultKind, MetalFault
from course_utils.metal.fit import check_arguments
from course_utils.metal.launch import RunLimits, run_kernel
from course_utils.metal.report import fault_of

# hears of each kernel that ran
OnLaunch = Callable[[str], None]

_build = lru_cache(maxsize=64)(build)


def _unheard(_: str) -> None:
    """Ignore that a kernel ran."""


class MetalKernel:
    """One kernel; `kernel(*args, threads=, group_size=)` runs it.

    Args:
        program: the program that holds it.
        kernel: which of its kernels.
        memory_of: finds the CPU memory of a tensor of the device.
        limits: how long one call may take.
        on_launch: hears of each call.
    """

    thread_execution_width = 32
    static_thread_group_memory_length = 0

    def __init__(
        self, program: BuiltProgram, kernel: BuiltKernel, memory_of: MemoryOf, limits: RunLimits, on_launch: OnLaunch
    ) -> None:
        self._program = program
        self._kernel = kernel
        self._memory_of = memory_of
        self._limits = limits
        self._on_launch = on_launch

    @property
    def max_threads_per_threadgroup(self) -> int:
        """The most threads that a group may have: 1024, or what the kernel's attribute says; less on some Macs."""
        return self._kernel.source.max_threads

    def __call__(
        self,
        *args: Any,
        threads: Any = None,
        group_size: Any = None,
        arg_casts: Any = None,
        error_buf_idx: Any = None,
    ) -> None:
        """Run the kernel once for each thread of a grid.

        Args:
            args: tensors of the device, numbers and lists of numbers; argument i is `[[buffer(i)]]`.
            threads: how many threads, one to three numbers; without it, the first tensor's number of elements.
            group_size: how many of them form a group, as many numbers.
            arg_casts: as which type numbers are sent, a word for all or for some by index.
            error_buf_idx: torch's own error buffer, which is not emulated.

        Raises:
            RuntimeError: with torch's text, for arguments that torch refuses.
            ValueError: for a group with too many threads.
            MetalFault: for what Metal does not define, with the line.
            NotImplementedError: for `error_buf_idx`.
        """
        with torch._C.DisableTorchFunction():  # looking at arguments is no operator
            self._run(args, threads, group_size, arg_casts, error_buf_idx)

    def _run(self, args: tuple[Any, ...], threads: Any, group_size: Any, arg_casts: Any, error_buf_idx: Any) -> None:
        name = self._kernel.source.name
        if error_buf_idx is not None:
            raise NotImplementedError("the emulated MPS device has no error buffer (error_buf_idx)")
        arguments = read_arguments(args, arg_casts, self._memory_of)
        grid, group = check_sizes(read_sizes(threads), read_sizes(group_size), args, self.max_threads_per_threadgroup)
        check_arguments(self._kernel, arguments, args)
        self._on_launch(name)
        if 0 in grid:
            return
        if 0 in group:
            raise MetalFault(f"{name}: a group of 0 threads: group_size={group_size}", FaultKind.ARGUMENT, name)
        ended = run_kernel(self._program, self._kernel, arguments, grid, group, limits=self._limits)
        if ended.report is not None or ended.signal or ended.is_late:
            raise fault_of(ended, self._program, self._kernel, grid, self._limits)

    def __repr__(self) -> str:
        return f"<Metal kernel {self._kernel.source.name} of the emulated MPS device>"


class ShaderLibrary:
    """The kernels of one source, as attributes.

    Args:
        program: the program that holds them.
        memory_of: finds the CPU memory of a tensor of the device.
        limits: how long one call may take.
        on_launch: hears of each call.
    """

    def __init__(self, program: BuiltProgram, memory_of: MemoryOf, limits: RunLimits, on_launch: OnLaunch) -> None:
        self._program = program
        self._memory_of = memory_of
        self._limits = limits
        self._on_launch = on_launch

    def __getattr__(self, name: str) -> MetalKernel:
        kernels = self._program.kernels
        if name.startswith("__") and name not in kernels:
            raise AttributeError(name)  # asked by Python itself, not for a kernel
        if name not in kernels:
            # a RuntimeError on a Mac, too, so that hasattr() raises there and here
            raise RuntimeError(f"Failed to create function state object for: {name}")
        return MetalKernel(self._program, kernels[name], self._memory_of, self._limits, self._on_launch)

    def __dir__(self) -> list[str]:
        return list(self._program.kernels)

    def __repr__(self) -> str:
        return f"<Metal library of the emulated MPS device: {', '.join(self._program.kernels)}>"


def compile_source(
    source: Any, memory_of: MemoryOf, limits: RunLimits | None = None, on_launch: OnLaunch = _unheard
) -> ShaderLibrary:
    """Compile a Metal source; the same text is compiled once in a process.

    Args:
        source: the text.
        memory_of: finds the CPU memory of a tensor of the device; None for a tensor that is not on the device.
        limits: how long one call of a kernel may take.
        on_launch: hears of each kernel that runs.

    Raises:
        TypeError: for anything but text.
        SyntaxError: with `program_source:LINE:COLUMN: error: ...`, as on a Mac.
        MetalCompilerMissing: where this machine has no compiler.
    """
    if not isinstance(source, str):
        raise TypeError(f"compile_shader takes the Metal source as text, not {type(source).__name__}")
    return ShaderLibrary(_build(source), memory_of, limits or RunLimits(), on_launch)
