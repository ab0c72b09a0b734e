"""environment.yml and pyproject.toml say the same, and torch comes from one source."""

import re
import tomllib

import yaml
from support.paths import ROOT

from scripts.list_requirements import requirements

CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(TEXT)["project"]


def conda_packages():
    """Return the packages that conda installs, with their bounds."""
    lines = [line for line in CONDA["dependencies"] if isinstance(line, str)]
    return {line.split(" ")[0]: line.partition(" ")[2] for line in lines}


def test_project_comes_through_pip():
    """The pip section installs this project with the extras, and nothing else, so there is one list."""
    (pip,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]

    assert pip == ["-e .[grading,dev]"]
    assert {"grading", "dev"} <= set(PROJECT["optional-dependencies"])


def test_python_range_is_the_same():
    """Conda's Python is in the project's range."""
    assert conda_packages()["python"] == PROJECT["requires-python"]


def test_shared_packages_have_the_same_bounds():
    """A package that conda installs and pyproject.toml lists has the same bounds in both."""
    listed = requirements(TEXT)
    shared = {name: bounds for name, bounds in conda_packages().items() if name in listed}

    assert shared
    for name, bounds in shared.items():
        assert listed[name] == [f"{name}{bounds}"]


def test_torch_and_openmp_come_from_one_source():
    """Conda installs nothing that brings torch, NumPy or an OpenMP runtime of its own."""
    carriers = {"torch", "pytorch", "pytorch-cpu", "torchvision", "numpy", "scipy", "matplotlib", "llvm-openmp", "mkl"}

    assert not carriers & set(conda_packages())
    assert {"conda-forge", "nodefaults"} == set(CONDA["channels"])


def test_torch_is_bounded_not_pinned():
    """Torch and torchvision have a lower and an upper bound everywhere, and no exact pin."""
    for name in ("torch", "torchvision"):
        everywhere, *on_some = requirements(TEXT)[name]
        assert re.fullmatch(rf"{name}>=[\d.]+,<[\d.]+", everywhere)
        assert all(re.fullmatch(rf"{name}<[\d.]+; .+ in platform_version", line) for line in on_some)
