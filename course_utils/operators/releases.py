"""Names of torch releases: read them, order them, and find the release line they belong to.

A line is major.minor ("2.9"); its patch releases ("2.9.1") share their operators unless somebody looked.
"""

from __future__ import annotations

import importlib.metadata
import re

_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def order(release: str) -> tuple[int, int, int]:
    """Turn a release into numbers that sort as releases do, so that 2.10 comes after 2.9.

    Args:
        release: such as "2.9.1", "2.9" or "2.14.1+cu130"; what follows the numbers is ignored.

    Raises:
        ValueError: when it is not a release's name.
    """
    match = _RELEASE.match(release.strip())
    if match is None:
        raise ValueError(f"{release!r} is not a torch release; write it like 2.9.1 or 2.9")
    major, minor, patch = match.groups()
    return int(major), int(minor), int(patch or 0)


def line_of(release: str) -> str:
    """Name the line of a release: "2.9" for "2.9.1".

    Raises:
        ValueError: when it is not a release's name.
    """
    major, minor, _ = order(release)
    return f"{major}.{minor}"


def installed_torch() -> str | None:
    """Read the installed torch's version, such as "2.14.1", without importing torch; None if there is none."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return None
