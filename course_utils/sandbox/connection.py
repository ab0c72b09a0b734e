"""The checks' end of the connection to one student's process: asks, waits under a clock, and trusts nothing.

While it waits it drains what the student's code prints, counts it, and reads the memory of the process from outside.
Whatever goes over a limit ends the process and is raised as `StudentGone` with its reason.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from course_utils.sandbox.frames import Frame, FrameError, FrameReader, TooLongError
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import Usage, folder_bytes, read_marked_usage, read_usage
from course_utils.sandbox.reason import Ending

FORGED = "your code wrote into the connection between it and the checks"
WATCH_EVERY_S = 0.02
# processes are found by their mark among all of the machine at each look
MARKED_USAGE_EVERY_S = 0.25
# a process that has closed its socket is about to end, or pretends to
END_PATIENCE_S = 1.0
KILL_PATIENCE_S = 60.0
CHUNK_BYTES = 2**16
LONGEST_REPORT, MOST_REPORTS = 200, 5
SO_PASSCRED = 16  # <asm-generic/socket.h>; Python 3.11 has no name for it
CREDENTIALS = struct.Struct("3i")
# what a fault in compiled code ends in
FAULTS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE})


def ask_for_sender(channel: socket.socket) -> None:
    """Have the kernel say who sends what comes next; has to be set before it is sent."""
    if sys.platform.startswith("linux"):
        channel.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 1)


class StudentGone(BaseException):  # no error of a check: nothing in a check cell may catch it
    """The student's process ended or was ended.

    Args:
        ending: why.
        message: one sentence for the student.
    """

    def __init__(self, ending: Ending, message: str) -> None:
        super().__init__(message)
        self.ending = ending
        self.message = message


@dataclass(frozen=True)
class Lines:
    """The checks' ends of what leads to a student's process.

    Args:
        channel: the socket for questions and answers.
        output_fd: the reading end of what it prints.
        report_fd: the reading end of what is reported of code that looks into what measures it.
    """

    channel: socket.socket
    output_fd: int
    report_fd: int


class Connection:
    """One student's process, seen from the checks.

    Args:
        lines: the ends of what leads to it.
        limits: what it may take.
        wait_for_end: waits until the process has ended, at most so many seconds, and returns its status as
            `os.waitpid` gives it; raises TimeoutError.
        folders: the submission's folders in memory, by their paths in its process; what lies in them counts.
        mark: what all processes of the submission have in their environment, where they have no process list of their
            own.
        disk_folder: the submission's folder on the disk, where it has one.
    """

    def __init__(
        self,
        lines: Lines,
        limits: Limits,
        wait_for_end: Callable[[float], int | None],
        folders: Sequence[str] = (),
        *,
        mark: str = "",
        disk_folder: str = "",
    ) -> None:
        self.channel = channel = lines.channel
        self.output_fd = output_fd = lines.output_fd
        self.report_fd = lines.report_fd
        self.limits = limits
        self.wait_for_end = wait_for_end
        self.folders = tuple(folders)
        self.mark = mark
        self.disk_folder = disk_folder
        self.frames = FrameReader(limits.value_bytes, limits.text_bytes)
        self.deadline = time.monotonic() + limits.task_s
        self.process: int | None = None
        self.baseline_bytes = 0
        self.ended = False
        self._next_watch = self._next_usage = 0.0
        self._printed = bytearray()
        self._printed_bytes = 0
        self._keeps = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(output_fd, selectors.EVENT_READ)
        os.set_blocking(output_fd, False)
        os.set_blocking(lines.report_fd, False)

    def wait_until_ready(self) -> None:
        """Wait until the process is shut in and says so; learn its process id from the kernel.

        Raises:
            StudentGone: with `Ending.NOT_STARTED` when it does not come up.
        """
        try:
            self._receive(learn=True)
        except StudentGone as gone:
            text = self.take_printed().strip().splitlines()[-1:]
            raise StudentGone(Ending.NOT_STARTED, "".join(text) or gone.message) from None
        if self.process is not None:
            self.watch(self.process)

    def watch(self, process: int) -> None:
        """Watch a process from now on; what it has by now, libraries among it, is not the student's."""
        self.process = process
        self.baseline_bytes = self._read_usage(process).memory_bytes

    def _read_usage(self, process: int) -> Usage:
        if self.mark:
            return read_marked_usage(process, self.mark)
        return read_usage(process, self.folders)

    def start_clock(self, seconds: float) -> None:
        """Allow this much wall time from now on, and count what is printed anew."""
        self.deadline = time.monotonic() + seconds
        self.keep_output(True)
        self._printed.clear()
        self._printed_bytes = 0

    def ask(self, content: dict[str, Any], blobs: list[bytes]) -> Frame:
        """Send a question and wait for its answer, or for a call back.

        Raises:
            StudentGone: when the process ends, or goes over a limit.
        """
        if self.ended:
            raise StudentGone(Ending.CRASHED, "the process of your code had ended before")
        # a process that calls back without end never keeps us waiting
        if time.monotonic() > self._next_watch:
            self._watch()
        mark = secrets.token_hex(8)
        self._send(Frame(content | {"ask": mark}, blobs).to_bytes())
        answer = self._receive()
        if answer.content.get("ask") != mark:
            self._end()
            raise StudentGone(Ending.FORGED, FORGED)
        return answer

    def take_printed(self) -> str:
        """Return the end of what was printed since the clock was started."""
        self._drain()
        text = self._printed.decode("utf-8", "replace")
        return f"... (cut)\n{text}" if len(self._printed) == self.limits.kept_output_bytes else text

    def keep_output(self, keep: bool) -> None:
        """Keep what is printed from now on, or only count it: what hidden checks make it print is not shown."""
        self._drain()
        self._keeps = keep

    def take_reports(self) -> tuple[str, ...]:
        """Return what was reported of code that looked into what measures it, one sentence each."""
        try:
            data = os.read(self.report_fd, CHUNK_BYTES)
        except BlockingIOError:
            return ()
        if not data:
            return ("the report of what your code looks at was closed",)
        lines = data.decode("utf-8", "replace").splitlines()
        return tuple(dict.fromkeys(line[:LONGEST_REPORT] for line in lines))[:MOST_REPORTS]

    def close(self) -> None:
        """End the process and everything that it started, and wait until all are gone."""
        self._end()
        for closing in (
            self._selector.close,
            self.channel.close,
            lambda: os.close(self.output_fd),
            self._close_reports,
        ):
            with suppress(OSError):
                closing()

    def _close_reports(self) -> None:
        report_fd, self.report_fd = self.report_fd, -1
        if report_fd >= 0:
            os.close(report_fd)

    def _send(self, data: bytes) -> None:
        self.channel.setblocking(False)
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self.channel.send(rest) :]
            except BlockingIOError:
                # a process that does not read its questions runs into its time like any other
                self._watch()
                time.sleep(0.001)
            except OSError:
                self._gone()

    def _receive(self, *, learn: bool = False) -> Frame:
        while True:
            try:
                frame = self.frames.feed(b"")
            except FrameError as error:
                self._stop_for(error)
            if frame is not None:
                return frame
            ready = {key.fd for key, _ in self._selector.select(WATCH_EVERY_S)}
            if self.output_fd in ready:
                self._drain()
            if self.channel.fileno() in ready:
                try:
                    data = self._read_channel(learn=learn)
                except OSError:
                    data = b""
                if not data:
                    self._gone()
                try:
                    frame = self.frames.feed(data)
                except FrameError as error:
                    self._stop_for(error)
                if frame is not None:
                    return frame
            self._watch()

    def _read_channel(self, *, learn: bool) -> bytes:
        if not learn or not sys.platform.startswith("linux"):
            return self.channel.recv(CHUNK_BYTES)
        # the kernel, not the process, says who sent this; its number is the one that holds here
        data, ancillary, _, _ = self.channel.recvmsg(CHUNK_BYTES, socket.CMSG_SPACE(CREDENTIALS.size))
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                self.process = CREDENTIALS.unpack(content[: CREDENTIALS.size])[0] or None
        self.channel.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 0)
        return data

    def _drain(self) -> None:
        with suppress(OSError):
            while data := os.read(self.output_fd, CHUNK_BYTES):
                self._printed_bytes += len(data)
                self._printed += data if self._keeps else b""
                del self._printed[: -self.limits.kept_output_bytes]
                if self._printed_bytes > 2 * self.limits.output_bytes:
                    return  # a flood is not read to its end
            # nobody holds the writing end any more
            with suppress(KeyError, ValueError):
                self._selector.unregister(self.output_fd)

    def _watch(self) -> None:
        """Compare what the process takes with its limits.

        Raises:
            StudentGone: when it takes more.
        """
        self._next_watch = time.monotonic() + WATCH_EVERY_S
        if self._printed_bytes > self.limits.output_bytes:
            self._end()
            raise StudentGone(Ending.OUTPUT, f"your code printed more than {self.limits.output_bytes:,} bytes")
        late = time.monotonic() > self.deadline
        # what was too much before the time was over is why it ended, however busy the machine is
        if self.process is not None and (late or time.monotonic() >= self._next_usage):
            self._compare_usage(self.process)
        if late:
            self._end()
            raise StudentGone(Ending.TIMEOUT, f"your code was not done within {self.limits.task_s:g} s")

    def _compare_usage(self, process: int) -> None:
        """Compare memory, files and processes with their limits.

        Raises:
            StudentGone: when it takes more.
        """
        self._next_usage = time.monotonic() + (MARKED_USAGE_EVERY_S if self.mark else WATCH_EVERY_S)
        usage = self._read_usage(process)
        # processes that the code starts share the template's memory until they write to it
        allowed = self.limits.memory_bytes + self.baseline_bytes * max(1, len(usage.processes))
        if usage.memory_bytes > allowed:
            self._end()
            gigabytes = self.limits.memory_bytes / 1024**3
            raise StudentGone(Ending.MEMORY, f"your code took more than {gigabytes:.3g} GiB of memory")
        if self.disk_folder and folder_bytes(self.disk_folder) > self.limits.file_bytes:
            self._end()
            raise StudentGone(Ending.OUTPUT, f"your code wrote more than {self.limits.file_bytes:,} bytes into files")
        if len(usage.processes) > self.limits.processes:
            self._end()
            raise StudentGone(Ending.CRASHED, f"your code started more than {self.limits.processes} processes")

    def _stop_for(self, error: FrameError) -> None:
        self._end()
        if isinstance(error, TooLongError):
            raise StudentGone(Ending.OUTPUT, f"your code returned {error}")
        raise StudentGone(Ending.FORGED, FORGED)

    def _gone(self) -> None:
        self._drain()
        status = self._end(kill=False)
        raise StudentGone(*explain_end(status))

    def _end(self, *, kill: bool = True) -> int | None:
        if self.ended:
            return None
        self.ended = True
        usage = self._read_usage(self.process) if self.process is not None else Usage((), 0)
        try:
            status = None if kill else self.wait_for_end(END_PATIENCE_S)
        except TimeoutError:
            kill, status = True, None
        if kill:
            self.channel.close()
            if self.process is not None:
                _kill(self.process)
            with suppress(TimeoutError):
                status = self.wait_for_end(KILL_PATIENCE_S)
        # without a process list of its own, what a submission started outlives it
        for process in usage.processes[1:]:
            _kill(process)
        return status


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def explain_end(status: int | None) -> tuple[Ending, str]:
    """Return how a process ended.

    Args:
        status: as `os.waitpid` gives it, or None when that is not known.

    Returns:
        The ending and one sentence for the student.
    """
    if status is None:
        return Ending.CRASHED, "the process of your code ended"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return Ending.TIMEOUT, "your code used up its processor time"
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        ending = Ending.FAULT if number in FAULTS else Ending.CRASHED
        return ending, f"the process of your code was ended by signal {name}"
    return Ending.CRASHED, f"your code ended its own process (exit status {os.waitstatus_to_exitcode(status)})"
