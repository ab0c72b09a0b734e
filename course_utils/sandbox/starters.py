"""Start student processes quickly: fork a warm template, or keep an interpreter started ahead.

Both give a `Connection` to a fresh process in the sandbox. One submission, one process: what it leaves behind in
memory, in its folders or in its process list is gone with it.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from course_utils.sandbox.connection import Connection, Lines, StudentGone, ask_for_sender
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import MARK
from course_utils.sandbox.sandbox import Sandbox, SandboxError

WARM_UP_S = 180.0
END_PATIENCE_S = 2.0
NO_FILE = -1  # the file descriptor of a closed socket
LONGEST_REQUEST = 2**20
LONGEST_REPLY = 2**16


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Make a pair of sockets that keep requests apart; macOS has none such, and sends one request at a time."""
    kind = socket.SOCK_SEQPACKET if sys.platform.startswith("linux") else socket.SOCK_STREAM
    ours, its = socket.socketpair(socket.AF_UNIX, kind)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_REQUEST)
    return ours, its


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


def ask_to_load(control: socket.socket, modules: Sequence[str]) -> None:
    """Ask for modules to be loaded; `answers_warm` waits for it, so that several can warm up at once."""
    control.settimeout(WARM_UP_S)
    with suppress(OSError):
        control.send(json.dumps({"warm": list(modules)}).encode())


def answers_warm(control: socket.socket) -> bool:
    """Wait until everything is loaded; False when the other side ended instead."""
    try:
        return bool(control.recv(LONGEST_REPLY))
    except OSError:
        return False


class Interpreter:
    """One started interpreter and its control socket.

    Args:
        sandbox: how it is shut in.
        entry: the entry of `course_utils.sandbox.template`.
        modules: what it loads before the first submission.

    Raises:
        SandboxError: when it does not start; the message has its last line.
    """

    def __init__(self, sandbox: Sandbox, entry: str, modules: Sequence[str]) -> None:
        self.mark = secrets.token_hex(8)
        # one that serves a single submission runs in that submission's folder
        self.folder = tempfile.mkdtemp(dir=sandbox.work) if entry == "prestarted" and sandbox.work else ""
        self.sandbox = sandbox = sandbox.in_folder(self.folder) if self.folder else sandbox
        self.errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.control, other = control_pair()
        try:
            self.process = subprocess.Popen(
                sandbox.command(entry, other.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=self.errors,
                stderr=self.errors,
                pass_fds=[other.fileno()],
                env=dict(sandbox.environment) | {MARK: self.mark},
                cwd=self.folder or None,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{sandbox.name} cannot be started: {error}") from error
        finally:
            other.close()
        self.warm = False
        ask_to_load(self.control, modules)

    def wait_until_warm(self) -> None:
        """Wait until everything is loaded.

        Raises:
            SandboxError: when it ended instead.
        """
        if self.warm:
            return
        self.warm = answers_warm(self.control)
        if not self.warm:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(END_PATIENCE_S)  # its last words come with its end
            lines = self.last_lines()
            self.close()
            advice = "; unprivileged user namespaces may be switched off on this system. Switch them on, grade"
            advice = advice if self.sandbox.name.startswith("bubblewrap") else ". Grade"
            raise SandboxError(
                f"{self.sandbox.name} does not work here: {lines or 'it ended without a word'}{advice} elsewhere, or "
                "pass --unsafe to run student code with your own rights"
            )

    def last_lines(self) -> str:
        """Return the last line that it printed."""
        self.errors.seek(0)
        return " ".join(self.errors.read().strip().splitlines()[-1:])

    def close(self) -> None:
        """End it and everything in it."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.errors.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class SharedTemplate:
    """One warm template for several workers: torch is loaded once, and each worker gets a fork of it (Linux).

    Args:
        sandbox: how the template is shut in.
        modules: what it loads.

    Raises:
        SandboxError: when it cannot be started.
    """

    def __init__(self, sandbox: Sandbox, modules: Sequence[str]) -> None:
        self._interpreter = Interpreter(sandbox, "main", modules)

    def connect(self) -> socket.socket:
        """Return a control socket for one worker; what the worker asks is answered when the template is warm."""
        ours, its = control_pair()
        with its, suppress(OSError):
            # comes behind the modules in the template's queue; one that has ended is noticed by the worker
            socket.send_fds(self._interpreter.control, [b'{"share": true}'], [its.fileno()])
        return ours

    def warm(self, modules: Sequence[str]) -> None:
        """Load more modules; forks that are there already do not have them.

        Raises:
            SandboxError: when the template has ended.
        """
        self._interpreter.wait_until_warm()
        self._interpreter.warm = False
        ask_to_load(self._interpreter.control, modules)
        self._interpreter.wait_until_warm()

    def close(self) -> None:
        """End the template and all its forks."""
        self._interpreter.close()


class ForkingStarter:
    """Forks each submission from a warm template (Linux).

    Args:
        sandbox: how the template is shut in.
        modules: what it loads once.
        control: a control socket of a template that is shared; without one, and when that one ends, a template of its
            own is started.

    Raises:
        SandboxError: when the template does not start.
    """

    def __init__(self, sandbox: Sandbox, modules: Sequence[str], control: socket.socket | None = None) -> None:
        self.sandbox = sandbox
        self.modules = tuple(modules)
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
        """Start a template of our own in place of one that ended."""
        self.close()
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


def make_starter(
    sandbox: Sandbox, modules: Sequence[str], control: socket.socket | None = None
) -> ForkingStarter | PrestartedStarter:
    """Make the starter that this sandbox allows.

    Args:
        sandbox: how student code is shut in.
        modules: what is loaded before the first submission.
        control: a control socket of a shared template.

    Raises:
        SandboxError: when student code cannot be started.
    """
    return ForkingStarter(sandbox, modules, control) if sandbox.forks else PrestartedStarter(sandbox, modules)
