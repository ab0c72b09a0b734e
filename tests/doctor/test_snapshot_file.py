"""A snapshot survives its journey as JSON; whatever else a file holds is one sentence."""

import dataclasses
import json

import pytest
from support.described_machines import MAC
from support.found import found
from support.reported_machines import MACHINES

from course_utils.doctor import Snapshot, SnapshotError, Variable, from_json, read_snapshot


def test_json_and_back():
    """Writing and reading a snapshot gives an equal one."""
    for machine in found(MACHINES):
        assert from_json(machine.snapshot.to_json()) == machine.snapshot


def test_missing_fields_are_unknown():
    """A snapshot that says little is read, and the rest is None."""
    assert from_json('{"kind": "course-snapshot", "format": 1, "system": "Darwin"}') == Snapshot(system="Darwin")


def written(**changes):
    """Write a snapshot's JSON with some fields changed."""
    return json.dumps(json.loads(MAC.to_json()) | changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("not json", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a snapshot"),
        ("{}", "not a snapshot"),
        ('{"cells": []}', "not a snapshot"),
        ('{"kind": "course-snapshot"}', "format is None"),
        (written(format="1"), "format is '1'"),
        (written(format=True), "format is True"),
        (written(format=0), "format is 0"),
        (written(format=3), "update the course"),
        (written(format=10**400), "update the course"),
        (written(memory_bytes=10**400), "'memory_bytes' is 1000.*a whole number from 0 to"),
        (written(memory_bytes=-1), "whole number"),
        (written(disk_free_bytes=2**63), "whole number"),
        (written(chip="M" * 2001), "at most 2000 characters"),
        (written(torch_copies=[{"folder": "/x", "version": "2.1", "via": "magic"}]), "'torch_copies'"),
        (written(**{"x" * 5000: 1}), "does not know"),
        (written(machin="arm64"), '"machin".*nearest: machine'),
        (written(translated="yes"), "'translated' is \"yes\".*true or false"),
        (written(memory_bytes=True), "whole number"),
        (written(memory_bytes=1.5), "whole number"),
        (written(system=["Darwin"]), "printable text"),
        (written(mps_state="fine"), "one of 'usable'"),
        (written(torch_import="exploded"), "one of 'ok'"),
        (written(openmp="libomp.dylib"), "a list"),
        (written(variables=[{"name": "A"}]), "'variables'"),
        (written(variables=[{"name": "A", "value": 1}]), "'variables'"),
        (written(chip="\x1b[2Jclean"), "printable text"),
        (written(chip="a\nb"), "printable text"),
    ],
)
def test_foreign_text_is_one_sentence(text, words):
    """What is not a snapshot is refused in one sentence that names the value and what was expected."""
    with pytest.raises(SnapshotError, match=words) as refused:
        from_json(text)
    assert "\n" not in str(refused.value)


def test_unreadable_files_are_one_sentence(tmp_path):
    """A missing file, a folder, bytes that are no text and a huge file are refused by name."""
    binary, huge = tmp_path / "binary", tmp_path / "huge"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    huge.write_bytes(b" " * 1_000_001)
    for path, words in (
        (tmp_path / "gone", "not a file"),
        (tmp_path, "not a file"),
        (binary, "not text"),
        (huge, "larger"),
    ):
        with pytest.raises(SnapshotError, match=words) as refused:
            read_snapshot(path)
        assert str(path) in str(refused.value)


def test_file_with_a_byte_order_mark(tmp_path):
    """A file that an editor saved with a byte order mark is read."""
    path = tmp_path / "machine.json"
    path.write_text(MAC.to_json(), encoding="utf-8-sig")
    assert read_snapshot(path) == MAC


def test_a_snapshot_prints_what_is_unknown():
    """Unknown fields are printed as unknown, in text and in HTML."""
    snapshot = Snapshot(system="Darwin", chip="<b>", variables=(Variable("A", "1"),))

    assert ["os_version", "unknown"] in [line.split() for line in str(snapshot).splitlines()]
    assert "A=1" in str(snapshot)
    assert "&lt;b&gt;" in snapshot._repr_html_()


def test_frozen():
    """A snapshot cannot be changed, only replaced."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        MAC.system = "Linux"
