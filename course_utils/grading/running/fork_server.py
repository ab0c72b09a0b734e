"""Fork workers from one process that has loaded torch and rehearsed the exercise once (Linux).

    parent --spawn--> fork server --fork--> worker, worker, ...

The fork server imports torch, starts the sandbox's template and grades the model solution; each fork of it is a worker
that is ready at once. torch has one thread there, so nothing is lost in a fork. A Mac spawns its workers instead, since
a process that has used Metal must not fork.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from course_utils.grading.course import Course
from course_utils.grading.running.job import course_from_bytes, course_to_bytes
from course_utils.grading.running.worker import GraderHolder

LONGEST_MESSAGE = 2**12
Serve = Callable[[Connection, GraderHolder], None]


class ForkServer:
    """Starts workers as forks of one prepared process.

    Args:
        factory: the grader's class, as "module:Class".
        serve: what a worker does with its pipe and its grader.
        course: what the grader is prepared for.
    """

    def __init__(self, factory: str, serve: Serve, course: Course) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        context = multiprocessing.get_context("spawn")
        arguments = (theirs, factory, serve, course_to_bytes(course))
        self.process = context.Process(target=serve_forks, args=arguments)
        self.process.start()
        theirs.close()
        self.pids: dict[int, int] = {}
        self.statuses: dict[int, int] = {}
        self.ended = False
        self._started = 0

    def start(self, pipe: Connection) -> ForkedWorker:
        """Ask for a worker at the other end of a pipe; return before it is there."""
        self._started += 1
        with suppress(OSError):  # it has ended; that is seen at the pipe
            socket.send_fds(self.control, [json.dumps({"fork": self._started}).encode()], [pipe.fileno()])
        return ForkedWorker(self, self._started)

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

    def close(self) -> None:
        """Let the server end, with the template that it started."""
        self.control.close()

    def join(self, timeout_s: float) -> None:
        """Wait for the server's end; end it after that time."""
        self.process.join(max(0.0, timeout_s))
        self.process.kill()
        self.process.join()
        self.process.close()


class ForkedWorker:
    """One worker of a fork server, with the methods of `multiprocessing.Process` that a pool needs."""

    def __init__(self, server: ForkServer, number: int) -> None:
        self._server = server
        self._number = number

    @property
    def pid(self) -> int | None:
        """The process id; None while it is not there yet."""
        self._server.listen(0.0)
        return self._server.pids.get(self._number)

    @property
    def exitcode(self) -> int | None:
        """How it ended, as `Process.exitcode` says it; None while that is not known."""
        self._server.listen(0.0)
        status = self._server.statuses.get(self._number)
        return None if status is None else os.waitstatus_to_exitcode(status)

    def is_alive(self) -> bool:
        """Return whether it has not ended."""
        if self.exitcode is not None or self.pid is None:
            return False
        return not self._server.ended or _exists(self.pid)

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
        if self.is_alive() and self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def serve_forks(control: socket.socket, factory: str, serve: Serve, course: bytes) -> None:
    """Be the fork server: prepare a grader, then fork a worker for each pipe that comes, until the socket closes."""
    os.setsid()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    woken, waker = socket.socketpair()
    for end in (woken, waker):
        end.setblocking(False)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    workers: dict[int, int] = {}
    with GraderHolder(factory) as holder:
        # what is loaded stays: nothing to collect meanwhile, and a worker's collections copy no page of it
        gc.disable()
        holder.grader_for(course_from_bytes(course))
        gc.freeze()
        gc.enable()
        while True:
            readable = select.select([control, woken], [], [])[0]
            if woken in readable:
                with suppress(BlockingIOError):
                    woken.recv(LONGEST_MESSAGE)
                _report_ended(control, workers)
            if control in readable:
                data, pipes, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, 1)
                if not data:
                    break
                number = json.loads(data)["fork"]
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for end in (control, woken, waker):
                        end.close()
                    _work(Connection(pipes[0]), holder, serve)
                os.close(pipes[0])
                workers[pid] = number
                control.send(json.dumps({"fork": number, "pid": pid}).encode())
    os._exit(0)  # nothing is left to be written, and taking torch apart takes time


def _report_ended(control: socket.socket, workers: dict[int, int]) -> None:
    """Collect the workers that ended, and tell the parent how."""
    for pid in list(workers):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            message = {"fork": workers.pop(pid), "status": status}
            with suppress(OSError):
                control.send(json.dumps(message).encode())


def _work(pipe: Connection, holder: GraderHolder, serve: Serve) -> None:
    """Be a worker in a fork; end without what the server registered for its own end."""
    code = 1
    try:
        os.setsid()
        holder.after_fork()
        serve(pipe, holder)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        with suppress(Exception):
            holder.close()
        os._exit(code)
