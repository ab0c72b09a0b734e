"""Find out in a child process whether torch loads and computes, so that its crash or hang is an answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course_utils.data.package import FOLDER
from course_utils.doctor import torch_child

# a first import from a cold disk takes tens of seconds; what needs longer does not come back
TIME_LIMIT_S = 120.0

Found = dict[str, str | bool | None]


def probe_torch(*, time_limit_s: float = TIME_LIMIT_S, python: str = sys.executable) -> Found:
    """Import torch in a child process and try MPS and CUDA there.

    Args:
        time_limit_s: how long the child may take in all, seconds.
        python: the Python to run it with.

    Returns:
        Values for the fields of `Snapshot` that begin with torch_, mps_, cuda_, and gpu; and "torch_version", what the
        module itself says. A child that dies or hangs is described in "torch_import" and "torch_error", or in
        "mps_state" and "mps_reason" when torch itself had loaded.
    """
    try:
        scratch = tempfile.TemporaryDirectory()
    except OSError as error:  # a full disk
        return {"torch_error": f"no scratch folder could be made: {type(error).__name__}: {error}"}
    with scratch as folder:
        answer, errors = Path(folder, "answer"), Path(folder, "errors")
        # -c and not a file: the folder of a script would come first on sys.path, and torch would find our modules
        code = Path(torch_child.__file__).read_text(encoding="utf-8")
        course_folder = str(FOLDER.parent)
        command = [python, "-c", code, str(answer), course_folder]
        try:
            with errors.open("wb") as error_file:
                ended, code_or_none = _run(command, error_file.fileno(), time_limit_s)
        except OSError as error:
            return {"torch_error": f"no child process could be started: {error.strerror}"}
        steps = _read_steps(answer)
        return conclude(steps, ended, code_or_none, _last_words(errors), time_limit_s)


def _run(command: list[str], error_file: int, time_limit_s: float) -> tuple[str, int | None]:
    """Run a command for a limited time; return how it ended ("exited", "timed out") and its exit code."""
    # a session of its own, so that children of the child end with it
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error_file, start_new_session=True
    )
    try:
        return "exited", process.wait(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        return "timed out", None
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def _read_steps(answer: Path) -> Iterator[Found]:
    """Read what the child wrote; a line that it could not finish is left out."""
    if not answer.exists():
        return
    for line in answer.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _last_words(errors: Path) -> str:
    """Return the line on standard error that says most: OpenMP's own, else the last one."""
    lines = [line.strip() for line in errors.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("OMP: Error", "libc++abi", "dyld"))]
    return (telling or lines or [""])[-1 if not telling else 0]


def conclude(steps: Iterator[Found], ended: str, exit_code: int | None, last_words: str, time_limit_s: float) -> Found:
    """Turn what a child reported and how it ended into values of a snapshot; pure.

    Args:
        steps: the child's reports, in order; "step" names what it went on to do.
        ended: "exited" or "timed out".
        exit_code: the exit code, negative for a signal; None after a time-out.
        last_words: what it last said on standard error.
        time_limit_s: the limit it had.
    """
    found: Found = {}
    for step in steps:
        found |= step
    at = found.pop("step", None)
    if at == "done" or "torch_error" in found:
        return found
    if ended == "timed out":
        how, outcome = f"no answer within {time_limit_s:g} s", "timed out"
    elif exit_code is not None and exit_code < 0:
        how, outcome = f"killed by {_signal_name(-exit_code)}", "killed"
    else:
        how, outcome = f"exit code {exit_code}", "exited"
    how += f"; last words: {last_words}" if last_words else ""
    if found.get("torch_import") != "ok":
        return found | {"torch_import": outcome, "torch_error": how}
    if at == "compute on CUDA":
        return found | {"cuda_state": "present but unusable", "cuda_reason": f"the process that tried it: {how}"}
    return found | {"mps_state": "present but unusable", "mps_reason": f"the process that tried it: {how}"}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
