"""Versions are compared as numbers, whatever stands around them."""

import importlib.util
import sys

import pytest

from course_utils.data import versions
from course_utils.data.versions import Version, exactly, macos_version, parse


@pytest.mark.parametrize(
    ("text", "release", "early", "local"),
    [
        ("2.15.0a0+git", (2, 15, 0), True, "git"),
        ("2.15.0a0+gitdeadbee", (2, 15, 0), True, "gitdeadbee"),
        ("2.10.0.dev20251008", (2, 10, 0), True, None),
        ("2.9.1.post1", (2, 9, 1), False, None),
        ("2.14.1+cu130", (2, 14, 1), False, "cu130"),
        ("2.9.0rc3", (2, 9, 0), True, None),
        ("26.3.1", (26, 3, 1), False, None),
        ("10.16", (10, 16), False, None),
        (" v2.9 ", (2, 9), False, None),
        ("14", (14,), False, None),
    ],
)
def test_versions_that_are_read(text, release, early, local):
    """The numbers, whether it came early, and the local part are read from every form in use."""
    assert parse(text) == Version(release, early, local)


@pytest.mark.parametrize(
    "text",
    [
        "2.15.0a0+git",
        "2.10.0.dev20251008",
        "2.9.1.post1",
        "2.14.1+cu130",
        "2.9.0rc3",
        "26.3.1",
        "14",
        "v2.9",
        "unknown",
        "2.x",
        "2..9",
        "٢.٩",
        "2.9;ls",
    ],
)
def test_the_doctor_needs_no_packaging(monkeypatch, text):
    """Without `packaging` a version in use is read as with it, so that the doctor can say what is missing."""
    expected = parse(text)
    monkeypatch.setattr(versions, "_packaging_version", None)

    assert parse(text) == expected


# pip's copy loads setuptools' hooks, which warn where another test has loaded distutils
@pytest.mark.filterwarnings("ignore:Setuptools is replacing distutils:UserWarning")
@pytest.mark.parametrize("missing", [("packaging",), ("packaging", "pip")])
def test_packaging_is_looked_for_and_can_be_missing(monkeypatch, missing):
    """Pip's copy is taken where packaging is missing; without both there is none, and nothing is raised."""
    for name in list(sys.modules):
        if name.split(".")[0] in missing:
            monkeypatch.delitem(sys.modules, name)

    class Refuse:
        def find_spec(self, fullname, path, target=None):
            if fullname.split(".")[0] in missing:
                raise ModuleNotFoundError(fullname)

    monkeypatch.setattr(sys, "meta_path", [Refuse(), *sys.meta_path])
    found = versions._find_packaging()

    assert (found is None) == ("pip" in missing or importlib.util.find_spec("pip") is None)


@pytest.mark.parametrize("text", [None, "", "unknown", "none", "2.x", "2..9", "1" * 5000, "2.9; rm -rf", "٢.٩"])
def test_versions_that_are_not(text):
    """What is no version is unknown, not zero."""
    assert parse(text) is None


@pytest.mark.parametrize(
    ("version", "other", "expected"),
    [
        ("26.3", "14.0", True),
        ("9.0", "14.0", False),
        ("2.10.0", "2.9", True),
        ("14", "14.0.0", True),
        ("13.7.4", "14.0", False),
        ("2.15.0a0+git", "2.15", True),
    ],
)
def test_comparison_is_numeric(version, other, expected):
    """26.3 is newer than 14.0 and 2.10 newer than 2.9; a build of 2.15's source follows 2.15's rules."""
    assert exactly(version).at_least(other) is expected


def test_what_has_to_be_a_version_says_so():
    """A version that has to be there is refused with its value."""
    with pytest.raises(ValueError, match=r"'2\.x' is not a version"):
        exactly("2.x")


@pytest.mark.parametrize(
    ("reported", "kernel", "expected"),
    [
        ("15.6.1", "24.6.0", "15.6.1"),
        ("10.16", "23.6.0", "14"),
        ("10.16", "25.2.0", "26"),
        ("10.16", "21.4.0", "12.3"),
        ("10.16", "21.3.0", "12.2"),
        ("16.0", "25.0.0", "26.0"),
        (None, "24.1.0", "15"),
        ("10.15.7", "19.6.0", "10.15.7"),
        ("10.16", None, "None"),
        ("10.16", "99.0", "None"),
        (None, None, "None"),
    ],
)
def test_macos_behind_its_disguises(reported, kernel, expected):
    """10.16 and 16 are worked out from the kernel's version, and stay unknown where that does not tell."""
    assert str(macos_version(reported, kernel)) == expected
