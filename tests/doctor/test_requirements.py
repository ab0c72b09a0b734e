"""The table of torch lines: what it says, and that it agrees with the rest of the project."""

import tomllib
from itertools import pairwise

import pytest
from packaging.requirements import Requirement
from support.found import found
from support.paths import ROOT

from course_utils.data.versions import exactly
from course_utils.doctor.requirements import (
    course_bounds,
    macos_needed,
    newest_torch,
    pairs,
    pip_picks,
    pythons_of,
    torch_lines,
    torchvision_for,
)


def test_bounds_are_those_of_pyproject():
    """The bounds that the doctor recommends are the ones that pip is given."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = course_bounds()

    assert bounds.torch_requirement in project["dependencies"]
    low, high = project["requires-python"].removeprefix(">=").split(",<")
    assert low == bounds.python_from
    assert exactly(high).line[1] == exactly(bounds.python_to).line[1] + 1


@pytest.mark.parametrize(
    ("kernel", "macos"),
    [
        (
            "Darwin Kernel Version 23.0.0: Fri Sep 15 14:41:34 PDT 2023; root:xnu-10002.1.13~1/RELEASE_ARM64_T8103",
            "14.0",
        ),
        (
            "Darwin Kernel Version 23.6.0: Mon Jul 29 21:14:30 PDT 2024; root:xnu-10063.141.2~1/RELEASE_ARM64_T6000",
            "14.6",
        ),
        (
            "Darwin Kernel Version 24.6.0: Mon Jul 14 11:30:29 PDT 2025; root:xnu-11417.140.69~1/RELEASE_ARM64_T6000",
            "15.6",
        ),
        (
            "Darwin Kernel Version 25.3.0: Wed Jan 28 20:53:15 PST 2026; root:xnu-12377.81.4~5/RELEASE_ARM64_T8103",
            "26.3",
        ),
    ],
)
def test_pip_is_given_the_torch_whose_mps_works(kernel, macos):
    """What pyproject.toml allows on a macOS ends with the newest torch whose MPS works there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [Requirement(line) for line in project["dependencies"]]
    wanted = [
        one
        for one in wanted
        if one.name == "torch" and (not one.marker or one.marker.evaluate({"platform_version": kernel}))
    ]
    releases = [release for line in torch_lines() for release in line.releases]
    allowed = [release for release in releases if all(one.specifier.contains(release) for one in wanted)]

    assert allowed[0] == "2.9.0"
    assert allowed[-1] == newest_torch(exactly(macos), below=course_bounds().torch_below)


def test_linux_is_given_the_newest_torch():
    """The marker for macOS 14 speaks of no other system, whatever its kernel is called."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    marked = [one for one in map(Requirement, project["dependencies"]) if one.name == "torch" and one.marker]
    for version in ("#23-Ubuntu SMP Tue Jan 9 2024", "10.0.26100", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.23-1", ""):
        assert not any(one.marker.evaluate({"platform_version": version}) for one in found(marked))


def test_lines_are_ordered_and_each_newer_one_needs_no_older_macos():
    """The look-ups take the last line that fits, so the table has to rise."""
    lines = torch_lines()
    for earlier, later in found(pairwise(lines)):
        assert exactly(earlier.line).line < exactly(later.line).line
        assert exactly(later.mps_macos).at_least(earlier.mps_macos)
        assert exactly(later.wheel_macos).at_least(earlier.wheel_macos)
        assert all(exactly(release).line == exactly(later.line).line for release in later.releases)


@pytest.mark.parametrize(
    ("torch", "macos", "certain"),
    [
        ("1.12.0", "12.3", True),
        ("2.4.1", "12.3", True),
        ("2.5.0", "13.0", True),
        ("2.8.0", "13.0", True),
        ("2.9.0", "14.0", True),
        ("2.14.1", "14.0", True),
        ("2.15.0", "15.0", True),
        ("2.15.0a0+git", "15.0", True),
        ("2.16.0.dev20261120", "15.0", False),
    ],
)
def test_macos_that_a_torch_needs(torch, macos, certain):
    """Each line's macOS; a torch beyond the table needs at least the newest known one."""
    need = macos_needed(exactly(torch))

    assert need is not None
    assert (need.macos, need.certain) == (macos, certain)
    assert need.source


def test_torch_before_mps():
    """Before 1.12 there was no MPS."""
    assert macos_needed(exactly("1.11.0")) is None


@pytest.mark.parametrize(
    ("macos", "python", "fits", "pip_takes"),
    [
        ("15.0", "3.11.9", "2.15.0", "2.15.0"),
        ("26.3", "3.10.4", "2.14.1", "2.14.1"),
        ("14.7", "3.11.9", "2.14.1", "2.15.0"),
        ("13.7", "3.11.9", "2.8.0", "2.11.0"),
        ("12.7", "3.11.9", "2.4.1", "2.11.0"),
        ("12.7", "3.13.0", None, "2.11.0"),
        ("12.2", "3.11.9", None, "2.11.0"),
        ("11.0", "3.9.6", None, "2.8.0"),
        ("15.0", "3.15.0", "2.15.0", "2.15.0"),
        ("15.0", "3.16.0", None, None),
    ],
)
def test_what_fits_and_what_pip_takes(macos, python, fits, pip_takes):
    """With pip comes the newest wheel whose tag allows the macOS, which may be a torch without a usable MPS there."""
    assert newest_torch(exactly(macos), exactly(python)) == fits
    assert pip_picks(exactly(macos), exactly(python)) == pip_takes


def test_within_the_course_bounds():
    """With the course's upper bound, macOS 15 gets the newest tested torch."""
    assert newest_torch(exactly("15.0"), below="2.15") == "2.14.1"


def test_pythons():
    """The range of Pythons with wheels is known for each line, and for no other."""
    assert pythons_of(exactly("2.9.1")) == ("3.10", "3.14")
    assert pythons_of(exactly("1.4.0")) is None


@pytest.mark.parametrize(
    ("torch", "torchvision", "expected"),
    [
        ("2.9.1", "0.24.1", True),
        ("2.9.1", "0.24.0", False),
        ("2.14.0", "0.29.0", True),
        ("2.14.1", "0.29.0", False),
        ("2.14.1", "0.29.1", True),
        ("2.15.0", "0.29.2", True),
        ("2.13.0", "0.29.1", False),
        ("2.14.1+cu130", "0.29.1+cu130", True),
        ("2.10.0.dev20251008", "0.25.0.dev20251008", True),
        ("2.10.0.dev20251008", "0.24.0", False),
        ("2.0.0", "0.15.1", True),
        ("1.4.0", "0.5.0", None),
        ("2.9.0a0+145a3a7bda.nv25.11", "0.25.0a0+ca221243", None),
    ],
)
def test_pairs(torch, torchvision, expected):
    """A torchvision up to 0.29.0 pins one torch, 0.29.1 needs 2.14.0 or newer, an unknown one is unknown."""
    assert pairs(exactly(torch), exactly(torchvision)) is expected


@pytest.mark.parametrize("line", torch_lines(), ids=lambda line: line.line)
def test_every_torch_is_given_a_torchvision_that_pairs(line):
    """The requirement that the doctor prints for a torch installs one that pairs with it."""
    for release in found(line.releases):
        requirement = torchvision_for(exactly(release))
        assert requirement is not None
        assert pairs(exactly(release), exactly(requirement.split("=")[-1]))
