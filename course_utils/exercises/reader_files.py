"""What a reader gets of the course beside the package: lessons, exercises and the pages that they link to.

In a clone these files are in the repository; a built package carries them inside itself (`scripts/package_files.py`
puts them there), so that `course start` can lay them out where nothing but the package is installed.
"""

from __future__ import annotations

from pathlib import Path

from course_utils.data.package import FOLDER
from course_utils.exercises.course import is_course_root
from course_utils.reporting.files import write_file

# patterns below the course's root
READER_FILES = (
    "README.md",
    "LICENSE",
    "nbgrader_config.py",
    "notebooks/[0-9][0-9]_*.ipynb",
    "notebooks/*/**/*",  # what lessons read, such as the capstone's script
    "exercises/[0-9][0-9]_*/*.ipynb",
    "docs/*.md",
    "docs/*.png",
    "docs/*.svg",
)
# what a student's archive holds beside them: the package and its set-up
STUDENT_TOOLS = (
    "CONTRIBUTING.md",
    "Makefile",
    "environment.yml",
    "pyproject.toml",
    "benchmarks/README.md",
    "course_utils/**/*",
    "scripts/check_python.py",
    "scripts/list_requirements.py",
    "scripts/package_files.py",
    "scripts/setup_environment.sh",
)
# where a built package holds them
PACKED = FOLDER / "reader_files"


def find_files(root: Path, patterns: tuple[str, ...]) -> dict[str, Path]:
    """Return the files below a folder that match one of the patterns, by their path below it, in order.

    Hidden files and folders, and what Python compiled, are left out.
    """
    found = {
        path.relative_to(root).as_posix(): path
        for pattern in patterns
        for path in root.glob(pattern)
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
    }
    return dict(sorted(found.items()))


def reader_files() -> dict[str, Path]:
    """Return the reader's files by their path in the course: the package's own, else those of the clone around it.

    Raises:
        FileNotFoundError: when neither is there, as in a package that was built from incomplete sources.
    """
    source = PACKED if is_course_root(PACKED) else FOLDER.parent
    found = find_files(source, READER_FILES) if is_course_root(source) else {}
    if not found:
        raise FileNotFoundError("this installation of the course holds no lessons; install it again")
    return found


def lay_out(folder: Path, files: dict[str, Path]) -> tuple[str, ...]:
    """Copy the reader's files into a folder, which is made; files that are there already stay as they are.

    Args:
        folder: where the course goes.
        files: what to copy, by path below the folder.

    Returns:
        The paths that were there and differ from the course's, in order.

    Raises:
        OSError: when the folder cannot be written.
    """
    kept = []
    for name, source in files.items():
        target, content = folder / name, source.read_bytes()
        if target.exists():
            kept += [] if target.is_file() and target.read_bytes() == content else [name]
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, content)
    return tuple(kept)
