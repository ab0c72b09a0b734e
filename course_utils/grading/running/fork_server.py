"""Start workers as forks of one process that has rehearsed the exercise once (Linux).

The fork server grades the model solution; each fork of it is a worker that is ready at once. torch has one thread
there, so nothing is lost in a fork. A Mac spawns its workers instead: a process that has used Metal must not fork.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from course_utils.grading.course import Course
from course_utils.grading.running.forking import LONGEST_MESSAGE, Serve
from course_utils.grading.running.prepared import Prepared, ShutIn, Spawned


class ForkServer:
    """Starts workers as forks of one prepared process.

    Args:
        factory: the grader's class, as "module:Class".
        serve: what a worker does with its pipe and its grader.
        course: what the grader is prepared for.
        inside: whether it is in the sandbox itself.

    Raises:
        SandboxError: when it is to be, and cannot.
    """

    def __init__(self, factory: str, serve: Serve, course: Course, *, inside: bool) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        start = ShutIn if inside else Spawned
        with theirs:
            self.process: Prepared = start(theirs, factory, serve, course)
        self.pids: dict[int, int] = {}
        self.statuses: dict[int, int] = {}
        self.ended = False
        self._started = 0

    def start(self, pipe: Connection, processor: int | None = None) -> ForkedWorker:
        """Ask for a worker at the other end of a pipe; return before it is there.

        Args:
            pipe: the pipe.
            processor: the one processor that the worker and its submissions run on; any when None.
        """
        self._started += 1
        request = {"fork": self._started, "processors": [] if processor is None else [processor]}
        with suppress(OSError):  # it has ended; that is seen at the pipe
            socket.send_fds(self.control, [json.dumps(request).encode()], [pipe.fileno()])
        return ForkedWorker(self, self._started)

    def signal(self, number: int, what: int) -> None:
        """Send a signal to one of its workers."""
        if self.process.same_ids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pids[number], what)
        else:
            with suppress(OSError):
                self.control.send(json.dumps({"signal": what, "to": number}).encode())

    def is_alive(self, number: int) -> bool:
        """Return whether a worker has not ended, as far as that is known."""
        self.listen(0.0)
        if number in self.statuses or number not in self.pids:
            return False
        return not self.ended or (self.process.same_ids and _exists(self.pids[number]))

    def listen(self, timeout_s: float) -> None:
        """Take what the server says about its forks, and wait at most so long for it."""
        while not self.ended and select.select([self.control], [], [], timeout_s)[0]:
            timeout_s = 0.0
            try:
                data = self.control.recv(LONGEST_MESSAGE)
            except OSError:
                data = b""
            if not data:
                self.ended = True
                return
            said = json.loads(data)
            if "pid" in said:
                self.pids[said["fork"]] = said["pid"]
            else:
                self.statuses[said["fork"]] = said["status"]

    def close(self, timeout_s: float = 0.0) -> None:
        """Let the server end, and with it the template; end it after that time."""
        self.ended = True
        self.process.end(self.control, timeout_s)


class ForkedWorker:
    """One worker of a fork server, with the methods of `multiprocessing.Process` that a pool needs."""

    def __init__(self, server: ForkServer, number: int) -> None:
        self._server = server
        self._number = number

    @property
    def pid(self) -> int | None:
        """The process id; None while it is not there yet, and where it means nothing here."""
        self._server.listen(0.0)
        return self._server.pids.get(self._number) if self._server.process.same_ids else None

    @property
    def exitcode(self) -> int | None:
        """How it ended, as `Process.exitcode` says it; None while that is not known."""
        self._server.listen(0.0)
        status = self._server.statuses.get(self._number)
        return None if status is None else os.waitstatus_to_exitcode(status)

    def is_alive(self) -> bool:
        """Return whether it has not ended."""
        return self._server.is_alive(self._number)

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def join(self, timeout_s: float = 5.0) -> None:
        """Wait until it has ended, at most so long."""
        deadline_s = time.monotonic() + timeout_s
        while self.is_alive() and (left_s := deadline_s - time.monotonic()) > 0:
            self._server.listen(left_s)

    def close(self) -> None:
        """Do nothing: the server has collected its status."""

    def _signal(self, number: int) -> None:
        if self.is_alive():
            self._server.signal(self._number, number)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
