"""Every torch on Python's path is found without importing it, and how it came there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

from course_utils.doctor.snapshot import TorchCopy
from course_utils.doctor.torch_copies import find_torch_copies, path_origin


def make_torch(folder, version=None):
    """Write an empty torch, with its version where it has one."""
    (folder / "torch").mkdir(parents=True)
    (folder / "torch/__init__.py").touch()
    if version is not None:
        (folder / "torch/version.py").write_text(
            f"from typing import Optional\n__version__ = '{version}'\ncuda = None\n"
        )
    return str(folder)


def test_copies_are_found_in_order(tmp_path, monkeypatch):
    """The first on the path comes first, each with its version; folders without a torch are left out."""
    old, unknown = make_torch(tmp_path / "old", "2.1.0"), make_torch(tmp_path / "unknown")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "empty"), old]))

    assert find_torch_copies([str(tmp_path / "empty"), old, unknown, old]) == (
        TorchCopy(old, "2.1.0", "PYTHONPATH"),
        TorchCopy(unknown, "unknown", "other"),
    )


def test_a_link_to_the_environments_torch_is_not_another_one(tmp_path, monkeypatch):
    """PYTHONPATH may name the environment itself, or a folder that links to its torch: no second torch."""
    own = tmp_path / "env/lib/site-packages"
    make_torch(own, "2.14.1")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/torch").symlink_to(own / "torch")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "env"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "links"), str(own)]))

    copies = find_torch_copies([str(tmp_path / "links"), str(own)])
    assert [copy.via for copy in copies] == ["environment"]


def test_the_current_folder(tmp_path, monkeypatch):
    """An empty entry is the folder that Python runs in, as in a notebook."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    make_torch(tmp_path, "2.16.0a0+gitabc")

    assert find_torch_copies([""]) == (TorchCopy(str(tmp_path), "2.16.0a0+gitabc", "current folder"),)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/e/.venv/lib/python3.12/site-packages", "environment"),
        ("/opt/py/lib/python3.12/site-packages", "base Python"),
        ("/opt/tools", "PYTHONPATH"),
        ("/u/.local/lib/python3.12/site-packages", "user site"),
        ("/elsewhere", "other"),
    ],
)
def test_ways_onto_the_path(monkeypatch, folder, expected):
    """A folder's way is told from the environment, its Python, PYTHONPATH and the user's folder."""
    monkeypatch.setattr("site.getusersitepackages", lambda: "/u/.local/lib/python3.12/site-packages")
    where = {"prefix": Path("/e/.venv"), "base_prefix": Path("/opt/py"), "python_path": [Path("/opt/tools")]}

    assert path_origin(Path(folder), **where) == expected


def test_the_doctor_names_a_torch_on_pythonpath(tmp_path):
    """For real: an old torch on PYTHONPATH is named with its path, and the command removes the cause."""
    old = tmp_path / "old"
    make_torch(old, "2.1.0")
    (old / "torch/__init__.py").write_text("raise ImportError('built for another Python')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(old), str(ROOT)])}
    command = [sys.executable, "-m", "course_utils.cli", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    foreign = next(finding for finding in report["findings"] if finding["code"] == "torch-foreign")

    assert done.returncode == 1
    assert f"{old}/torch" in foreign["what"] or "old/torch" in foreign["what"]
    assert foreign["severity"] == "error"
    assert foreign["command"] == "unset PYTHONPATH"
    assert report["snapshot"]["torch_copies"][0]["via"] == "PYTHONPATH"
