"""A warm template that several processes use: each gets a fork of it, in the same sandbox (Linux)."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import suppress

from course_utils.sandbox.interpreter import Interpreter, answers_warm, ask_to_load, control_pair
from course_utils.sandbox.processors import own_processors
from course_utils.sandbox.sandbox import Sandbox, SandboxError


class LentTemplate:
    """A warm template that another process started and ends, at the other end of a control socket (Linux).

    Args:
        control: the socket.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control

    def connect(self) -> socket.socket:
        """Return a control socket for one worker; what the worker asks is answered when the template is warm.

        The fork at its other end runs on the processors that this process runs on.
        """
        return self._share({"processors": own_processors()})

    def lend(self, *, own_users: bool) -> socket.socket:
        """Return the control socket of a fork in namespaces of its own: checks beside this template are not in them.

        Args:
            own_users: whether it leaves the user namespace, too, which only a filter keeps student code from doing.
        """
        return self._share({"apart": True, "own_users": own_users})

    def _share(self, how: dict[str, object]) -> socket.socket:
        ours, its = control_pair()
        with its, suppress(OSError):
            # comes behind the modules in the template's queue; one that has ended is noticed by the worker
            socket.send_fds(self.control, [json.dumps({"share": how}).encode()], [its.fileno()])
        return ours

    def run_beside(self, function: str, sockets: Sequence[int]) -> None:
        """Run a function in a fork, in the same sandbox.

        Args:
            function: its name, as "module:function"; it gets a list of file descriptors.
            sockets: the descriptors, three at most.
        """
        with suppress(OSError):  # it has ended: who holds the other ends sees that
            socket.send_fds(self.control, [json.dumps({"beside": function}).encode()], list(sockets))

    def warm(self, modules: Sequence[str], pinned: Sequence[str] = ()) -> None:
        """Load more modules; forks that are there already do not have them.

        Args:
            modules: their names.
            pinned: modules and packages whose functions and classes keep their addresses in all further forks.

        Raises:
            SandboxError: when the template has ended.
        """
        ask_to_load(self.control, modules, pinned)
        if not answers_warm(self.control):
            raise SandboxError("the sandbox ended while it loaded what the exercise needs")

    def close(self) -> None:
        """Let go of the template."""
        self.control.close()


class SharedTemplate(LentTemplate):
    """One warm template for several workers: torch is loaded once, and each worker gets a fork of it (Linux).

    Args:
        sandbox: how the template is shut in.
        modules: what it loads.

    Raises:
        SandboxError: when it cannot be started.
    """

    def __init__(self, sandbox: Sandbox, modules: Sequence[str]) -> None:
        self._interpreter = Interpreter(sandbox, "main", modules)
        super().__init__(self._interpreter.control)

    @property
    def pid(self) -> int:
        """The process id of the sandbox; with it everything in it ends."""
        return self._interpreter.process.pid

    def warm(self, modules: Sequence[str], pinned: Sequence[str] = ()) -> None:
        """Load more modules; forks that are there already do not have them.

        Args:
            modules: their names.
            pinned: modules and packages whose functions and classes keep their addresses in all further forks.

        Raises:
            SandboxError: when the template has ended.
        """
        self._interpreter.wait_until_warm()
        self._interpreter.warm = False
        ask_to_load(self.control, modules, pinned)
        self._interpreter.wait_until_warm()

    def close(self) -> None:
        """End the template and all its forks."""
        self._interpreter.close()
