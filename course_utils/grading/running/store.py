"""The results folder: one JSON file for each student, written whole or not at all.

graded/ASSIGNMENT/STUDENT.json
"""

from __future__ import annotations

from pathlib import Path

from course_utils.grading.result import SubmissionResult, read_result
from course_utils.grading.result_files import file_name, write_below


def result_path(folder: Path, student: str) -> Path:
    """Return a student's file, which is called as the student's page beside it."""
    return folder / f"{file_name(student)}.json"


def load_result(folder: Path, student: str) -> SubmissionResult | None:
    """Read a student's result; None when there is none or it cannot be read."""
    try:
        result = read_result(result_path(folder, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.student == student else None


def load_results(folder: Path) -> tuple[SubmissionResult, ...]:
    """Read all results of an exercise, in the order of the students' ids; what cannot be read is left out."""
    found = []
    for path in folder.glob("*.json"):
        try:
            result = read_result(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if result_path(folder, result.student) == path:
            found.append(result)
    return tuple(sorted(found, key=lambda result: result.student))


def store_result(folder: Path, result: SubmissionResult) -> None:
    """Write a student's result in place of the one before."""
    write_text(folder, result_path(folder, result.student).name, result.to_json() + "\n")


def forget_result(folder: Path, student: str) -> None:
    """Remove a student's result, so that it does not stand for what is not graded yet."""
    result_path(folder, student).unlink(missing_ok=True)


def write_text(folder: Path, name: str, text: str) -> None:
    """Write a file in one step: a reader sees the old text or the new one, also when this process ends meanwhile."""
    # a lone surrogate can stand in what a student's code raised
    write_below(folder, (name,), text.encode("utf-8", "backslashreplace"))
