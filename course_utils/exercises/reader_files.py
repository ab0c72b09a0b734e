"""What a reader gets of the course beside the package: lessons, exercises and the pages that they link to.

In a clone these files are in the repository; a built package carries them inside itself (`scripts/package_files.py`
puts them there), so that `course start` can lay them out where nothing but the package is installed.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from course_utils.data.package import FOLDER
from course_utils.exercises.course import is_course_root
from course_utils.reporting.errors import CourseError
from course_utils.reporting.files import write_file
from course_utils.reporting.near_names import suggest

# patterns below the course's root
BESIDE_LESSONS = "notebooks/*/**/*"  # what lessons read, such as the capstone's script
READER_FILES = (
    "README.md",
    "LICENSE",
    "nbgrader_config.py",
    "notebooks/[0-9][0-9]_*.ipynb",
    BESIDE_LESSONS,
    "exercises/[0-9][0-9]_*/*.ipynb",
    "measured/*",  # times that other readers shared, for the figures of lessons
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


class LessonFilesError(CourseError):
    """What a lesson reads cannot be laid beside it."""


def bring_files(name: str, folder: Path | None = None) -> None:
    """Copy a folder that a lesson reads beside the lesson, where the notebook lies alone; what is there stays.

    Args:
        name: the folder's name in notebooks/, such as "capstone".
        folder: where the lesson runs; the current folder when None.

    Raises:
        LessonFilesError: when the course has no such folder, or the copy cannot be written; says what to do.
    """
    target = folder or Path.cwd()
    inside = {path.removeprefix("notebooks/"): source for path, source in reader_files().items()}
    wanted = {path: source for path, source in inside.items() if path.startswith(f"{name}/")}
    if not wanted:
        folders = {path.split("/")[0] for path in inside if "/" in path}
        raise LessonFilesError(f"no folder of the lessons is called {name!r}; {suggest(name, folders)}")
    try:
        lay_out(target, wanted)
    except OSError as error:
        raise LessonFilesError(
            f"{name} cannot be copied to {target} ({error.strerror}); move the notebook to a folder that you can write"
        ) from error
    importlib.invalidate_caches()  # a folder that did not exist a moment ago is found by `import`
