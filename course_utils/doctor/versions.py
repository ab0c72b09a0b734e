"""Versions as numbers, so that 26.3 is newer than 14.0 and 2.15.0a0+git belongs to 2.15."""

from __future__ import annotations

import re
from dataclasses import dataclass

# nine digits a part: more is no version, and Python refuses to convert very long numbers
_VERSION = re.compile(
    r"v?(?P<release>[0-9]{1,9}(?:\.[0-9]{1,9})*)"
    r"(?P<pre>[._-]?(?:alpha|beta|preview|a|b|c|rc)[._-]?[0-9]*)?"
    r"(?P<post>[._-]?(?:post|rev|r)[._-]?[0-9]*|-[0-9]+)?"
    r"(?P<dev>[._-]?dev[._-]?[0-9]*)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[._-][a-z0-9]+)*))?",
    re.IGNORECASE,
)

# Darwin's major version is the kernel's; macOS 16 to 25 were never released, Darwin 25 is macOS 26
_MACOS_OF_DARWIN = {20: 11, 21: 12, 22: 13, 23: 14, 24: 15, 25: 26, 26: 27}


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
    """Read a version, such as "2.9.1.post1", "26.3.1" or "2.15.0a0+git"; None where it is not one."""
    match = _VERSION.fullmatch(text.strip()) if text else None
    if match is None:
        return None
    return Version(
        release=tuple(int(part) for part in match["release"].split(".")),
        early=bool(match["pre"] or match["dev"]),
        local=match["local"],
    )


def exactly(text: str) -> Version:
    """Read a version that has to be one.

    Raises:
        ValueError: when it is not a version; the message names it.
    """
    version = parse(text)
    if version is None:
        raise ValueError(f"{text!r} is not a version; write it like 2.14.1 or 26.3")
    return version


def macos_version(reported: str | None, kernel: str | None) -> Version | None:
    """Work out the version of macOS, also where it hides behind 10.16.

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
