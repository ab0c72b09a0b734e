"""One archive of what a reader shares: every file in it is anonymous text, to look into before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from course_utils.doctor.anonymous import Sender, anonymous, anonymous_json, anonymous_xml
from course_utils.reporting.files import write_zip

LONGEST_BYTES = 5_000_000  # of one file; a run of tests prints less


def shared_text(content: bytes, sender: Sender) -> str:
    """Return the content of a file as it may be shared: a JSON or XML document stays one.

    Args:
        content: what a step wrote; its middle is cut out where it is longer than any step writes.
        sender: whom it must not name.
    """
    text = content.decode("utf-8", "replace")
    if len(content) > LONGEST_BYTES:
        half = LONGEST_BYTES // 2
        text = f"{text[:half]}\n... cut out here: the file has {len(content)} bytes ...\n{text[-half:]}"
    for document in (anonymous_json, anonymous_xml):
        with suppress(ValueError, RecursionError):  # it is no such document
            return document(text, sender)
    return anonymous(text, sender)


def write_archive(files: Mapping[str, bytes], archive: Path, sender: Sender) -> None:
    """Write files into an archive, each without names, hosts and paths.

    Args:
        files: what to pack, by name; the folder in the archive is called as the archive.
        archive: the zip.
        sender: whom it must not name.

    Raises:
        OSError: when the archive cannot be written.
    """
    packed = {f"{archive.stem}/{name}": shared_text(content, sender).encode() for name, content in files.items()}
    write_zip(packed, archive)
