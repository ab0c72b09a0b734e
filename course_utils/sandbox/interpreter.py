"""One started Python in the sandbox, and the control socket over which it is asked."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from course_utils.sandbox.process_tree import MARK
from course_utils.sandbox.sandbox import Sandbox, SandboxError

WARM_UP_S = 180.0
END_PATIENCE_S = 2.0
LONGEST_REQUEST = 2**20
LONGEST_REPLY = 2**16


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Make a pair of sockets that keep requests apart; macOS has none such, and sends one request at a time."""
    kind = socket.SOCK_SEQPACKET if sys.platform.startswith("linux") else socket.SOCK_STREAM
    ours, its = socket.socketpair(socket.AF_UNIX, kind)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_REQUEST)
    return ours, its


def ask_to_load(control: socket.socket, modules: Sequence[str], pinned: Sequence[str] = ()) -> None:
    """Ask for modules to be loaded, and for what is in some of them to keep its address for good.

    `answers_warm` waits for it, so that several can warm up at once.
    """
    control.settimeout(WARM_UP_S)
    with suppress(OSError):
        control.send(json.dumps({"warm": list(modules), "pin": list(pinned)}).encode())


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
