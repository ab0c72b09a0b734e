"""When submissions were handed in, from the timestamp.txt that nbgrader's exchange leaves beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from course_utils.grading.result_files import folder_name

_LONGEST = 100


def read_handed_in(submitted: Path, name: str, students: Iterable[str]) -> dict[str, str]:
    """Read the times of an exercise's submissions, for `write_results`.

    The file is in the student's hands: it is a claim, no link is followed, and only its first 100 bytes are read.

    Args:
        submitted: the folder with one folder for each student.
        name: the exercise's name.
        students: the students' ids.

    Returns:
        The text of each timestamp.txt, by student; who has none is not in it.
    """
    times = {}
    for student in students:
        try:
            number = os.open(submitted / folder_name(student) / name / "timestamp.txt", os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        with os.fdopen(number, "rb") as file:
            times[student] = file.read(_LONGEST).decode("utf-8", "replace").strip()
    return times
