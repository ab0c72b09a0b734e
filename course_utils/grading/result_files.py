"""Files about students: names that are safe and distinct, and writing that never follows a link."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from course_utils.reporting.errors import CourseError
from course_utils.reporting.files import write_file


class UnsafePathError(CourseError, ValueError):
    """A file cannot be written below a folder without leaving it; the message names the part."""


# no capitals: a Mac's disk holds "Ada" and "ada" to be the same name
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_@.+-]{0,63}")
_PORTS = {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
# the overview stands beside the students' pages, and Windows opens no file with the other names
_RESERVED = {"overview", "index", "con", "prn", "aux", "nul"} | _PORTS


def file_name(student: str) -> str:
    """Return a file name, without ending, that is safe on every system and distinct for each student.

    Args:
        student: the student's id, any text.

    Returns:
        The id itself where it is plain; otherwise what is plain in it, a tilde (which no plain id has) and 20 digits
        of the id's SHA-256.
    """
    if _PLAIN.fullmatch(student) and student.partition(".")[0] not in _RESERVED and not student.endswith("."):
        return student
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return f"{re.sub(r'[^A-Za-z0-9_@+-]+', '_', student)[:40].strip('_-') or 'student'}~{digest}"


def folder_name(student: str) -> str:
    """Return a student's folder in nbgrader's layout: the id itself, or `file_name` where no folder can have it."""
    one_folder = student.isprintable() and student not in ("", ".", "..") and not re.search(r"[/\\]", student)
    return student if one_folder and len(student.encode()) <= 255 else file_name(student)


def write_below(root: Path, parts: Sequence[str], data: bytes) -> Path:
    """Write a file below a folder, make the folders between, and follow no link on the way.

    The file appears whole: it is written under another name first. A link or file of the same name is replaced.

    Args:
        root: the folder to stay below; it is made when it is not there.
        parts: the names of the folders below it, then the file's name.
        data: the content.

    Returns:
        The file's path.

    Raises:
        UnsafePathError: when a part is not a plain name, or a folder on the way is a link or not a folder.
    """
    for part in parts:
        if part in ("", ".", "..") or re.search(r"[/\\\0]", part):
            raise UnsafePathError(f"{part!r} is no name of a file or folder; nothing was written")
    root.mkdir(parents=True, exist_ok=True)
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            here = _enter(here, part, root)
        write_file(parts[-1], data, dir_fd=here)
    finally:
        os.close(here)
    return root.joinpath(*parts)


def _enter(here: int, part: str, root: Path) -> int:
    """Open a folder in an open folder, made when it is not there, and close the outer one."""
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=here)
    try:
        inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
    except OSError as error:
        raise UnsafePathError(f"{part!r} below {root} is a link or no folder; remove it and write again") from error
    os.close(here)
    return inner
