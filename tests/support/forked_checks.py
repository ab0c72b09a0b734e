"""`course check` in a fork of this process: what a notebook costs is its own code, not the start of a Python.

The cells run as `course check` runs them, by its own `cell_runner`; only how its process starts is another.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import warnings

import IPython.core.interactiveshell  # noqa: F401  # loaded once for all forks

from course_utils.exercises import cell_runner, runner

PATIENCE_S = 120


def run_in_fork(code, *, folder, timeout_s, on_cell):
    """Do what `runner._run` does; return the events, and how it ended in words."""
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(PATIENCE_S)
            warnings.resetwarnings()  # pytest makes errors of them
            os.close(read_fd)
            os.chdir(folder)
            with tempfile.TemporaryFile() as errors:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(errors.fileno(), 2)
                os.environ |= {"MPLBACKEND": "agg", "IPYTHONDIR": str(folder)}
                sys.stdin = io.StringIO(json.dumps([[cell.number, cell.source] for cell in code]))
                sys.argv = ["cell_runner", str(write_fd)]
                cell_runner.main()
        finally:
            os._exit(0)
    os.close(write_fd)
    with open(read_fd, encoding="utf-8") as stream:
        events = [json.loads(line) for line in stream]
    os.waitpid(pid, 0)
    return events, "the notebook's process ended"


def run_checks(name, cells, folder):
    """Run a notebook's checks as `course check` does."""
    original, runner._run = runner._run, run_in_fork
    try:
        return runner.run_checks(name, cells, folder=folder)
    finally:
        runner._run = original
