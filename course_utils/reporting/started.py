"""The processes that one process started, wherever they went, and how all of them are ended.

A kernel of Jupyter leads a session of its own, a worker that lost its parent belongs to the system's first process:
neither the process group nor the tree holds everything. What leaves both keeps the environment it was started with.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

# how long killed processes may take to end, seconds; one that waits for a driver may never do so
KILL_PATIENCE_S = 10.0
LOOK_EVERY_S = 0.02


def find_started(first: int, variable: str, mark: str) -> list[psutil.Process]:
    """Return a process, all below it, all of its session, and all that carry a mark; this process is left out.

    Args:
        first: the process, which may have ended.
        variable: the environment variable that holds the mark.
        mark: its value.
    """
    found: dict[int, psutil.Process] = {}
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(first)
        found = {process.pid: process for process in (top, *top.children(recursive=True))}
    for process in psutil.process_iter():
        # processes of others, and those that end meanwhile, are not meant
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            if process.pid in found or process.pid == 0:
                continue
            if os.getsid(process.pid) == first or process.environ().get(variable) == mark:
                found[process.pid] = process
    found.pop(os.getpid(), None)
    return list(found.values())


def end_started(first: int, variable: str, mark: str, known: Iterable[psutil.Process] = ()) -> list[int]:
    """End what a process started, and itself; return the ids of those that could not be ended.

    Args:
        first: the process, which may have ended.
        variable: the environment variable that holds the mark.
        mark: its value.
        known: processes that were found before, since one may have lost its parent and its mark.
    """
    until = time.monotonic() + KILL_PATIENCE_S
    known = list(known)
    while True:
        found = [process for process in {*known, *find_started(first, variable, mark)} if _lives(process)]
        if not found or time.monotonic() > until:
            return [process.pid for process in found]
        for process in found:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                process.kill()
        # psutil's own wait would take the exit code of a child from who started it
        time.sleep(LOOK_EVERY_S)


def _lives(process: psutil.Process) -> bool:
    """Return whether a process still runs; one that has ended may wait for its parent to ask how."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False
