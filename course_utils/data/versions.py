"""Versions of torch, torchvision, Python and macOS as numbers, and the names of torch's releases.

    parse("2.15.0a0+git").line      # (2, 15)
    sorted(["2.10.0", "2.9.1"], key=order)

A release line is major.minor ("2.9"); its patch releases ("2.9.1") share their operators unless somebody looked.
Versions are parsed by `packaging`. The doctor has to start where that is missing, so pip's own copy of it is the second
choice, and the leading numbers are the third.
"""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# a part with more digits is not a version
_LARGEST_PART = 10**9
# Darwin's major version is the kernel's; macOS 16 to 25 were never released, Darwin 25 is macOS 26
_MACOS_OF_DARWIN = {20: 11, 21: 12, 22: 13, 23: 14, 24: 15, 25: 26, 26: 27}


def _find_packaging() -> Any:
    """Return the class packaging.version.Version, from pip where packaging is missing; None without either."""
    for module in ("packaging.version", "pip._vendor.packaging.version"):
        try:
            return importlib.import_module(module).Version
        except ImportError:
            continue
    return None


_packaging_version = _find_packaging()


@dataclass(frozen=True)
class Version:
    """A version's numbers.

    Args:
        release: the numbers, such as (2, 15, 0).
        early: whether it came before that release: alpha, beta, candidate or nightly build.
        local: what follows a plus sign, such as "cu128" or "git"; None without one.
    """

    release: tuple[int, ...]
    early: bool = False
    local: str | None = None

    @property
    def line(self) -> tuple[int, int]:
        """The release line: (2, 15) for 2.15.0a0+git, for which the rules of 2.15 hold."""
        padded = (*self.release, 0, 0)
        return padded[0], padded[1]

    def at_least(self, other: str) -> bool:
        """Compare the numbers alone: 2.15.0a0 is at least 2.15, since it is built from that line's source."""
        mine, theirs = self.release, exactly(other).release
        length = max(len(mine), len(theirs))
        return _padded(mine, length) >= _padded(theirs, length)

    def __str__(self) -> str:
        return ".".join(map(str, self.release))


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    return numbers + (0,) * (length - len(numbers))


def parse(text: str | None) -> Version | None:
    """Parse a version, such as "2.9.1.post1", "26.3.1" or "2.15.0a0+git"; None where it is not one."""
    return _parse(text, _packaging_version) if text else None


@lru_cache(maxsize=1024)
def _parse(text: str, packaging_version: Any) -> Version | None:
    if packaging_version is None:
        version = _parse_numbers(text.strip())
    else:
        try:
            found = packaging_version(text)
        except ValueError:  # InvalidVersion is a ValueError
            return None
        version = None if found.epoch else Version(found.release, found.is_prerelease, found.local)
    return version if version is not None and max(version.release) < _LARGEST_PART else None


def _parse_numbers(text: str) -> Version | None:
    """Parse a version without `packaging`: its numbers, whether it came early, and the local part."""
    pattern = r"v?(\d{1,9}(?:\.\d{1,9})*)((?:\.?(?:a|b|rc|dev|post)\d*)*)(?:\+([\w.-]+))?"
    match = re.fullmatch(pattern, text, re.ASCII)
    if match is None:
        return None
    numbers, rest, local = match.groups()
    early = re.search(r"a|b|rc|dev", rest) is not None
    return Version(tuple(int(part) for part in numbers.split(".")), early, local)


def exactly(text: str) -> Version:
    """Parse a version that has to be one.

    Raises:
        ValueError: when it is not a version; the message names it.
    """
    version = parse(text)
    if version is None:
        raise ValueError(f"{text!r} is not a version; write it like 2.14.1 or 26.3")
    return version


def order(release: str) -> tuple[int, int, int]:
    """Return a torch release as numbers that sort as releases do, so that 2.10 comes after 2.9.

    Args:
        release: such as "2.9.1", "2.9" or "2.14.1+cu130"; what follows the numbers is ignored.

    Raises:
        ValueError: when it is not a release's name.
    """
    version = parse(release)
    if version is None or len(version.release) < 2:
        raise ValueError(f"{release!r} is not a torch release; write it like 2.9.1 or 2.9")
    major, minor, patch = _padded(version.release, 3)[:3]
    return major, minor, patch


def line_of(release: str) -> str:
    """Return the line of a torch release: "2.9" for "2.9.1".

    Raises:
        ValueError: when it is not a release's name.
    """
    major, minor, _ = order(release)
    return f"{major}.{minor}"


def installed_torch() -> str | None:
    """Return the installed torch's version, such as "2.14.1", without importing torch; None if there is none."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return None


def macos_version(reported: str | None, kernel: str | None) -> Version | None:
    """Return the version of macOS, also where it hides behind 10.16.

    A program built for an SDK older than macOS 11 is told 10.16 on every newer macOS, and one built before
    macOS 26 may be told 16; the kernel's version does not change, and names the major version.

    Args:
        reported: what the system said, such as "15.6.1", "10.16" or "16.0".
        kernel: `platform.release()`, Darwin's own version, such as "24.6.0".

    Returns:
        The version, only its major number where the kernel gave it; None where neither tells.
    """
    version = parse(reported)
    if version is not None and 16 <= version.release[0] <= 25:
        return Version((26, *version.release[1:]))
    if version is not None and version.release[:2] != (10, 16):
        return version
    darwin = parse(kernel)
    if darwin is None or darwin.release[0] not in _MACOS_OF_DARWIN:
        return None
    major = _MACOS_OF_DARWIN[darwin.release[0]]
    # macOS 12.3 is the one minor version that matters: Darwin 21.4
    return Version((12, max(darwin.line[1] - 1, 0))) if major == 12 else Version((major,))
