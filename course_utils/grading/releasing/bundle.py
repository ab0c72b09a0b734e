"""The archive that students get: the course without solutions, hidden tests and what only its makers need."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from course_utils.grading.releasing.release import generate, source_names
from course_utils.reporting.files import write_zip

FOLDER = "pytorch-apple-silicon-course"
# what students get, as patterns below the course's root; exercises/ is generated anew and not copied
CONTENT = (
    "CONTRIBUTING.md",
    "README.md",
    "LICENSE",
    "Makefile",
    "environment.yml",
    "nbgrader_config.py",
    "pyproject.toml",
    "benchmarks/README.md",
    "course_utils/**/*",
    "docs/*",
    "notebooks/[0-9][0-9]_*.ipynb",
    "notebooks/*/**/*",  # what lessons read, such as the capstone's script
    "scripts/check_python.py",
    "scripts/list_requirements.py",
    "scripts/setup_environment.sh",
)


def collect_files(root: Path) -> dict[str, bytes]:
    """Collect what goes into the archive.

    Args:
        root: the course's root, with solutions/.

    Returns:
        The content of each file by its path in the archive, below FOLDER, in order.

    Raises:
        GenerationError: when nbgrader does not make an exercise.
    """
    found = {
        path.relative_to(root).as_posix(): path
        for pattern in CONTENT
        for path in root.glob(pattern)
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
    }
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
