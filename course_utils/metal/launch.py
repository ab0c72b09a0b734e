"""Run a built kernel once, in a process of its own that has nothing but the call's buffers."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from course_utils.metal.arguments import Argument
from course_utils.metal.build import BuiltKernel, BuiltProgram

_MOST = 64
_FRAMES = 24
_PAGE = 4096
_U32, _U64, _I64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_LARGEST_GAP, _SMALLEST_GAP = 4 * 1024**3, 1024**2
_MOST_CHECKED_BYTES = 64 * 1024**2  # of one storage: a check takes about six times as much
_START_FAILED = range(40, 60)


# the same as in native/runtime.cpp
class _Storage(ctypes.Structure):
    _fields_ = (
        *((name, _U64) for name in ("file_offset", "n_bytes")),
        *((name, _U32) for name in ("granule", "is_written", "checks_races", "reserved")),
    )


class _View(ctypes.Structure):
    _fields_ = (("offset", _U64), ("n_bytes", _U64), ("storage", _U32), ("scalar_bytes", _U32))


class FaultReport(ctypes.Structure):
    """What the runtime writes when it stops; every number in it is checked before it is used."""

    _fields_ = (
        *((name, _U32) for name in ("fault", "n_frames")),
        ("frames", _U64 * _FRAMES),
        *((name, _U32 * 3) for name in ("grid", "local", "group")),
        ("index", _U32),
        *((name, _U32) for name in ("is_write", "was_write", "is_atomic", "was_atomic", "other_group", "is_shared")),
        *((name, _U32) for name in ("place", "scalar_bytes")),
        *((name, _I64) for name in ("element", "length", "other")),
        *((name, _U64) for name in ("a", "b")),
        ("text", ctypes.c_char * 64),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        *((name, _U32) for name in ("kernel", "n_storages", "n_views", "n_arguments")),
        *((name, _U32 * 3) for name in ("threads", "group")),
        ("gap_bytes", _U64),
        ("cpu_us", _U64),
        ("storages", _Storage * _MOST),
        ("views", _View * _MOST),
        ("report", FaultReport),
    )


@dataclass(frozen=True)
class RunLimits:
    """How long one call of a kernel may take.

    Args:
        cpu_s: processor time, seconds.
        wall_s: wall time, seconds; more than processor time, since a machine has other work too.
    """

    cpu_s: float = 20.0
    wall_s: float = 120.0


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Args:
        report: what the runtime wrote; None when the kernel ran to its end.
        signal: the signal that ended the process without a report, 0 for none.
        is_late: whether it was stopped for its wall time.
    """

    report: FaultReport | None
    signal: int = 0
    is_late: bool = False


@dataclass(frozen=True)
class _Placed:
    """Where one storage lies in the shared file."""

    offset: int
    n_bytes: int
    memory: torch.Tensor | None
    is_written: bool


def run_kernel(
    program: BuiltProgram,
    kernel: BuiltKernel,
    arguments: Sequence[Argument],
    threads: tuple[int, int, int],
    group: tuple[int, int, int],
    *,
    limits: RunLimits,
) -> Ended:
    """Run a kernel over its grid; what it wrote is in the tensors afterwards, unless it stopped with a fault.

    Args:
        program: the program.
        kernel: one of its kernels.
        arguments: what it gets, checked.
        threads: threads of the grid.
        group: threads of a group.
        limits: how long it may take.

    Raises:
        RuntimeError: when its process cannot start here.
    """
    launch = _Launch(kernel=kernel.number, n_arguments=len(arguments), n_views=len(arguments))
    launch.threads[:], launch.group[:] = threads, group
    launch.cpu_us = int(limits.cpu_s * 1e6)
    placed, size = _lay_out(launch, kernel, arguments)
    launch.gap_bytes = _gap(sum(storage.n_bytes for storage in placed), len(placed))
    # an unlinked file and not a memfd: the grader's sandbox bounds the size of files, and refuses what it cannot count
    with tempfile.TemporaryFile(prefix="course-metal-") as opened:
        file = opened.fileno()
        os.ftruncate(file, size)
        with mmap.mmap(file, size) as shared:
            _fill(shared, launch, placed, arguments)
            ended = _run(program, file, limits)
            if ended == 0:
                _copy_back(shared, placed)
                return Ended(None)
            if ended == 1:
                return Ended(FaultReport.from_buffer_copy(shared, _Launch.report.offset))
    if ended is None:
        return Ended(None, is_late=True)
    if ended in _START_FAILED:
        raise RuntimeError(
            f"the process for the Metal kernel '{kernel.source.name}' could not shut itself in (step {ended} of "
            "native/runtime.cpp): this system does not let it. The course does not run it without"
        )
    return Ended(None, signal=-ended if ended < 0 else 0)


