"""Run a student's notebook against its visible checks, in a child process, and say which task passed.

Practice only: the student's own machine, the student's own rights. Grades come from the grader.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from course_utils.exercises.notebook import Cell
from course_utils.exercises.outcome import Failure, Report, read_report


@dataclass(frozen=True)
class PracticeResult:
    """What a run of the visible checks showed.

    Args:
        exercise: the exercise's name.
        tasks: one report for each task whose check ran.
        errors: pairs (cell number, error) of cells that raised.
        stopped: why the run ended early, or None.
        unchecked: grade ids of check cells that never gave a verdict.
        stderr: pairs (cell number, text) of cells that wrote to standard error.
    """

    exercise: str
    tasks: tuple[Report, ...]
    errors: tuple[tuple[int, str], ...]
    stopped: str | None
    unchecked: tuple[str, ...]
    stderr: tuple[tuple[int, str], ...] = ()

    @property
    def passed(self) -> bool:
        """True when every check cell ran and every task in it passed."""
        return bool(self.tasks) and not self.unchecked and all(task.passed for task in self.tasks)

    @property
    def unsolved(self) -> tuple[str, ...]:
        """What is not solved: for each such task its first check not passed; then checks without a verdict."""
        lines = []
        for task in self.tasks:
            failed = [outcome for outcome in task.outcomes if not outcome.passed]
            if failed:
                unwritten = failed[0].failure is Failure.NOT_WRITTEN
                lines.append(f"task {task.task}: {'not written yet' if unwritten else failed[0].title}")
        lines += [
            f"run again the cell {grade_id}, which gave no verdict; it has to be a code cell"
            for grade_id in self.unchecked
        ]
        return tuple(lines)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the checks."""
        found = [f"cell {number} raised {error}" for number, error in self.errors]
        found += [self.stopped] if self.stopped else []
        return tuple(found + [f"check {grade_id} gave no verdict" for grade_id in self.unchecked])

    def __str__(self) -> str:
        lines = []
        for task in self.tasks:
            word = "passed " if task.passed else "not yet"
            lines.append(f"[{word}] Task {task.task}")
            failed = [outcome for outcome in task.outcomes if not outcome.passed]
            if failed and all(outcome.failure is Failure.NOT_WRITTEN for outcome in failed):
                lines.append(f"  {failed[0].yours}")
            else:
                lines += [str(outcome) for outcome in failed]
        lines += [f"! {warning}" for warning in self.warnings]
        done = sum(task.passed for task in self.tasks)
        lines.append(f"{self.exercise}: {done} of {len(self.tasks) + len(self.unchecked)} tasks passed")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        tasks = [
            {
                "task": task.task,
                "passed": task.passed,
                "checks": [vars(outcome) for outcome in task.outcomes],
            }
            for task in self.tasks
        ]
        return {"exercise": self.exercise, "passed": self.passed, "tasks": tasks, "warnings": list(self.warnings)}


def run_checks(
    exercise: str,
    cells: tuple[Cell, ...],
    *,
    folder: Path,
    timeout_s: float = 120.0,
    on_cell: Callable[[], object] = lambda: None,
) -> PracticeResult:
    """Run all code cells in order and collect the verdicts of the check cells.

    Args:
        exercise: the exercise's name.
        cells: the notebook's cells.
        folder: the folder to run in, usually the notebook's.
        timeout_s: wall time for the whole notebook, seconds.
        on_cell: called after each finished cell, for a progress bar.

    Returns:
        The result; a notebook that dies or hangs keeps the verdicts given before.
    """
    code = [cell for cell in cells if cell.kind == "code"]
    events, ending = _run(code, folder=folder, timeout_s=timeout_s, on_cell=on_cell)
    finished = {event["finished"]: event for event in events if "finished" in event}
    started = [event["started"] for event in events if "started" in event]
    stopped = None
    if len(finished) < len(code):
        where = f"cell {started[-1]}" if started else "its start"
        stopped = f"{ending} at {where}; later cells did not run"
    # a check cell that was turned into text is missing; an answer in text is read by a person
    graded = [cell for cell in cells if cell.graded and not (cell.solution and cell.kind != "code")]
    silent = [cell for cell in graded if not finished.get(cell.number, {}).get("reports")]
    return PracticeResult(
        exercise=exercise,
        tasks=tuple(read_report(row) for cell in graded for row in finished.get(cell.number, {}).get("reports", [])),
        errors=tuple((number, event["error"]) for number, event in sorted(finished.items()) if event["error"]),
        stopped=stopped,
        unchecked=tuple(cell.grade_id or f"in cell {cell.number}" for cell in silent),
        stderr=tuple((number, event["stderr"]) for number, event in sorted(finished.items()) if event["stderr"]),
    )


def _run(
    code: list[Cell], *, folder: Path, timeout_s: float, on_cell: Callable[[], object]
) -> tuple[list[dict[str, Any]], str]:
    """Run the cells in a child; return its events, and how it ended in words."""
    read_fd, write_fd = os.pipe()
    # plots need no screen; IPython's history and configuration stay out of the student's home
    with tempfile.TemporaryDirectory(prefix="course-check-") as scratch, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "course_utils.exercises.cell_runner", str(write_fd)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=[write_fd],
            cwd=folder,
            env=os.environ | {"MPLBACKEND": "agg", "IPYTHONDIR": scratch},
            start_new_session=True,
            text=True,
        )
        os.close(write_fd)
        timed_out: list[bool] = []

        def stop() -> None:
            timed_out.append(True)
            _kill_group(child.pid)

        watchdog = Timer(timeout_s, stop)
        watchdog.start()
        try:
            events = _follow(child, code, read_fd, on_cell)
            child.wait()
        finally:
            watchdog.cancel()
            _kill_group(child.pid)
            child.wait()
        errors.seek(0)
        last_lines = errors.read().strip().splitlines()[-1:]
    if timed_out:
        return events, f"not finished within {timeout_s:g} s and stopped"
    return events, f"the notebook's process ended (exit {child.returncode})" + "".join(
        f", {line}" for line in last_lines
    )


def _follow(
    child: subprocess.Popen[str], code: list[Cell], read_fd: int, on_cell: Callable[[], object]
) -> list[dict[str, Any]]:
    assert child.stdin is not None
    with open(read_fd, encoding="utf-8") as stream:
        try:
            json.dump([[cell.number, cell.source] for cell in code], child.stdin)
            child.stdin.close()
        except BrokenPipeError:
            return []
        events: list[dict[str, Any]] = []
        for line in stream:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue  # the child died in the middle of a line
            events.append(event)
            if "finished" in event:
                on_cell()
    return events


def _kill_group(pid: int) -> None:
    """End the child and what it started; it leads a process group of its own."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
