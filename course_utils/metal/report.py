"""What the runtime reported, as a sentence with the line of the Metal source."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence

from course_utils.metal.build import BuiltKernel, BuiltProgram
from course_utils.metal.errors import FaultKind, MetalFault
from course_utils.metal.launch import Ended, FaultReport, RunLimits
from course_utils.metal.tokens import PROGRAM

# in the order of native/runtime.cpp
_NAMES = """none outside outside_everything race unwritten index division barrier_missed barriers_differ lane
    too_much_shared stack crash time deadlock value"""
_FAULTS = tuple(_NAMES.split())
_KINDS = {
    "outside": FaultKind.OUT_OF_BOUNDS,
    "outside_everything": FaultKind.OUT_OF_BOUNDS,
    "index": FaultKind.OUT_OF_BOUNDS,
    "race": FaultKind.RACE,
    "unwritten": FaultKind.UNWRITTEN,
    "division": FaultKind.DIVISION,
    "barrier_missed": FaultKind.BARRIER,
    "barriers_differ": FaultKind.BARRIER,
    "deadlock": FaultKind.BARRIER,
    "lane": FaultKind.LANE,
    "too_much_shared": FaultKind.MEMORY,
    "stack": FaultKind.STACK,
    "time": FaultKind.TIME,
    "crash": FaultKind.CRASH,
    "value": FaultKind.LANE,
}
_MOST_SHARED_BYTES = 32768
_STACK_KIB = 128


def fault_of(
    ended: Ended, program: BuiltProgram, kernel: BuiltKernel, threads: Sequence[int], limits: RunLimits
) -> MetalFault:
    """Return the fault that a run ended with.

    Args:
        ended: how it ended.
        program: the program.
        kernel: the kernel that ran.
        threads: threads of the grid.
        limits: how long it was allowed to take.
    """
    name = kernel.source.name
    report = ended.report
    if report is None:
        if ended.is_late:
            return MetalFault(f"{name}: ran longer than {limits.wall_s:g} s and was stopped", FaultKind.TIME, name)
        died = signal.Signals(ended.signal).name if ended.signal in signal.valid_signals() else "no report"
        return MetalFault(
            f"{name}: its process was ended by the system ({died}); a kernel may do nothing but read and write its "
            "buffers",
            FaultKind.CRASH,
            name,
        )
    fault = _FAULTS[report.fault] if report.fault < len(_FAULTS) else "crash"
    lines = _lines(report, program)
    line = lines[0] if lines else None
    sentence = _sentence(fault, report, program, kernel, limits)
    where = f"{name}, line {line}" if line else name
    calls = "".join(f", called from line {outer}" for outer in lines[1:] if outer != line)
    who = "" if fault in ("time", "too_much_shared") else f" (thread {_thread(report, threads)}{calls})"
    text = f"{where}: {sentence}{who}"
    source = program.text.splitlines()
    if line and line <= len(source):
        text += f"\n    {source[line - 1].strip()}"
    return MetalFault(text, _KINDS.get(fault, FaultKind.CRASH), name, line)


def _lines(report: FaultReport, program: BuiltProgram) -> list[int]:
    """Return the lines of the program that led to a report, innermost first."""
    found = []
    for address in report.frames[: min(report.n_frames, len(report.frames))]:
        place = program.lines.place(address - 1)
        if place is not None and place[0].rpartition("/")[2] == PROGRAM:
            found.append(place[1])
    if not found and report.fault == _FAULTS.index("too_much_shared"):
        found.append(int(report.b))
    return found


def _thread(report: FaultReport, threads: Sequence[int]) -> str:
    """Name a thread by its place in the grid and in its group, in as many dimensions as the grid has."""
    n = 3 if threads[2] > 1 else 2 if threads[1] > 1 else 1

    def place(values: Sequence[int]) -> str:
        return str(values[0]) if n == 1 else f"({', '.join(map(str, values[:n]))})"

    return f"{place(report.grid)} of the grid, {place(report.local)} of group {place(report.group)}"


def _name(report: FaultReport, kernel: BuiltKernel) -> str:
    """Name the place that was touched: a buffer by its parameter, threadgroup memory by its variable."""
    if report.is_shared:
        return f"threadgroup '{_text(report)}'"
    parameter = next((p for p in kernel.source.parameters if p.buffer == report.place), None)
    return f"'{parameter.name}'" if parameter else "a buffer"


def _text(report: FaultReport) -> str:
    """Return text that came from the kernel's process, as plain characters."""
    return "".join(c if c.isprintable() else "?" for c in bytes(report.text).decode("ascii", "replace"))


