"""The table of torch lines: what it says, and that it agrees with the rest of the project."""

import tomllib
from itertools import pairwise

import pytest
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
