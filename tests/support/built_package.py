"""The archives that pip installs from, built from what git tracks alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.once import made_once
from support.paths import ROOT

# as pip builds: with setuptools, in an environment where nothing of the course can be imported (-I -S: no folder of
# ours on the path, and no editable installation)
BUILD = """
import importlib.util, sys
sys.path.append(sys.argv[1])
assert importlib.util.find_spec("course_utils") is None
from setuptools import build_meta as build
build.build_wheel("dist")
build.build_sdist("dist")
"""


def tracked():
    """Return the paths that git tracks; a folder that is no clone has none."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True)
    return [name for name in listed.stdout.split("\0") if name]


def copy_tracked(folder):
    """Copy what git tracks, as it is now, into a folder; skip where this is no clone. Return the paths."""
    names = tracked()
    if not names:
        pytest.skip("this folder is no clone, so nothing says which files the repository has")
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return names


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source archive, built once in a run from what git tracks alone."""
    folder = made_once(tmp_path_factory, "built_package", build)
    (wheel,), (source,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return tracked(), wheel, source


def build(folder):
    """Build both in a folder, beside the sources."""
    copy_tracked(folder)
    import setuptools

    command = [sys.executable, "-I", "-S", "-c", BUILD, str(Path(setuptools.__file__).parent.parent)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