def _lay_out(launch: _Launch, kernel: BuiltKernel, arguments: Sequence[Argument]) -> tuple[list[_Placed], int]:
    """Give each storage its place in the file; arguments that share one share it there."""
    declared = {
        parameter.buffer: (parameter, kind)
        for parameter, kind in zip(kernel.source.parameters, kernel.types, strict=True)
        if parameter.buffer is not None
    }
    placed: list[_Placed] = []
    numbers: dict[int, int] = {}
    at = (ctypes.sizeof(_Launch) + _PAGE - 1) // _PAGE * _PAGE
    for i, argument in enumerate(arguments):
        parameter, kind = declared[i]
        scalar = kind.scalar_bytes if kind.kind != "s" else argument.scalar_bytes
        written = not kind.is_const
        view = launch.views[i]
        view.scalar_bytes = scalar
        memory = argument.tensor
        n_bytes = len(argument.content) if memory is None else memory.untyped_storage().nbytes()
        if memory is None:
            # a reference is read whole: three numbers for a vector of three take the room of four
            n_bytes += -n_bytes % 16 if not parameter.is_pointer else 0
            view.n_bytes = n_bytes
        else:
            view.offset = memory.storage_offset() * memory.element_size()
            view.n_bytes = _span(memory)
        key = -i - 1 if memory is None else memory.untyped_storage()._cdata
        if key not in numbers:
            numbers[key] = len(placed)
            launch.storages[len(placed)].granule = 8
            placed.append(_Placed(at, n_bytes, memory, written))
            at += (n_bytes + _PAGE - 1) // _PAGE * _PAGE
        number = numbers[key]
        view.storage = number
        storage = launch.storages[number]
        storage.file_offset, storage.n_bytes = placed[number].offset, n_bytes
        granule = min(size for size in (scalar, argument.scalar_bytes, 8) if size)
        storage.granule = min(storage.granule, granule if granule in (1, 2, 4, 8) else 1)
        if written:
            storage.is_written = 1
            storage.checks_races = n_bytes <= _MOST_CHECKED_BYTES
            placed[number] = _Placed(placed[number].offset, n_bytes, memory, is_written=True)
    launch.n_storages = len(placed)
    return placed, at


def _span(memory: torch.Tensor) -> int:
    """Return the bytes from a view's first to its last element."""
    if not memory.numel():
        return 0
    last = sum((n - 1) * stride for n, stride in zip(memory.shape, memory.stride(), strict=True))
    return (last + 1) * memory.element_size()


def _gap(total: int, n: int) -> int:
    """Return how far apart buffers may stand: far, but within a limit on address space, which graders set."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return _LARGEST_GAP
    left = (limit - 1024**3 - 8 * total) // (n + 1)
    return max(_SMALLEST_GAP, min(_LARGEST_GAP, left // 2 // _PAGE * _PAGE))


def _fill(shared: mmap.mmap, launch: _Launch, placed: Sequence[_Placed], arguments: Sequence[Argument]) -> None:
    shared[: ctypes.sizeof(launch)] = bytes(launch)
    contents = iter([argument.content for argument in arguments if argument.tensor is None])
    for storage in placed:
        if storage.memory is None:
            content = next(contents)
            shared[storage.offset : storage.offset + len(content)] = content
        elif storage.n_bytes:
            shared[storage.offset : storage.offset + storage.n_bytes] = _bytes_of(storage.memory)


def _bytes_of(memory: torch.Tensor) -> memoryview:
    view: Any = torch.empty(0, dtype=torch.uint8).set_(memory.untyped_storage()).numpy()
    return memoryview(view)


def _copy_back(shared: mmap.mmap, placed: Sequence[_Placed]) -> None:
    """Bring back what the kernel may have written; what it only reads has not changed."""
    for storage in placed:
        if storage.memory is not None and storage.is_written and storage.n_bytes:
            target = _bytes_of(storage.memory)
            target[:] = shared[storage.offset : storage.offset + storage.n_bytes]


def _run(program: BuiltProgram, file: int, limits: RunLimits) -> int | None:
    """Start the process and return its exit code, below 0 for a signal; None when it took too long."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [str(program.path), str(file), "kernel"],
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        pass_fds=(file,),
        env={},
        cwd="/",
    ) as process:
        try:
            return process.wait(limits.wall_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
