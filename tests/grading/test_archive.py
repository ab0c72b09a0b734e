"""A zip of a class or a course: the same content gives the same bytes, and a broken-off write leaves nothing."""

import os
import zipfile

import pytest

from course_utils.reporting.files import write_zip

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
