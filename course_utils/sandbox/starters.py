"""Start student processes quickly: fork a warm template, or keep an interpreter started ahead.

Both give a `Connection` to a fresh process in the sandbox. One submission, one process: what it leaves behind in
memory, in its folders or in its process list is gone with it.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
from collections.abc import Sequence
from typing import Any

from course_utils.sandbox.connection import Connection, Lines, StudentGone, ask_for_sender
from course_utils.sandbox.interpreter import LONGEST_REPLY, Interpreter, answers_warm, ask_to_load
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.sandbox import Sandbox, SandboxError
from course_utils.sandbox.shared_template import LentTemplate

NO_FILE = -1  # the file descriptor of a closed socket


def start_message(sandbox: Sandbox, limits: Limits, folder: str) -> bytes:
    """Write the request that starts a submission."""
    start: dict[str, Any] = {
        "folder": folder,
        "scratch": list(sandbox.scratch),
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "processes": limits.processes,
        "value_depth": limits.value_depth,
        "cpu_s": int(limits.submission_s) + 1,
        "syscall_filter": base64.b64encode(sandbox.syscall_filter or b"").decode("ascii"),
    }
    return json.dumps({"start": start}).encode()


def ask_for_process(control: socket.socket, sandbox: Sandbox, limits: Limits, folder: str = "") -> Lines:
    """Ask for a submission's process; return the ends of what leads to it.

    Raises:
        OSError: when nobody is there to answer.
    """
    channel, its_channel = socket.socketpair()
    ask_for_sender(channel)
    output_fd, its_output = os.pipe()
    report_fd, its_report = os.pipe()
    try:
        message = start_message(sandbox, limits, folder)
        socket.send_fds(control, [message], [its_channel.fileno(), its_output, its_report])
    except OSError:
        channel.close()
        os.close(output_fd)
        os.close(report_fd)
        raise
    finally:
        its_channel.close()
        os.close(its_output)
        os.close(its_report)
    return Lines(channel, output_fd, report_fd)


class ForkingStarter:
    """Forks each submission from a warm template (Linux).

    Args:
        sandbox: how the template is shut in.
        modules: what it loads once.
        control: a control socket of a template that is shared; without one, and when that one ends, a template of its
            own is started.
        lent: a template that gives another control socket then, in place of a template of its own.

    Raises:
        SandboxError: when the template does not start.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        modules: Sequence[str],
        control: socket.socket | None = None,
        lent: LentTemplate | None = None,
    ) -> None:
        self.sandbox = sandbox
        self.modules = tuple(modules)
        self.lent = lent
        self.template: Interpreter | None = None
        if control is None:
            self.template = self._warm()
            control = self.template.control
        self.control = control

    def warm(self, modules: Sequence[str]) -> None:
        """Load more modules into the template, and into those that follow it."""
        self.modules = (*self.modules, *modules)
        ask_to_load(self.control, modules)
        if not answers_warm(self.control):
            self._renew()

    def _warm(self) -> Interpreter:
        template = Interpreter(self.sandbox, "main", self.modules)
        template.wait_until_warm()
        return template

    def _renew(self) -> None:
        """Start a template of our own in place of one that ended, or ask for another fork of one that is lent."""
        self.close()
        if self.lent is not None:
            self.control = self.lent.connect()
            ask_to_load(self.control, self.modules)
            if not answers_warm(self.control):
                raise SandboxError("the sandbox ended")
            return
        self.template = self._warm()
        self.control = self.template.control

    def start(self, limits: Limits) -> Connection:
        """Start a process for a submission.

        Raises:
            SandboxError: when that is impossible.
        """
        try:
            return self._start(limits)
        except (OSError, StudentGone) as error:
            if self.control.fileno() != NO_FILE and not isinstance(error, OSError):
                said = self.template.last_lines() if self.template is not None else ""
                raise SandboxError(f"a submission cannot be shut in: {said or error}") from None
        # the template has ended: another one, and another try
        self._renew()
        try:
            return self._start(limits)
        except (OSError, StudentGone) as error:
            raise SandboxError(f"a submission cannot be shut in: {error}") from None

    def _start(self, limits: Limits) -> Connection:
        lines = ask_for_process(self.control, self.sandbox, limits)
        connection = Connection(lines, limits, self._wait_for_end, self.sandbox.scratch)
        try:
            connection.wait_until_ready()
        except StudentGone:
            connection.close()
            raise
        return connection

    def _wait_for_end(self, seconds: float) -> int | None:
        self.control.settimeout(seconds)
        try:
            ended: int = json.loads(self.control.recv(LONGEST_REPLY))["ended"]
        except TimeoutError:
            raise
        except (OSError, ValueError, KeyError):
            # of no use any more; `start` makes another one
            self.control.close()
            return None
        return ended

    def close(self) -> None:
        """End the template, or our fork of it."""
        self.control.close()
        if self.template is not None:
            self.template.close()


class PrestartedStarter:
    """Keeps one interpreter started ahead of time, and gives each submission its own (macOS).

    Args:
        sandbox: how each one is shut in.
        modules: what each one loads.

    Raises:
        SandboxError: when the first does not start.
    """

    def __init__(self, sandbox: Sandbox, modules: Sequence[str]) -> None:
        self.sandbox = sandbox
        self.modules = tuple(modules)
        self.next = Interpreter(sandbox, "prestarted", self.modules)
        self.next.wait_until_warm()  # one that does not work is seen here, not at the first submission

    def warm(self, modules: Sequence[str]) -> None:
        """Load more modules into the interpreters that follow."""
        self.modules = (*self.modules, *modules)

    def start(self, limits: Limits) -> Connection:
        """Start a process for a submission, and the interpreter for the next one.

        Raises:
            SandboxError: when that is impossible.
        """
        interpreter = self.next
        interpreter.wait_until_warm()
        try:
            lines = ask_for_process(interpreter.control, self.sandbox, limits, interpreter.folder)
        except OSError as error:
            raise SandboxError(f"the sandbox ended: {interpreter.last_lines() or error}") from error

        def wait_for_end(seconds: float) -> int:
            try:
                status = interpreter.process.wait(seconds)
            except subprocess.TimeoutExpired:
                raise TimeoutError from None
            interpreter.close()
            return -status if status < 0 else status << 8

        connection = Connection(lines, limits, wait_for_end, mark=interpreter.mark, disk_folder=interpreter.folder)
        try:
            connection.wait_until_ready()
        except StudentGone as gone:
            connection.close()
            raise SandboxError(f"a submission cannot be shut in: {gone.message}") from None
        connection.watch(connection.process or interpreter.process.pid)
        self.next = Interpreter(self.sandbox, "prestarted", self.modules)
        return connection

    def close(self) -> None:
        """End the interpreter that waits."""
        self.next.close()


Starter = ForkingStarter | PrestartedStarter


def make_starter(
    sandbox: Sandbox,
    modules: Sequence[str],
    control: socket.socket | None = None,
    lent: LentTemplate | None = None,
) -> Starter:
    """Make the starter that this sandbox allows.

    Args:
        sandbox: how student code is shut in.
        modules: what is loaded before the first submission.
        control: a control socket of a shared template.
        lent: that template, where another process started it.

    Raises:
        SandboxError: when student code cannot be started.
    """
    return ForkingStarter(sandbox, modules, control, lent) if sandbox.forks else PrestartedStarter(sandbox, modules)
