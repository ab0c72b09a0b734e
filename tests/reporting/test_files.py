"""Files are written whole or not at all, and the same content of a zip gives the same bytes."""

import os
import zipfile

import pytest

from course_utils.reporting.files import write_file, write_zip

FILES = {"b/page.html": b"<p>x</p>", "a/run.sh": b"#!/bin/sh\n"}


def test_same_content_same_bytes(tmp_path):
    """Neither the order of the files nor the time of writing is in the bytes."""
    write_zip(FILES, tmp_path / "one.zip")
    write_zip(dict(reversed(FILES.items())), tmp_path / "two.zip")

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_files_and_rights(tmp_path):
    """Each file has its content, and scripts alone may be run."""
    write_zip(FILES, tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        found = {entry.filename: (archive.read(entry), entry.external_attr >> 16 & 0o777) for entry in archive.filelist}

    assert found == {"a/run.sh": (FILES["a/run.sh"], 0o755), "b/page.html": (FILES["b/page.html"], 0o644)}


def test_failed_write_leaves_what_was_there(tmp_path):
    """When the writing stops, the old archive is as it was, and no other file is left."""
    output = tmp_path / "one.zip"
    output.write_bytes(b"old")

    with pytest.raises(TypeError):
        write_zip({"a": b"x", "b": None}, output)

    assert output.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["one.zip"]


@pytest.mark.parametrize("content", ["ä 1\n", b"\x00\xff"])
def test_text_and_bytes_are_written(tmp_path, content):
    """Text is UTF-8 without other line ends, and everybody may read the file."""
    path = tmp_path / "file"
    path.write_text("old")
    write_file(path, content)

    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert path.stat().st_mode & 0o400
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_is_replaced_not_followed(tmp_path):
    """What a link of that name pointed to keeps its content."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("keep")
    link.symlink_to(target)
    write_file(link, "new")

    assert (target.read_text(), link.read_text(), link.is_symlink()) == ("keep", "new", False)


def test_below_an_open_folder(tmp_path):
    """A relative path starts from the open folder, and a failure there leaves nothing."""
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        write_file("file", "text", dir_fd=number)
        (tmp_path / "folder").mkdir()
        with pytest.raises(IsADirectoryError):
            write_file("folder", "text", dir_fd=number)
    finally:
        os.close(number)

    assert (tmp_path / "file").read_text() == "text"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_missing_folder_is_an_error(tmp_path):
    """The folder is not made."""
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "none" / "file", "text")
