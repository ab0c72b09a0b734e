"""The archives that pip installs from: the wheel lays out a whole course, the source archive holds the repository."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
import setuptools
from support.paths import ROOT

# as pip builds: with setuptools, in an environment where nothing of the course can be imported (-I -S: no folder of
# ours on the path, and no editable installation)
BUILD = f"""
import importlib.util, sys
sys.path.append({str(Path(setuptools.__file__).parent.parent)!r})
assert importlib.util.find_spec("course_utils") is None
from setuptools import build_meta as build
build.build_wheel("dist")
build.build_sdist("dist")
"""
# what setuptools adds to a source archive
ADDED = {"PKG-INFO", "setup.cfg"}


def tracked():
    """Return the paths that git tracks; a folder that is no clone has none."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True)
    return [name for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source archive, built from what git tracks alone."""
    names = tracked()
    if not names:
        pytest.skip("this folder is no clone, so nothing says which files the repository has")
    folder = tmp_path_factory.mktemp("sources")
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BUILD], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (wheel,), (source,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return names, wheel, source


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
