"""Grade the course's own solutions as if students had handed them in, with `course grade` and its sandbox.

    python -m scripts.grade_solutions --json grading.json

Each exercise gets a class of one student, who handed in the released notebook with the instructor's functions in it;
full points are expected. CI runs this on a Mac, where the sandbox is another one than on Linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_utils.exercises.course import exercise_names

ROOT = Path(__file__).resolve().parent.parent
STUDENT = "solved"
COMMAND = (sys.executable, "-m", "course_utils.cli", "grade")
TIMEOUT_S = 900


def is_written_by_students(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell holds a task's function, which the student writes."""
    grading = cell["metadata"].get("nbgrader", {})
    return bool(grading.get("solution")) and not grading.get("grade")


def handed_in(released: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """Make what a student hands in who solved every task.

    Args:
        released: the student's notebook.
        source: the instructor's notebook.

    Returns:
        The student's notebook with the instructor's code in the cells that students write.

    Raises:
        ValueError: when a cell that students write is not in the instructor's notebook; the message names it.
    """
    solutions = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in source["cells"]
        if is_written_by_students(cell)
    }
    cells = []
    for cell in released["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if not is_written_by_students(cell):
            cells.append(dict(cell))
        elif grade_id in solutions:
            cells.append({**cell, "source": solutions[grade_id]})
        else:
            raise ValueError(f"no solution for {grade_id}; generate the exercises again: make release")
    return {**released, "cells": cells}


def write_class(root: Path, into: Path) -> list[str]:
    """Write a class of one student for each exercise: into/EXERCISE/solved/EXERCISE.ipynb.

    Returns:
        The exercises' names.
    """
    names = list(exercise_names(root))
    for name in names:
        released, source = (
            json.loads((root / part / name / f"{name}.ipynb").read_text(encoding="utf-8"))
            for part in ("exercises", "solutions")
        )
        target = into / name / STUDENT / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_text(json.dumps(handed_in(released, source), indent=1), encoding="utf-8")
    return names


def grade(command: Sequence[str], name: str, folder: Path) -> dict[str, Any]:
    """Grade one exercise.

    Args:
        command: the program and its first arguments; the exercise and --from FOLDER are added.
        name: the exercise.
        folder: what was handed in.

    Returns:
        The exercise, the exit code (124 when it took longer than 15 minutes), and the last line that was said.
    """
    try:
        done = subprocess.run(
            [*command, name, "--from", str(folder)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return {"exercise": name, "exit_code": 124, "said": f"stopped after {TIMEOUT_S} s"}
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return {"exercise": name, "exit_code": done.returncode, "said": lines[-1] if lines else ""}


def main(arguments: Sequence[str] | None = None, command: Sequence[str] = COMMAND) -> int:
    """Grade every exercise.

    Returns:
        0 when every solution got full points, else 1.
    """
    parser = argparse.ArgumentParser(description="Grade the course's own solutions in the sandbox.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found to this file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="course-class-") as scratch:
        graded = []
        for name in write_class(ROOT, Path(scratch)):
            graded.append(grade(command, name, Path(scratch) / name))
            print("{exercise}: exit code {exit_code}, {said}".format(**graded[-1]))
    if options.json is not None:
        options.json.write_text(json.dumps(graded, indent=2) + "\n", encoding="utf-8")
    return 0 if all(entry["exit_code"] == 0 for entry in graded) else 1


if __name__ == "__main__":
    sys.exit(main())
