"""List the files that students handed in, in a folder or a zip, and read one of them, without trusting any of it.

Links are never followed, only regular files are opened, nothing is ever unpacked to disk, and no more of a file is read
than the limit allows, whatever size it claims.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from course_utils.grading.reading.notebook_bytes import too_large
from course_utils.reporting.errors import CourseError

MOST_FILES = 200_000
MOST_DEPTH = 12
# the list of names in a student's own zip: about a hundred bytes a file
MOST_INDEX_BYTES = 1024**2
_FIRST_BYTES = b"PK\x03\x04"
_END_OF_INDEX, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x07"
_IGNORED = ("__MACOSX",)


class CollectError(CourseError, ValueError):
    """A folder or zip that cannot be taken as a whole; the message is one sentence."""


class CannotReadError(CourseError, ValueError):
    """A file that cannot be read; the message is one sentence."""


@dataclass(frozen=True)
class HandedIn:
    """One file that was handed in.

    Args:
        parts: the names of the folders that lead to it, then its own.
        size_bytes: the size it claims to have.
        modified_s: when it was last changed, seconds since 1970; 0 where that is not known.
        refused: why it is not read, such as "is a link, which is not followed"; else empty.
        fetch: reads at most so many of its bytes.
    """

    parts: tuple[str, ...]
    size_bytes: int
    modified_s: float
    refused: str = ""
    fetch: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)

    def read(self, limit_bytes: int) -> bytes:
        """Read the file.

        Raises:
            CannotReadError: when it is refused, broken, or larger than the limit.
        """
        if self.refused:
            raise CannotReadError(f"{self.parts[-1]} {self.refused}")
        if self.size_bytes > limit_bytes:
            raise CannotReadError(too_large(self.size_bytes, limit_bytes))
        try:
            data = self.fetch(limit_bytes + 1)
        except OSError as error:
            raise CannotReadError(f"{self.parts[-1]} cannot be read: {error.strerror or error}") from error
        except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError) as error:
            raise CannotReadError(f"{self.parts[-1]} is broken inside its zip; hand in again") from error
        if len(data) > limit_bytes:
            raise CannotReadError(too_large(len(data), limit_bytes))
        return data


@dataclass(frozen=True)
class Listing:
    """What a folder or a zip holds.

    Args:
        files: the files, and what is refused, in the order of their names.
        folders: the folders, each as the names that lead to it.
        hidden: hidden files in folders that are not hidden, which are never read.
    """

    files: tuple[HandedIn, ...]
    folders: tuple[tuple[str, ...], ...]
    hidden: tuple[tuple[str, ...], ...] = ()


def is_ignored(name: str) -> bool:
    """Return whether a file or folder is an operating system's or an editor's own: checkpoints, .DS_Store, __MACOSX."""
    return name.startswith(".") or name in _IGNORED


def list_path(path: Path) -> Listing:
    """List a folder, a zip, or a single file.

    Raises:
        CollectError: when it is not there, cannot be opened, or holds a name that leads out of it.
    """
    if path.is_dir():
        return list_folder(path)
    if not path.is_file():
        raise CollectError(f"there is no folder, zip or notebook {path}")
    if zipfile.is_zipfile(path):
        return list_zip(_open_zip(path, str(path)), str(path))
    with path.open("rb") as file:
        packed = file.read(len(_FIRST_BYTES)) == _FIRST_BYTES
    if packed or path.suffix.lower() == ".zip":
        raise CollectError(f"{path} is not a whole zip: its list of files is missing at the end; download it again")
    return Listing((_regular(path, (path.name,)),), ())


def list_folder(root: Path) -> Listing:
    """List all files below a folder; links and devices are listed as refused.

    Raises:
        CollectError: when there are too many.
    """
    files: list[HandedIn] = []
    folders: list[tuple[str, ...]] = []
    hidden: list[tuple[str, ...]] = []
    unlisted: list[tuple[str, ...]] = [()]
    while unlisted:
        place = unlisted.pop()
        try:
            entries = list(os.scandir(root.joinpath(*place)))
        except OSError as error:
            if not place:
                raise CollectError(f"{root} cannot be read: {error.strerror}") from error
            files.append(HandedIn(place, 0, 0.0, f"cannot be read: {error.strerror}"))
            continue
        for entry in entries:
            parts = (*place, entry.name)
            if is_ignored(entry.name):
                hidden.append(parts)
                continue
            if entry.is_symlink():
                files.append(HandedIn(parts, 0, 0.0, "is a link, which is not followed"))
            elif not entry.is_dir(follow_symlinks=False):
                files.append(_regular(Path(entry.path), parts))
            elif len(parts) >= MOST_DEPTH:
                files.append(HandedIn(parts, 0, 0.0, "is nested too deep"))
            else:
                folders.append(parts)
                unlisted.append(parts)
        if len(files) + len(folders) > MOST_FILES:
            (largest, _), *_ = Counter(parts[0] for parts in [*folders, *(file.parts for file in files)]).most_common(1)
            raise CollectError(
                f"{root} holds more than {MOST_FILES:,} files, most of them in {largest}; leave that out"
            )
    return Listing(tuple(sorted(files, key=lambda file: file.parts)), tuple(sorted(folders)), tuple(sorted(hidden)))


def _regular(path: Path, parts: tuple[str, ...]) -> HandedIn:
    try:
        status = path.lstat()
    except OSError as error:
        return HandedIn(parts, 0, 0.0, f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):
        return HandedIn(parts, 0, 0.0, "is no regular file")

    def fetch(most: int) -> bytes:
        # what was a file when it was listed may be a link or a pipe by now: neither follow nor wait
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no regular file")
            return file.read(most)

    return HandedIn(parts, status.st_size, status.st_mtime, "", fetch)


def list_zip(archive: zipfile.ZipFile, name: str) -> Listing:
    """List the files of a zip.

    Args:
        archive: the open zip.
        name: what to call it in a sentence.

    Raises:
        CollectError: when a name in it leads out of it, or there are too many.
    """
    members = {info.filename: info for info in archive.infolist()}
    if len(members) > MOST_FILES:
        raise CollectError(f"{name} holds more than {MOST_FILES:,} files; is it the right zip?")
    files: list[HandedIn] = []
    folders: set[tuple[str, ...]] = set()
    hidden: set[tuple[str, ...]] = set()
    for info in members.values():
        parts = _member_parts(info.filename, name)
        if any(map(is_ignored, parts)):
            # the folder above is a student's all the same
            depth = next(place for place, part in enumerate(parts) if is_ignored(part))
            hidden.add(parts[: depth + 1])
            folders |= {parts[:length] for length in range(1, min(depth, MOST_DEPTH) + 1)}
            continue
        if not parts:
            continue
        above = parts if info.is_dir() else parts[:-1]
        folders |= {above[:depth] for depth in range(1, min(len(above), MOST_DEPTH) + 1)}
        if not info.is_dir():
            files.append(_member(archive, info, parts))
    return Listing(tuple(sorted(files, key=lambda file: file.parts)), tuple(sorted(folders)), tuple(sorted(hidden)))


def _member_parts(filename: str, name: str) -> tuple[str, ...]:
    path = filename.replace("\\", "/")  # some programs on Windows write their own separator
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or path[1:2] == ":":
        raise CollectError(f"{name} holds the name {filename[:100]!r}, which leads out of it; nothing of it is read")
    return parts


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: tuple[str, ...]) -> HandedIn:
    mode = info.external_attr >> 16
    refused = ""
    if stat.S_ISLNK(mode):
        refused = "is a link, which is not followed"
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        refused = "is no regular file"
    elif info.flag_bits & 1:
        refused = "is encrypted inside its zip; hand in again without a password"
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # the others may ask for gigabytes before the first byte comes out
        refused = "is packed in an unusual way inside its zip; hand in again"
    elif len(parts) > MOST_DEPTH:
        refused = "is nested too deep"

    def fetch(most: int) -> bytes:
        with archive.open(info) as file:
            return file.read(most)

    try:
        modified_s = datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError):
        modified_s = 0.0
    return HandedIn(parts, info.file_size, modified_s, refused, fetch)


def list_zip_inside(outer: HandedIn, limit_bytes: int) -> Listing:
    """List the files of a student's own zip; their parts begin with the zip's.

    Raises:
        CannotReadError: when it is refused, broken, larger than the limit, or holds a name that leads out of it.
    """
    name = outer.parts[-1]
    try:
        inside = list_zip(_open_index(outer.read(limit_bytes), name), name)
    except CollectError as error:
        raise CannotReadError(str(error)) from error

    def fetch_again(parts: tuple[str, ...]) -> Callable[[int], bytes]:
        # the zip is not kept in memory: a class may hand in thousands
        def fetch(most: int) -> bytes:
            again = list_zip(_open_index(outer.read(limit_bytes), name), name)
            return next(file for file in again.files if file.parts == parts).fetch(most)

        return fetch

    files = [
        HandedIn(outer.parts + file.parts, file.size_bytes, file.modified_s, file.refused, fetch_again(file.parts))
        for file in inside.files
    ]
    return Listing(tuple(files), tuple(outer.parts + folder for folder in inside.folders))


def _open_index(data: bytes, name: str) -> zipfile.ZipFile:
    """Open a zip in memory, after a look at the size of its list of names, all of which Python reads at once."""
    end = data.rfind(_END_OF_INDEX)
    size_bytes = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    # the 64-bit form states its size elsewhere; nobody needs it for a homework
    if size_bytes > MOST_INDEX_BYTES or _LOCATOR_64 in data[max(end - 20, 0) : max(end, 0)]:
        raise CollectError(f"{name} lists more files than are read; hand in the notebook alone")
    return _open_zip(io.BytesIO(data), name)


def _open_zip(file: Path | io.BytesIO, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise CollectError(f"{name} is not a zip that can be opened ({error})") from error
