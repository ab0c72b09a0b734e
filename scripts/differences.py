"""What differed on this machine from the rehearsal on Linux, where every test, cell and solution passed.

Pure, but for reading the files that the steps of `make mac-report` left: pytest's JUnit XML and the grader's JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

# pytest's own words for a case that did not pass
FAILURES = ("failure", "error")
MOST_LINES = 40


@dataclass(frozen=True)
class Cases:
    """How the cases of a pytest run ended.

    Args:
        passed: how many passed.
        skipped: how many were skipped; without a real MPS device there are some on every machine.
        failed: "module: case" of each that did not.
        modules: all modules; a notebook is one.
        whole: those without a case that failed.
    """

    passed: int
    skipped: int
    failed: tuple[str, ...]
    modules: tuple[str, ...]
    whole: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Cases:
        """Read JUnit XML.

        Raises:
            ValueError: when it is none, as after a run that was killed.
        """
        try:
            found = list(ElementTree.fromstring(text).iter("testcase"))
        except ElementTree.ParseError as error:
            raise ValueError(f"it is no JUnit XML ({error})") from error
        if not found:
            raise ValueError("it holds no case")
        failed = [case for case in found if any(case.find(kind) is not None for kind in FAILURES)]
        skipped = sum(case.find("skipped") is not None for case in found)
        names = tuple(f"{case.get('classname')}: {case.get('name')}" for case in failed)
        modules = sorted({str(case.get("classname")) for case in found})
        broken = {str(case.get("classname")) for case in failed}
        whole = tuple(name for name in modules if name not in broken)
        return cls(len(found) - len(failed) - skipped, skipped, names, tuple(modules), whole)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.skipped} skipped, {len(self.failed)} differed"


def cases(name: str, path: Path) -> list[str]:
    """Return a run's counts and each case that differed, as lines of a list; nothing where it did not run."""
    if not path.exists():
        return []
    try:
        found = Cases.read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"- {name}: {path.name} cannot be read: {error}"]
    return [f"- {name}: {found}", *_at_most([f"  - {case}" for case in found.failed])]


def grading(path: Path) -> list[str]:
    """Return each of the course's own solutions that did not get full points; nothing where none was graded."""
    try:
        graded = json.loads(path.read_text(encoding="utf-8"))
        lost = [f"  - {entry['exercise']}: exit code {entry['exit_code']}" for entry in graded if entry["exit_code"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"- grading: {path.name} cannot be read: {error}"]
    return [f"- grading: {len(graded) - len(lost)} with full points, {len(lost)} differed", *lost]


def _at_most(lines: Sequence[str]) -> list[str]:
    rest = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"  - and {rest} more, in the archive's XML"] if rest > 0 else [])]
