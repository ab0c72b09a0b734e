"""Put what was handed in where nbgrader has it: submitted/STUDENT/EXERCISE/EXERCISE.ipynb."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from course_utils.grading.reading.collect import Collected
from course_utils.grading.reading.handed_in import CannotReadError
from course_utils.grading.result_files import folder_name, write_below
from course_utils.sandbox.limits import Limits


def put_into_submitted(root: Path, name: str, rows: Sequence[Collected], limits: Limits) -> int:
    """Copy what a learning platform's zip or a folder holds, byte for byte, under the names that nbgrader expects.

    Args:
        root: the course's root.
        name: the exercise's name.
        rows: what was collected; who handed in nothing that can be read gets no file.
        limits: `submission_bytes` bounds what is copied of one file.

    Returns:
        How many files were written.

    Raises:
        ValueError: when a folder on the way is a link.
    """
    written = 0
    for row in rows:
        if row.file is None:
            continue
        with suppress(CannotReadError):
            data = row.file.read(limits.submission_bytes)
            write_below(root, ("submitted", folder_name(row.student), name, f"{name}.ipynb"), data)
            written += 1
    return written
