"""The results folder: one JSON file for each student, written whole or not at all.

graded/ASSIGNMENT/STUDENT.json
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from course_utils.grading.result import SubmissionResult, read_result


def result_path(folder: Path, student: str) -> Path:
    """Name a student's file."""
    return folder / f"{student}.json"


def load_result(folder: Path, student: str) -> SubmissionResult | None:
    """Read a student's result; None when there is none or it cannot be read."""
    try:
        result = read_result(result_path(folder, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.student == student else None


def store_result(folder: Path, result: SubmissionResult) -> None:
    """Write a student's result in place of the one before."""
    write_whole(result_path(folder, result.student), result.to_json() + "\n")


def forget_result(folder: Path, student: str) -> None:
    """Remove a student's result, so that it does not stand for what is not graded yet."""
    result_path(folder, student).unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old text or the new one, also when this process ends meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        # a lone surrogate can stand in what a student's code raised
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
