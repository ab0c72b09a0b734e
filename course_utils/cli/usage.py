"""What commands require before they begin, and the error of wrong usage."""

from __future__ import annotations

import os
from pathlib import Path

from course_utils.exercises.course import Exercise, find_course_root, find_exercise


class UsageError(Exception):
    """Something the user asked for cannot be done; the message is one sentence that says what to do. Exit code 2."""


def require_course() -> Path:
    """Find the course's root.

    Raises:
        UsageError: when this is no course.
    """
    try:
        return find_course_root()
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error


def require_exercise(asked: str) -> tuple[Path, Exercise]:
    """Find the course's root and one of its exercises.

    Raises:
        UsageError: when this is no course, or there is no such exercise.
    """
    root = require_course()
    try:
        return root, find_exercise(root, asked)
    except LookupError as error:
        raise UsageError(error.args[0]) from error


def require_target(path: Path, what: str) -> None:
    """Make sure that a file can be written, before the work that it is to hold begins.

    Raises:
        UsageError: when its folder is not there or is read-only, or the path is a folder itself.
    """
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"{what} cannot be written to {path}: there is no folder {folder}; make it, or name another")
    if path.is_dir():
        raise UsageError(f"{what} cannot be written to {path}: it is a folder; name a file in it")
    require_writable(folder, what)


def require_writable(folder: Path, what: str) -> None:
    """Make sure that a folder takes new files.

    Raises:
        UsageError: when it does not.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{what} cannot be written: {folder} is read-only; use another folder, or change its rights")


def require_torch() -> None:
    """Load torch, or say in one sentence that it is not there.

    Raises:
        UsageError: when torch is missing or does not load.
    """
    try:
        import torch  # noqa: F401
    except (ImportError, OSError) as error:
        first_line = (str(error).splitlines() or ["no reason given"])[0]
        raise UsageError(f"torch does not load ({first_line}); run `make lab`, which installs it") from error
