"""Start student processes quickly: fork a warm template, or keep an interpreter started ahead.

Both give a `Connection` to a fresh process in the sandbox. One submission, one process: what it leaves behind in
memory, in its folders or in its process list is gone with it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from course_utils.grading.connection import Connection, StudentGone, ask_for_sender
from course_utils.grading.limits import Limits
from course_utils.grading.sandbox import Sandbox, SandboxError

WARM_UP_S = 180.0
END_PATIENCE_S = 2.0
LONGEST_REPLY = 2**16


def start_message(sandbox: Sandbox, limits: Limits) -> bytes:
    """Write the request that starts a submission."""
    start: dict[str, Any] = {
        "scratch": list(sandbox.scratch),
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "processes": limits.processes,
        "value_depth": limits.value_depth,
        "cpu_s": int(limits.submission_s) + 1,
    }
    return json.dumps({"start": start}).encode()


class Interpreter:
    """One started interpreter and its control socket.

    Args:
        sandbox: how it is shut in.
        entry: the entry of `course_utils.grading.template`.
        modules: what it loads before the first submission.

    Raises:
        SandboxError: when it does not start; the message has its last line.
    """

    def __init__(self, sandbox: Sandbox, entry: str, modules: Sequence[str]) -> None:
        self.sandbox = sandbox
        self.errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.control, other = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                sandbox.command(entry, other.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=self.errors,
                stderr=self.errors,
                pass_fds=[other.fileno()],
                env=dict(sandbox.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{sandbox.name} cannot be started: {error}") from error
        finally:
            other.close()
        self.load(modules)

    def load(self, modules: Sequence[str]) -> None:
        """Ask for modules to be loaded; answered by `wait_until_warm`, so that several can warm up at once."""
        self.warm = False
        self.control.settimeout(WARM_UP_S)
        with suppress(OSError):
            self.control.send(json.dumps({"warm": list(modules)}).encode())

    def wait_until_warm(self) -> None:
        """Wait until everything is loaded.

        Raises:
            SandboxError: when it ended instead.
        """
        if self.warm:
            return
        try:
            self.warm = bool(self.control.recv(LONGEST_REPLY))
        except OSError:
            self.warm = False
        if not self.warm:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(END_PATIENCE_S)  # its last words come with its end
            lines = self.last_lines()
            self.close()
            raise SandboxError(
                f"{self.sandbox.name} does not work here: {lines or 'it ended without a word'}; unprivileged user "
                "namespaces may be switched off on this system. Switch them on, grade elsewhere, or pass --unsafe to "
                "run student code with your own rights"
            )

    def last_lines(self) -> str:
        """Return the last line that it printed."""
        self.errors.seek(0)
        return " ".join(self.errors.read().strip().splitlines()[-1:])

    def start(self, limits: Limits) -> tuple[socket.socket, int]:
        """Ask for a submission's process; return its socket and the reading end of its output."""
        channel, its_channel = socket.socketpair()
        ask_for_sender(channel)
        output_fd, its_output = os.pipe()
        try:
            message = start_message(self.sandbox, limits)
            socket.send_fds(self.control, [message], [its_channel.fileno(), its_output])
        except OSError as error:
            raise SandboxError(f"the sandbox ended: {self.last_lines() or error}") from error
        finally:
            its_channel.close()
            os.close(its_output)
        return channel, output_fd

    def close(self) -> None:
        """End it and everything in it."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.errors.close()


class ForkingStarter:
    """Forks each submission from one warm template (Linux).

    Args:
        sandbox: how the template is shut in.
        modules: what it loads once.

    Raises:
        SandboxError: when the template does not start.
    """

    def __init__(self, sandbox: Sandbox, modules: Sequence[str]) -> None:
        self.sandbox = sandbox
        self.modules = tuple(modules)
        self.template = self._warm()

    def warm(self, modules: Sequence[str]) -> None:
        """Load more modules into the template, and into those that follow it."""
        self.modules = (*self.modules, *modules)
        self.template.load(modules)
        self.template.wait_until_warm()

    def _warm(self) -> Interpreter:
        template = Interpreter(self.sandbox, "main", self.modules)
        template.wait_until_warm()
        return template

    def start(self, limits: Limits) -> Connection:
        """Start a process for a submission.

        Raises:
            SandboxError: when that is impossible.
        """
        if self.template.process.poll() is not None:
            self.template.close()
            self.template = self._warm()
        channel, output_fd = self.template.start(limits)
        connection = Connection(channel, output_fd, limits, self._wait_for_end)
        try:
            connection.wait_until_ready()
        except StudentGone as gone:
            connection.close()
            raise SandboxError(
                f"a submission cannot be shut in: {self.template.last_lines() or gone.message}"
            ) from None
        return connection

    def _wait_for_end(self, seconds: float) -> int | None:
        self.template.control.settimeout(seconds)
        try:
            ended: int = json.loads(self.template.control.recv(LONGEST_REPLY))["ended"]
        except TimeoutError:
            raise
        except (OSError, ValueError, KeyError):
            # the template is of no use any more; `start` makes another one
            self.template.process.kill()
            self.template.process.wait()
            return None
        return ended

    def close(self) -> None:
        """End the template."""
        self.template.close()


class AheadStarter:
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
        self.next = Interpreter(sandbox, "ahead", self.modules)
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
        channel, output_fd = interpreter.start(limits)

        def wait_for_end(seconds: float) -> int:
            try:
                status = interpreter.process.wait(seconds)
            except subprocess.TimeoutExpired:
                raise TimeoutError from None
            interpreter.close()
            return -status if status < 0 else status << 8

        connection = Connection(channel, output_fd, limits, wait_for_end)
        try:
            connection.wait_until_ready()
        except StudentGone as gone:
            connection.close()
            raise SandboxError(f"a submission cannot be shut in: {gone.message}") from None
        connection.process = connection.process or interpreter.process.pid
        self.next = Interpreter(self.sandbox, "ahead", self.modules)
        return connection

    def close(self) -> None:
        """End the interpreter that waits."""
        self.next.close()


def make_starter(sandbox: Sandbox, modules: Sequence[str]) -> ForkingStarter | AheadStarter:
    """Make the starter that this sandbox allows.

    Raises:
        SandboxError: when student code cannot be started.
    """
    return ForkingStarter(sandbox, modules) if sandbox.forks else AheadStarter(sandbox, modules)
