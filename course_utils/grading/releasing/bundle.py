"""The archive that students get: the course without solutions, hidden tests and what only its makers need."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from course_utils.exercises.reader_files import READER_FILES, STUDENT_TOOLS, find_files
from course_utils.grading.releasing.release import generate, source_names
from course_utils.reporting.files import write_zip

FOLDER = "pytorch-apple-silicon-course"


def collect_files(root: Path) -> dict[str, bytes]:
    """Collect what goes into the archive.

    Args:
        root: the course's root, with solutions/.

    Returns:
        The content of each file by its path in the archive, below FOLDER, in order.

    Raises:
        GenerationError: when nbgrader does not make an exercise.
    """
    found = find_files(
        root, tuple(pattern for pattern in READER_FILES if not pattern.startswith("exercises/")) + STUDENT_TOOLS
    )
    files = {name: path.read_bytes() for name, path in found.items()}
    with tempfile.TemporaryDirectory(prefix="course-bundle-") as scratch:
        generate(root, source_names(root), Path(scratch))
        for path in Path(scratch).rglob("*"):
            if path.is_file():
                files[path.relative_to(scratch).as_posix()] = path.read_bytes()
    return dict(sorted(files.items()))


def write_archive(files: Mapping[str, bytes], output: Path) -> None:
    """Write the students' archive, below FOLDER."""
    write_zip({f"{FOLDER}/{path}": data for path, data in files.items()}, output)
