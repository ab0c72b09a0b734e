"""The archives that pip installs from: the wheel lays out a whole course, the source archive holds the repository."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import PurePosixPath

from support.paths import ROOT

# what setuptools adds to a source archive
ADDED = {"PKG-INFO", "setup.cfg"}


def test_the_source_archive_holds_the_repository(built):
    """Nothing that is tracked is missing, and nothing else is in it."""
    names, _, source = built
    with tarfile.open(source) as archive:
        members = [PurePosixPath(member.name) for member in archive.getmembers() if member.isfile()]
    inside = {member.relative_to(member.parts[0]).as_posix() for member in members}

    assert set(names) - inside == set()
    assert {name for name in inside - set(names) if ".egg-info/" not in name} == ADDED


def test_the_wheel_starts_a_course(built, tmp_path):
    """From the wheel alone, in a folder that is no clone, `course start` lays out lessons and exercises."""
    _, wheel, _ = built
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    place = tmp_path / "elsewhere"
    place.mkdir()
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}

    def course(*words, code=0):
        command = [sys.executable, "-P", "-m", "course_utils.cli", *words]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    course("start", "course")
    place = place / "course"
    assert "0 of " in course("progress", "--no-run", code=1)  # 1: not solved yet
    assert len(list((place / "notebooks").glob("*.ipynb"))) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert not (place / "solutions").exists()
