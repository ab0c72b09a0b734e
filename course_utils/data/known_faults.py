"""Silent faults of MPS that were reported in public: wrong results without an error, 2022 to 2026.

The data stand in known_faults.json; nothing in it was run on a Mac by this project. Needs neither torch nor a Mac.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from course_utils.data.read import read_json
from course_utils.data.versions import exactly

# how the release with the repair is known, the surest first
Basis = Literal["stated", "read", "merge date", "not confirmed", "open"]
BASES: dict[str, str] = {
    "stated": "stated in the thread",
    "read": "read in the wheel",
    "merge date": "by the date of the merge",
    "not confirmed": "not confirmed",
    "open": "open",
}
SURE: tuple[Basis, ...] = ("stated", "read")


@dataclass(frozen=True)
class KnownFault:
    """One silent fault as reported.

    Args:
        id: repository and number, such as "pytorch#195163".
        link: the public thread.
        title: what goes wrong, in one line.
        operator: the operator or function.
        kind: what triggers it: "strides", "offsets", "sizes", "values", "gradients", "masks", "integers", "dtypes",
            "random numbers", "copies", "repeatability" or "out of bounds".
        trigger: the input that shows it.
        symptom: what the wrong result looks like.
        reported: the year of the report.
        seen_in: the oldest torch that is known to have it; None where none was named.
        repaired_in: the first torch without it, as far as known; None while it is open.
        basis: how `repaired_in` is known.
        releases: the same in words, with what is uncertain.
        macos_from: the first macOS that has it; None for any.
        macos_below: the first macOS without it; None for any.
        chips: the generations that have it, such as ("M1", "M2"); empty for any.
        machines: the machines of the report, in words.
        way_around: what to do until it is repaired.
        now_and_then: whether it shows only sometimes, so that a right answer does not rule it out.
        needs_gib: memory that asking takes, GiB, where that is more than 2; None elsewhere.
        not_asked: why it has no reproducer; None where it has one.
        looked_at: the day when the thread was looked at, ISO 8601.
    """

    id: str
    link: str
    title: str
    operator: str
    kind: str
    trigger: str
    symptom: str
    reported: int
    seen_in: str | None
    repaired_in: str | None
    basis: Basis
    releases: str
    macos_from: str | None
    macos_below: str | None
    chips: tuple[str, ...]
    machines: str
    way_around: str
    now_and_then: bool
    needs_gib: int | None
    not_asked: str | None
    looked_at: str

    @property
    def repaired(self) -> str:
        """The state of the repair in a few words."""
        if self.repaired_in is None and self.basis in SURE and self.macos_below is not None:
            return f"repaired in macOS {self.macos_below}"
        if self.repaired_in is None:
            return "open" if self.basis == "open" else "release of the repair unknown"
        return f"repaired in torch {self.repaired_in}" + ("" if self.basis in SURE else f", {BASES[self.basis]}")

    def fits(self, *, torch: str, macos: str | None, chip: str | None) -> bool | None:
        """Return whether the reports say that this machine has the fault.

        Args:
            torch: a release, such as "2.14.1".
            macos: a version, such as "15.6"; None where it is unknown.
            chip: Apple's name, such as "Apple M1 Pro"; None where it is unknown.

        Returns:
            True inside the reported releases, systems and chips, False outside, None where the reports do not tell.

        Raises:
            ValueError: for a torch or macOS that is not a version.
        """
        answers = (self._torch_fits(torch), self._macos_fits(macos), self._chip_fits(chip))
        if False in answers:
            return False
        return None if None in answers else True

    def _torch_fits(self, torch: str) -> bool | None:
        mine = exactly(torch)
        if self.repaired_in is not None and mine.at_least(self.repaired_in):
            return False
        if self.seen_in is None or not mine.at_least(self.seen_in):
            return None
        return True if self.basis == "open" or self.basis in SURE else None

    def _macos_fits(self, macos: str | None) -> bool | None:
        if self.macos_from is None and self.macos_below is None:
            return True
        if macos is None:
            return None
        mine = exactly(macos)
        bounds = [exactly(bound).release for bound in (self.macos_from, self.macos_below) if bound is not None]
        size = len(mine.release)
        if any(len(bound) > size and bound[:size] == mine.release for bound in bounds):
            return None  # "26" may be 26.0 or 26.5
        if self.macos_from is not None and not mine.at_least(self.macos_from):
            return False
        return self.macos_below is None or not mine.at_least(self.macos_below)

    def _chip_fits(self, chip: str | None) -> bool | None:
        if not self.chips:
            return True
        found = re.search(r"\bM\d+\b", chip or "")
        return None if found is None else found[0] in self.chips


@cache
def all_known_faults() -> tuple[KnownFault, ...]:
    """Read the faults, the newest report first."""
    entries = read_json("known_faults.json")["faults"]
    return tuple(KnownFault(**entry | {"chips": tuple(entry["chips"])}) for entry in entries)


def known_fault(issue: str) -> KnownFault:
    """Return one fault.

    Raises:
        KeyError: when none has this id.
    """
    return {fault.id: fault for fault in all_known_faults()}[issue]
