"""Put what was handed in where nbgrader has it: submitted/STUDENT/EXERCISE/EXERCISE.ipynb."""

from __future__ import annotations

from pathlib import Path

from course_utils.grading.result_files import folder_name, write_below
from course_utils.reporting.errors import CourseError, sentence


class SubmittedFolder:
    """Copies what a learning platform's zip or a folder holds, byte for byte, under the names that nbgrader expects.

    Args:
        root: the course's root.
        name: the exercise's name.

    Attributes:
        written: how many files were written.
        failure: why a file was not written, one sentence; empty when all were. Nothing is written after a failure.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name
        self.written = 0
        self.failure = ""

    def keep(self, student: str, data: bytes) -> None:
        """Write one student's file; no link is followed on the way."""
        if self.failure:
            return
        try:
            write_below(self.root, ("submitted", folder_name(student), self.name, f"{self.name}.ipynb"), data)
        except (CourseError, OSError) as error:
            self.failure = sentence(error)
        else:
            self.written += 1
