"""Write files whole or not at all, among them zips whose bytes depend on nothing but their content."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

# zip's earliest date: an archive made twice has the same bytes
DATE = (1980, 1, 1, 0, 0, 0)


def write_file(path: str | Path, content: str | bytes, *, dir_fd: int | None = None) -> None:
    """Write a file whole or not at all; a reader sees the old content or the new one.

    The content is written under another name in the same folder, which then replaces the file. A link of the same name
    is replaced, not followed.

    Args:
        path: the file; its folder has to exist.
        content: bytes, or text that is written as UTF-8.
        dir_fd: an open folder that a relative `path` starts from, as for `os.open`.

    Raises:
        OSError: when the folder cannot be written; nothing is left behind.
    """
    target = Path(path)
    new = target.with_name(f".{os.urandom(8).hex()}.new")
    # O_EXCL: a new file, never one that somebody else made or linked to
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=dir_fd)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
        os.replace(new, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=dir_fd)
        raise


def write_zip(files: Mapping[str, bytes], output: Path) -> None:
    """Write a zip with fixed dates, order and rights, whole or not at all.

    Args:
        files: the content of each file by its path in the archive.
        output: the zip.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the rights count on every system that packs
            entry.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
            archive.writestr(entry, content)
    write_file(output, data.getvalue())
