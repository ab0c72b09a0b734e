"""Run lessons from the top in fresh kernels, several side by side, and say which has ended."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

TIMEOUT_S = 600.0
# more kernels than this do not fit into the memory of a small machine: each loads torch
MOST_WORKERS = 4


@dataclass(frozen=True)
class LessonEnd:
    """How a lesson ended.

    Args:
        path: the lesson.
        seconds: how long it took.
        notebook: the notebook with its outputs, as nbformat writes it; empty where it failed.
        error: the error of the cell that failed, in one line; empty where none did.
    """

    path: Path
    seconds: float
    notebook: str
    error: str


def run_lesson(path: Path, timeout_s: float = TIMEOUT_S, threads: int | None = None) -> Any:
    """Run a lesson from the top in a fresh kernel; the file is not changed.

    Args:
        path: the notebook; its folder is the current one for its cells.
        timeout_s: how long one cell may take, seconds.
        threads: how many threads torch uses; as many as it likes when None.

    Returns:
        The notebook with its outputs.

    Raises:
        Exception: whatever a cell raised, or nbclient when the kernel died or took too long.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=timeout_s, kernel_name="python3", resources=folder, record_timing=False)
    environment = os.environ | ({} if threads is None else {"OMP_NUM_THREADS": str(threads)})
    # the kernel's own log says nothing about the lesson
    return client.execute(env=environment, stderr=subprocess.DEVNULL)


def reason(error: Exception) -> str:
    """Return in one line why a lesson failed: a cell's own error where there is one."""
    if hasattr(error, "ename"):  # nbclient's CellExecutionError, whose text is a coloured traceback
        return f"{error.ename}: {getattr(error, 'evalue', '')}"
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def end_of(path: Path, timeout_s: float, threads: int) -> LessonEnd:
    """Run one lesson in this process; an error becomes a part of what is returned."""
    import nbformat

    start = time.monotonic()
    try:
        notebook = nbformat.writes(run_lesson(path, timeout_s, threads))  # type: ignore[no-untyped-call]
    except Exception as error:  # a lesson may raise anything, and the others are still to be run
        return LessonEnd(path, time.monotonic() - start, "", reason(error))
    return LessonEnd(path, time.monotonic() - start, notebook, "")


def workers_here() -> int:
    """Return how many lessons run side by side on this machine."""
    return max(1, min(MOST_WORKERS, os.cpu_count() or 1))


def run_side_by_side(
    paths: Sequence[Path], *, workers: int, timeout_s: float = TIMEOUT_S, progress: TextIO | None = None
) -> dict[Path, LessonEnd]:
    """Run lessons in several processes, each kernel with its share of the cores.

    Args:
        paths: the lessons; the first ones begin first.
        workers: how many run at a time.
        timeout_s: how long one cell may take, seconds.
        progress: where a line for each lesson that has ended goes; standard error when None.

    Returns:
        How each ended.
    """
    progress = progress or sys.stderr
    threads = max(1, (os.cpu_count() or 1) // workers)
    start = time.monotonic()
    ends: dict[Path, LessonEnd] = {}
    print(f"running {len(paths)} lessons, {workers} at a time, {threads} threads each ...", file=progress, flush=True)
    # a fork of a process that holds threads may hang; a new interpreter has none
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(end_of, path, timeout_s, threads) for path in paths]
        for done in as_completed(running):
            end = done.result()
            ends[end.path] = end
            state = f"failed, {end.error}" if end.error else "ran"
            passed = f"{len(ends)} of {len(paths)} after {time.monotonic() - start:.0f} s"
            print(f"{end.path.stem}: {state}, {end.seconds:.0f} s ({passed})", file=progress, flush=True)
    return ends
