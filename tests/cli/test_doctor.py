"""`course doctor` on described machines: exit codes, and output that any terminal can show."""

import json
import os
import subprocess
import sys

import pytest
from support.described_machines import LINUX, mac
from support.reported_machines import REPORTED

from course_utils.cli import main as cli


@pytest.mark.parametrize("machine", REPORTED, ids=lambda machine: machine.name)
def test_first_line_and_exit_code(machine, tmp_path, capsys):
    """The snapshot's file gives the exit code, and the first finding that is printed is the root cause."""
    path = tmp_path / "machine.json"
    path.write_text(machine.snapshot.to_json(), encoding="utf-8")

    assert cli.main(["doctor", "--snapshot", str(path)]) == machine.exit_code
    out = capsys.readouterr().out
    first = next((line for line in out.splitlines() if line.startswith(("[x] ", "[!] ", "[i] ")) and ": " in line), "")
    assert machine.root is None or f"({machine.root})" in out.split("known by")[0], first


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_terminal_that_knows_ascii_only(tmp_path, option):
    """An umlaut or a fox in a path is written as an escape where the terminal cannot show it, and JSON stays JSON."""
    folder = tmp_path / "Übung 🦊"
    folder.mkdir()
    path = folder / "machine.json"
    snapshot = mac(prefix="~/Übung/.venv", chip="Apple M3 🦊", kernel_executable="~/größe/bin/python")
    path.write_text(snapshot.to_json(), encoding="utf-8")
    command = [sys.executable, "-m", "course_utils.cli", "doctor", "--snapshot", str(path), *option]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)

    assert done.returncode == 1, done.stderr
    assert done.stderr == b""
    assert b"kernel-elsewhere" in done.stdout.decode("ascii").encode()
    if option:
        assert json.loads(done.stdout)["snapshot"]["prefix"] == "~/Übung/.venv"


def test_an_error_in_such_a_terminal(tmp_path):
    """A sentence on standard error is written with escapes too."""
    command = [sys.executable, "-m", "course_utils.cli", "doctor", "--snapshot", str(tmp_path / "größe.json")]
    done = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=False)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is not a file" in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch, capsys):
    """Before the machine is described, which takes seconds, the sentence names the folder."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("course_utils.doctor.describe", lambda: pytest.fail("the machine was described"))

    assert cli.main(["doctor", "--save", str(tmp_path / "machine.json")]) == 2
    assert f"{tmp_path} is read-only" in capsys.readouterr().err


def test_a_hostile_number_is_one_sentence(tmp_path, capsys):
    """A number that no machine has is refused with its field, and exit code 2."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(json.loads(LINUX.to_json()) | {"memory_bytes": 10**400}), encoding="utf-8")

    assert cli.main(["doctor", "--snapshot", str(path)]) == 2
    error = capsys.readouterr().err
    assert "'memory_bytes'" in error
    assert error.count("\n") == 1