def _sentence(fault: str, report: FaultReport, program: BuiltProgram, kernel: BuiltKernel, limits: RunLimits) -> str:
    verb = "write" if report.is_write else "read"
    shared = f"threadgroup '{_text(report)}'"
    sentences: dict[str, Callable[[], str]] = {
        "outside": lambda: _outside(report, kernel, verb),
        "outside_everything": lambda: (
            f"out of bounds: {verb} of {report.a} bytes at an address that belongs to no buffer"
        ),
        "index": lambda: f"out of bounds: index {report.element} of an array {_text(report).strip(chr(39))}",
        "race": lambda: _race(report, kernel),
        "unwritten": lambda: (
            f"read of {shared}[{report.element}], which no thread of this group has written: threadgroup memory is not "
            "zeroed. Is a barrier missing before this line?"
        ),
        "division": lambda: f"division of an integer by {_signed(report.b)}, which Metal does not define",
        "barrier_missed": lambda: (
            f"threadgroup_barrier reached by {report.a} of the {report.b} threads of the group: thread {report.other} "
            "has returned without it, and every thread of a group has to reach every barrier"
        ),
        "barriers_differ": lambda: _barriers_differ(report, program),
        "lane": lambda: (
            f"a simdgroup function reads the value of lane {report.a}, which does not take part in this call"
        ),
        "too_much_shared": lambda: (
            f"threadgroup memory of {report.a} bytes with '{_text(report)}'; a group has at most {_MOST_SHARED_BYTES}"
        ),
        "stack": lambda: (
            f"a thread took more than {_STACK_KIB} KiB of stack: recursion without end, or local arrays too large"
        ),
        "time": lambda: f"ran longer than {limits.cpu_s:g} s: a loop that does not end? It was stopped here",
        "deadlock": lambda: "the threads of a group wait for each other and none can go on",
        "value": lambda: f"a simdgroup function takes values of up to 32 bytes, not of {report.a}",
    }
    touched = f"the kernel touched memory that it may not touch so (signal {report.a})"
    return sentences[fault]() if fault in sentences else touched


def _barriers_differ(report: FaultReport, program: BuiltProgram) -> str:
    place = program.lines.place(report.a - 1)
    there = f"in line {place[1]}" if place and place[1] else "elsewhere"
    return (
        f"threads of one group wait at different barriers: thread {report.index} here, thread {report.other} {there}; "
        "every thread of a group has to reach the same barrier"
    )


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _outside(report: FaultReport, kernel: BuiltKernel, verb: str) -> str:
    name = _name(report, kernel)
    text = f"out of bounds: {verb} of element {report.element} of {name}, which has {report.length} elements"
    if report.element >= 1 << 31:
        text += f"; an unsigned index below 0 wraps around: this one was {report.element - (1 << 32)}"
    return text


def _race(report: FaultReport, kernel: BuiltKernel) -> str:
    now = ("atomically changes" if report.is_atomic else "writes") if report.is_write else "reads"
    was = ("atomically set or changed it" if report.was_atomic else "wrote it") if report.was_write else "read it"
    where = f"{_name(report, kernel)}[{report.element}]"
    if report.other_group:
        return (
            f"data race on {where}: this thread {now} it and a thread of another group {was}; groups run in any order, "
            "so only atomic functions may meet in one place"
        )
    other = "several other threads" if report.other == -1 else f"thread {report.other}"
    this = f"thread {report.index} of the group {now} it after {other} {was}"
    return f"data race on {where}: {this}, with no barrier between"
