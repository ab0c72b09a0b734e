"""What a Mac's report proves, read from the files that `make mac-report` left; a report that proves nothing is refused.

Pure, but for reading a folder or an archive. Numbers and names from it get into the course's text, so each is checked:
the chip is one that the course knows, versions are versions, and MPS computed.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.devices.chips import find_chip
from course_utils.reporting.steps import STATE, StepEnd
from scripts.differences import Cases
from scripts.stamp_lessons import Entry

# an archive holds a dozen files of at most a few MB each
LONGEST_BYTES = 20_000_000
_TORCH = re.compile(r"(\d+\.\d+\.\d+)(?:\+\w+)?")
_VERSION = re.compile(r"\d+(\.\d+){0,2}")


class NoEvidenceError(ValueError):
    """A report proves nothing about a Mac; the message says why."""


@dataclass(frozen=True)
class Evidence:
    """What one Mac proved.

    Args:
        machine: the machine in words: chip, macOS and torch.
        entry: the same for a lesson's card.
        results: by step that ran to its end, what came out, such as "1,200 passed, 3 skipped, 0 differed".
        lessons: lessons that ran to their end without an error, by the names of their files.
        unread: steps that ran and whose results cannot be used, each with the reason.
    """

    machine: str
    entry: Entry
    results: Mapping[str, str]
    lessons: frozenset[str]
    unread: tuple[str, ...] = ()

    @property
    def words(self) -> dict[str, str]:
        """What a sentence can name between braces, by name."""
        return {"machine": self.machine, "date": self.entry.date, **self.results}


def read_report(place: Path) -> dict[str, str]:
    """Return the texts of a report by the names of their files.

    Args:
        place: the folder, or the archive that was made of it.

    Raises:
        NoEvidenceError: when it is neither.
    """
    if place.is_dir():
        found = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    else:
        try:
            with zipfile.ZipFile(place) as archive:
                entries = [entry for entry in archive.infolist() if entry.file_size <= LONGEST_BYTES]
                found = {Path(entry.filename).name: archive.read(entry) for entry in entries}
        except (OSError, zipfile.BadZipFile) as error:
            raise NoEvidenceError(f"{place} is neither a report's folder nor its archive ({error})") from error
    return {name: content.decode("utf-8", "replace") for name, content in found.items()}


def evidence(files: Mapping[str, str]) -> Evidence:
    """Return what a report proves.

    Args:
        files: its texts by the names of their files.

    Raises:
        NoEvidenceError: when it comes from no Mac, when MPS did not compute there, or when it is not in form.
    """
    doctor = _json(files, "doctor.json")
    machine = doctor.get("snapshot")
    if not isinstance(machine, dict) or machine.get("system") != "Darwin":
        raise NoEvidenceError("the doctor's report is not that of a Mac")
    if doctor.get("mps_usable") is not True:
        raise NoEvidenceError("MPS did not compute on this Mac, so nothing in the course may be changed")
    chip = find_chip(str(machine.get("chip")))
    torch, system = _TORCH.fullmatch(str(machine.get("torch"))), _VERSION.fullmatch(str(machine.get("os_version")))
    if chip is None or torch is None or system is None:
        said = ", ".join(repr(machine.get(name)) for name in ("chip", "torch", "os_version"))
        raise NoEvidenceError(f"chip, torch and macOS have to be known ones, not {said}; add a new chip to chips.json")
    ended = _ended(files)
    if "doctor" not in ended:
        raise NoEvidenceError(f"{STATE} does not say when the doctor ran")
    virtual = " in a virtual machine" if machine.get("virtual_machine") else ""
    entry = Entry(torch.group(1), f"macOS {system.group()}", "MPS", max(end.date for end in ended.values()))
    results, unread = {}, []
    for step, read in RESULTS.items():
        if step not in ended or ended[step].timed_out:
            continue
        try:
            results[step] = read(files)
        except NoEvidenceError as reason:
            unread.append(str(reason))
    lessons = _cases(files, "lessons").whole if "lessons" in results else ()
    return Evidence(
        f"Apple {chip.name}, {entry.system}{virtual}, torch {entry.torch}",
        entry,
        results,
        frozenset(name.removeprefix("notebooks.") for name in lessons),
        tuple(unread),
    )


def _ended(files: Mapping[str, str]) -> dict[str, StepEnd]:
    try:
        return {name: StepEnd.read(row) for name, row in _json(files, STATE).items()}
    except ValueError as error:
        raise NoEvidenceError(f"{STATE}: {error}") from error


def _json(files: Mapping[str, str], name: str) -> dict[str, Any]:
    found = _parsed(files, name)
    if not isinstance(found, dict):
        raise NoEvidenceError(f"{name} is no JSON object")
    return found


def _parsed(files: Mapping[str, str], name: str) -> Any:
    if name not in files:
        raise NoEvidenceError(f"the report has no {name}")
    try:
        return json.loads(files[name])
    except json.JSONDecodeError as error:
        raise NoEvidenceError(f"{name} is no JSON ({error})") from error


def _cases(files: Mapping[str, str], step: str) -> Cases:
    try:
        return Cases.read(files.get(f"{step}.xml", ""))
    except ValueError as error:
        raise NoEvidenceError(f"{step}.xml: {error}") from error


def _lessons(files: Mapping[str, str]) -> str:
    found = _cases(files, "lessons")
    return f"{len(found.whole)} of {len(found.modules)} lessons ran without an error"


def _grading(files: Mapping[str, str]) -> str:
    graded = _parsed(files, "grading.json")
    if not isinstance(graded, list) or not graded or not all(isinstance(entry, dict) for entry in graded):
        raise NoEvidenceError("grading.json is no list of exercises")
    full = sum(entry.get("exit_code") == 0 for entry in graded)
    return f"{full} of {len(graded)} got full points"


def _known(files: Mapping[str, str]) -> str:
    known = _json(files, "known.json")
    faults = known.get("faults")
    if known.get("device") != "mps" or not isinstance(faults, list):
        raise NoEvidenceError("known.json did not ask MPS")
    states = Counter(fault.get("state") for fault in faults if isinstance(fault, dict))
    answers = len(faults) - states["not asked"]
    return f"{answers} of {len(faults)} answered, {states['present']} of them with the fault"


# what each step says in a sentence; doctor stands for "this Mac has run something of the course"
RESULTS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "doctor": lambda files: "MPS computes",
    "known": _known,
    "lessons": _lessons,
    "grading": _grading,
    "tests": lambda files: str(_cases(files, "tests")),
}
