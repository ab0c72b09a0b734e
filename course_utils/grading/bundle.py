"""The archive that students get: the course without solutions, hidden tests and what only its makers need."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from course_utils.grading.release import generate, source_names

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
# zip's earliest date: an archive made twice has the same bytes
DATE = (1980, 1, 1, 0, 0, 0)


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
    """Write a zip with fixed dates, order and rights; a broken-off write leaves no file behind."""
    handle, name = tempfile.mkstemp(prefix=f".{output.name}-", dir=output.resolve().parent)
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for path, data in sorted(files.items()):
                entry = zipfile.ZipInfo(f"{FOLDER}/{path}", DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, so that the rights count on every system that packs
                entry.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
                archive.writestr(entry, data)
        scratch.chmod(0o644)
        scratch.replace(output)
    finally:
        scratch.unlink(missing_ok=True)
