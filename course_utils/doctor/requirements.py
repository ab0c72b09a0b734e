"""Which torch runs where: the macOS that MPS needs, the Python that has a wheel, the torchvision that pairs.

Data with sources: course_utils/data/torch_requirements.json. Everything here is pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from course_utils.data.read import read_json
from course_utils.data.versions import Version, exactly, parse


@dataclass(frozen=True)
class TorchLine:
    """What one release line of torch needs on an Apple chip.

    Args:
        line: major.minor, such as "2.15".
        releases: its releases, oldest first.
        mps_macos: the oldest macOS on which MPS works.
        wheel_macos: the oldest macOS on which pip installs it, from the wheel's tag.
        python_from: oldest Python with a wheel.
        python_to: newest Python with a wheel.
        source: where the macOS version is published.
    """

    line: str
    releases: tuple[str, ...]
    mps_macos: str
    wheel_macos: str
    python_from: str
    python_to: str
    source: str

    def suits_python(self, python: Version | None) -> bool:
        """Return whether there is a wheel for this Python; an unknown Python suits."""
        return python is None or _lies_between(python, self.python_from, self.python_to)


@dataclass(frozen=True)
class CourseBounds:
    """The versions that the course runs with; the same bounds as in pyproject.toml."""

    torch_from: str
    torch_below: str
    python_from: str
    python_to: str

    @property
    def torch_requirement(self) -> str:
        """The bounds as pip reads them."""
        return f"torch>={self.torch_from},<{self.torch_below}"

    def suits_python(self, python: Version) -> bool:
        """Return whether the course runs with this Python."""
        return _lies_between(python, self.python_from, self.python_to)


def _lies_between(python: Version, oldest: str, newest: str) -> bool:
    return exactly(oldest).line <= python.line <= exactly(newest).line


@cache
def _data() -> dict[str, Any]:
    return read_json("torch_requirements.json")


@cache
def course_bounds() -> CourseBounds:
    """Return the versions that the course runs with."""
    return CourseBounds(**_data()["course"])


@cache
def torch_lines() -> tuple[TorchLine, ...]:
    """Return the table of torch lines, oldest first."""
    return tuple(
        TorchLine(
            line=row["line"],
            releases=tuple(row["torch"]),
            mps_macos=row["mps_macos"],
            wheel_macos=row["wheel_macos"],
            python_from=row["python"][0],
            python_to=row["python"][1],
            source=row["source"],
        )
        for row in _data()["lines"]
    )


@dataclass(frozen=True)
class MacosNeed:
    """The oldest macOS on which a torch can use MPS.

    Args:
        macos: such as "14.0".
        certain: False for a torch newer than the table, which needs at least this.
        source: where it is published.
    """

    macos: str
    certain: bool
    source: str


def macos_needed(torch: Version) -> MacosNeed | None:
    """Return the oldest macOS on which this torch can use MPS; None for a torch before 1.12, which has no MPS."""
    older = [line for line in torch_lines() if exactly(line.line).line <= torch.line]
    if not older:
        return None
    line = older[-1]
    certain = exactly(line.line).line == torch.line
    return MacosNeed(line.mps_macos, certain, line.source)


def newest_torch(macos: Version | None, python: Version | None = None, *, below: str | None = None) -> str | None:
    """Return the newest torch whose MPS works on this macOS and that has a wheel for this Python.

    Args:
        macos: the macOS; None if unknown, which allows every torch.
        python: the Python; None if unknown, which allows every torch.
        below: only torch lines before this one, such as the course's upper bound.

    Returns:
        A release, such as "2.14.1"; None if none fits.
    """
    fitting = [
        line
        for line in torch_lines()
        if (macos is None or macos.at_least(line.mps_macos))
        and line.suits_python(python)
        and (below is None or exactly(line.line).line < exactly(below).line)
    ]
    return fitting[-1].releases[-1] if fitting else None


def pip_picks(macos: Version, python: Version | None = None) -> str | None:
    """Return the torch that a plain `pip install torch` takes: pip reads the wheel's tag, not what MPS needs.

    Returns:
        A release, such as "2.15.0" on macOS 14, where its MPS does not work; None if there is no wheel.
    """
    installable = [line for line in torch_lines() if macos.at_least(line.wheel_macos) and line.suits_python(python)]
    return installable[-1].releases[-1] if installable else None


def pythons_of(torch: Version) -> tuple[str, str] | None:
    """Return the oldest and newest Python that a torch has arm64 macOS wheels for; None if not in the table."""
    return next(
        ((line.python_from, line.python_to) for line in torch_lines() if exactly(line.line).line == torch.line), None
    )


def newest_intel_torch() -> tuple[str, str]:
    """Return the last torch, and its torchvision, with wheels for Intel Macs."""
    return _data()["intel"]["newest_torch"], _data()["intel"]["newest_torchvision"]


def pairs(torch: Version, torchvision: Version) -> bool | None:
    """Return whether a torchvision was built for this torch; None where the table does not know the torchvision."""
    table = _data()["torchvision"]
    if torchvision.at_least(table["free_from"]):
        return torch.at_least(table["free_torch_from"])
    pinned = table["pins"].get(str(torchvision))
    if pinned is not None and not torch.early and not torchvision.early:
        return exactly(pinned).release == torch.release
    if torch.early and re.search(r"[0-9a-f]{7}", torch.local or ""):  # a build of a commit, as in NVIDIA's images
        return None
    # a nightly, or a patch release that the table lacks: the lines have to agree
    lines = {exactly(vision).line: exactly(built_for).line for vision, built_for in table["pins"].items()}
    built_for_line = lines.get(torchvision.line)
    return None if built_for_line is None else built_for_line == torch.line


def torchvision_for(torch: Version) -> str | None:
    """Return the requirement that installs the torchvision of a torch, such as "torchvision==0.24.1"."""
    table = _data()["torchvision"]
    if torch.at_least("2.14.1"):
        return f"torchvision>={table['free_from']}"
    built = [vision for vision, pinned in table["pins"].items() if exactly(pinned).release == torch.release]
    if not built:
        built = [vision for vision, pinned in table["pins"].items() if exactly(pinned).line == torch.line]
    return f"torchvision=={built[-1]}" if built else None


def torch_of(torchvision: Version) -> str | None:
    """Return which torch a torchvision was built for, in words that fit into a sentence; None if unknown."""
    table = _data()["torchvision"]
    if torchvision.at_least(table["free_from"]):
        return f"torch {table['free_torch_from']} or newer"
    pinned = table["pins"].get(str(torchvision))
    if pinned is not None:
        return f"torch {pinned}"
    lines = {exactly(vision).line: exactly(built_for).line for vision, built_for in table["pins"].items()}
    line = lines.get(torchvision.line)
    return None if line is None else f"torch {line[0]}.{line[1]}"


def known(text: str | None) -> Version | None:
    """Return a package's version from a snapshot; None for unknown, not installed, or not a version."""
    return None if text is None or text == "none" else parse(text)
