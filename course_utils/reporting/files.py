"""Write a zip whose bytes depend on nothing but its content: fixed dates, order and rights."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

# zip's earliest date: an archive made twice has the same bytes
DATE = (1980, 1, 1, 0, 0, 0)


def write_zip(files: Mapping[str, bytes], output: Path) -> None:
    """Write a zip at once or not at all; a broken-off write leaves no file behind.

    Args:
        files: the content of each file by its path in the archive.
        output: the zip.
    """
    handle, name = tempfile.mkstemp(prefix=f".{output.name}-", dir=output.resolve().parent)
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for path, data in sorted(files.items()):
                entry = zipfile.ZipInfo(path, DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, so that the rights count on every system that packs
                entry.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
                archive.writestr(entry, data)
        scratch.chmod(0o644)
        scratch.replace(output)
    finally:
        scratch.unlink(missing_ok=True)
