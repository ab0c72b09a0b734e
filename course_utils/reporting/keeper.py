"""Run a command so that nothing it started outlives it, its time limit, or the process that asked for it.

The keeper is a process between the two, in a session of its own, which Ctrl-C in a terminal does not reach. It reads
from a pipe whose other end only its caller holds: when the caller ends, even by SIGKILL, the pipe closes, and the
keeper ends all that the command started. A command that is stopped is asked first, as Ctrl-C asks, so that it can
write what it has.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

# the environment variable by which all processes of a command are found
MARK = "COURSE_STEP"
# how long a command may take to end by itself once it is asked to, seconds
ASK_PATIENCE_S = 15.0


@dataclass(frozen=True)
class Kept:
    """How a command ended.

    Args:
        code: its exit code, negative for a signal.
        timed_out: whether it was stopped at its time limit.
    """

    code: int
    timed_out: bool


def run_kept(
    command: Sequence[str],
    *,
    at: Path | None,
    environment: Mapping[str, str],
    output: IO[bytes],
    errors: IO[bytes],
    limit_s: float,
) -> Kept:
    """Run a command; when this returns or raises, or when this process ends, all that it started ends.

    Args:
        command: its words.
        at: the folder to run in; the current one when None.
        environment: its environment.
        output: takes what it prints.
        errors: takes what it prints on standard error, and which processes could not be ended.
        limit_s: how long it may take, seconds.

    Raises:
        OSError: when no process can be started.
    """
    mark = secrets.token_hex(8)
    life, held = os.pipe()
    answers, answer = os.pipe()
    try:
        keeper = subprocess.Popen(
            [sys.executable, "-m", __name__, str(life), str(answer), str(limit_s), *command],
            cwd=at,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            pass_fds=(life, answer),
            start_new_session=True,
        )
    except BaseException:
        os.close(held)
        os.close(answers)
        raise
    finally:
        os.close(life)
        os.close(answer)
    said = b""
    try:
        with open(answers, "rb") as stream:
            said = stream.read()
    finally:
        os.close(held)
        code = keeper.wait()
    if said:
        return Kept(**json.loads(said))
    # somebody ended the keeper
    from course_utils.reporting.started import end_started

    end_started(keeper.pid, MARK, mark)
    return Kept(code, timed_out=False)


def keep(command: Sequence[str], life: int, limit_s: float) -> Kept:
    """Be the keeper: run a command until it ends, its time is over, or the pipe closes; then end what it started.

    Args:
        command: its words.
        life: the pipe that closes when the caller ends.
        limit_s: how long it may take, seconds.
    """
    from course_utils.reporting.started import end_started, find_started

    # a shell starts what it puts into the background with SIGINT ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        child = subprocess.Popen(command, start_new_session=True)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return Kept(127, timed_out=False)
    ended, ends = os.pipe()

    def wait() -> None:
        child.wait()
        os.close(ends)

    Thread(target=wait, daemon=True).start()
    ready, _, _ = select.select([life, ended], [], [], limit_s)
    known = find_started(child.pid, MARK, os.environ[MARK])
    if ended not in ready:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)
        select.select([ended], [], [], ASK_PATIENCE_S)
    left = end_started(child.pid, MARK, os.environ[MARK], known)
    if left:
        print(f"could not be ended: processes {', '.join(map(str, left))}", file=sys.stderr)
    select.select([ended], [], [], ASK_PATIENCE_S if not left else 0)
    return Kept(-signal.SIGKILL if child.returncode is None else child.returncode, timed_out=not ready)


def main() -> None:
    """Run what the arguments say, and write how it ended."""
    life, answer, limit_s, *command = sys.argv[1:]
    kept = keep(command, int(life), float(limit_s))
    with suppress(BrokenPipeError), open(int(answer), "w", encoding="utf-8") as stream:
        json.dump({"code": kept.code, "timed_out": kept.timed_out}, stream)


if __name__ == "__main__":
    main()
