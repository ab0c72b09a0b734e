"""Ask in a process of its own, so that an assertion of Metal, a crash or a hang is an answer like any other."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from course_utils.data.package import FOLDER
from course_utils.numerics.known_faults.asking import FaultAnswer, FaultState

# what a reproducer may take, its kernels' compilation included; loading torch takes longer on a busy machine
PATIENCE_S, START_PATIENCE_S = 30.0, 180.0
# a missing operator has to raise: with the fallback the CPU would answer for the device
_NOT_PASSED_ON = "PYTORCH_ENABLE_MPS_FALLBACK"


def ask_apart(
    issues: Sequence[str], device: str, *, patience_s: float = PATIENCE_S, module: str = __package__ + ".child"
) -> Iterator[FaultAnswer]:
    """Ask a device in another process, and start a new one where that process ends.

    Args:
        issues: the faults to ask for, in this order.
        device: such as "mps" or "cpu".
        patience_s: how long one reproducer may take, s.
        module: what the process runs; a module that follows the protocol of `child`.

    Yields:
        One answer for each issue, in their order.

    Raises:
        RuntimeError: when the process cannot start.
    """
    left = list(issues)
    while left:
        with _Child(left, device, module) as child:
            for issue in list(left):
                answer = child.answer(issue, patience_s)
                left.remove(issue)
                yield answer
                if answer.state in (FaultState.ENDED, FaultState.NO_ANSWER):
                    break


class _Child:
    """A process that asks, and the pipe that its answers come through."""

    def __init__(self, issues: Sequence[str], device: str, module: str) -> None:
        self._asked = json.dumps({"issues": list(issues), "device": device})
        self._device, self._module = device, module
        self._started = False

    def __enter__(self) -> _Child:
        reading, writing = os.pipe()
        self._answers: IO[bytes] = os.fdopen(reading, "rb", buffering=0)
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        root = str(FOLDER.parent)
        environment = {name: value for name, value in os.environ.items() if name != _NOT_PASSED_ON}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH"))))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(writing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(writing,),
                env=environment,
            )
        finally:
            os.close(writing)
        self._rest = b""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(self._asked.encode())
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # it ended already: the first answer says so
        return self

    def __exit__(self, *unused: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._answers.close()
        self._errors.close()

    def answer(self, issue: str, patience_s: float) -> FaultAnswer:
        """Wait for the answer to one issue.

        Raises:
            RuntimeError: when the process ended before it asked anything.
        """
        line = self._line(patience_s if self._started else START_PATIENCE_S)
        if not self._started and line is None:
            raise RuntimeError(f"the process that asks did not start within {START_PATIENCE_S:.0f} s")
        if not self._started and not line:
            raise RuntimeError(f"the process that asks did not start: {self._end()}")
        self._started = True
        line = self._line(patience_s)
        if line is None:
            return FaultAnswer(issue, FaultState.NO_ANSWER, f"none after {patience_s:.0f} s; its process was ended")
        if not line:
            return FaultAnswer(issue, FaultState.ENDED, self._end())
        return FaultAnswer.from_dict(json.loads(line))

    def _line(self, patience_s: float) -> bytes | None:
        """Read a line; empty where the process has ended, None where the time is over."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(patience_s):
                    return None
                more = self._answers.read(65_536)
                if not more:
                    return b""
                self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self) -> str:
        """Return the signal or exit code of the process that has ended, and the last line that it wrote to stderr."""
        code = self._process.wait()
        end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        return ": ".join([end, *lines[-1:]])
