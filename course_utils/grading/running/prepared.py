"""How the process that forks workers is started: in the sandbox, or outside.

    parent --bubblewrap--> template --fork--> fork server --fork--> worker, worker, ...
                              |
                              +-----fork--> template of submissions, in namespaces of its own

The sandbox's template loads torch, once for all. The fork server is a fork of it, so checks run in a sandbox, too; it
gets the exercise after that fork. A grader whose code does not lie in the course's package is not seen inside: its fork
server is started outside ("spawn").
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import signal
import socket
from contextlib import suppress
from typing import Protocol

from course_utils.grading.assignment import modules_of
from course_utils.grading.course import Course
from course_utils.grading.running import forking
from course_utils.grading.running.forking import Serve
from course_utils.grading.running.job import course_to_bytes
from course_utils.sandbox.process_tree import read_usage
from course_utils.sandbox.sandbox import SandboxError, choose_sandbox
from course_utils.sandbox.shared_template import SharedTemplate


class Prepared(Protocol):
    """The process that forks workers, and what it was started with."""

    # whether process ids of the workers mean the same here, and a signal to them is sent from here
    same_ids: bool

    @property
    def pid(self) -> int | None:
        """The process id of what ends them all."""

    def end(self, control: socket.socket, timeout_s: float) -> None:
        """Close its control socket and wait for its end; end it after that time."""


class Spawned:
    """A fork server that is started outside any sandbox.

    Args:
        control: its control socket.
        factory: the grader's class, as "module:Class".
        serve: what a worker does.
        course: what the grader is prepared for.
    """

    same_ids = True

    def __init__(self, control: socket.socket, factory: str, serve: Serve, course: Course) -> None:
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(
            target=forking.serve_forks, args=(control, factory, serve, course_to_bytes(course))
        )
        self._process.start()

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._process.pid

    def end(self, control: socket.socket, timeout_s: float) -> None:
        """Close its control socket and wait for its end; end it after that time, and what it started."""
        below = read_usage(self._process.pid).processes if self._process.pid else ()
        control.close()
        self._process.join(max(0.0, timeout_s))
        self._process.kill()
        self._process.join()
        self._process.close()
        for process in below:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


class ShutIn:
    """A fork server inside the sandbox, whose template has loaded torch.

    Args:
        control: its control socket.
        factory: the grader's class, as "module:Class".
        serve: what a worker does.
        course: what the grader is prepared for.

    Raises:
        SandboxError: when there is no such sandbox here.
    """

    same_ids = False  # it has a process list of its own

    def __init__(self, control: socket.socket, factory: str, serve: Serve, course: Course) -> None:
        sandbox = choose_sandbox("", unsafe=False)
        if not sandbox.forks or not sandbox.scratch:
            raise SandboxError(f"{sandbox.name} starts no process that may fork")
        self._template = SharedTemplate(sandbox, modules_of(course.assignment))
        ours, theirs = multiprocessing.Pipe()
        filtered = sandbox.syscall_filter is not None
        with theirs, self._template.lend(own_users=filtered) as submissions:
            sockets = [control.fileno(), theirs.fileno(), submissions.fileno()]
            self._template.run_beside(f"{forking.__name__}:serve_forks_inside", sockets)
        head = {
            "factory": factory,
            "serve": f"{serve.__module__}:{serve.__qualname__}",
            "sandbox": sandbox.name,
            "scratch": sandbox.scratch,
            "syscall_filter": base64.b64encode(sandbox.syscall_filter or b"").decode("ascii"),
        }
        # read only after the fork: the template that submissions are forks of never holds a check
        with suppress(OSError):  # it has ended; that is seen at the control socket
            ours.send_bytes(json.dumps(head).encode())
            ours.send_bytes(course_to_bytes(course))
        ours.close()

    @property
    def pid(self) -> int | None:
        """The process id of the sandbox."""
        return self._template.pid

    def end(self, control: socket.socket, timeout_s: float) -> None:
        """End the sandbox, and with its process list everything in it."""
        control.close()
        self._template.close()


def runs_inside(factory: str) -> bool:
    """Return whether a grader's code is seen inside the sandbox."""
    return factory.startswith(f"{__name__.partition('.')[0]}.")
