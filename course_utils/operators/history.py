"""Which overload had which verdict in which release of torch, and the first release with an MPS kernel.

Data with sources: course_utils/data/mps_operator_history.json, built by scripts/build_operator_history.py from
the yaml inside published wheels. One letter for each release; what a letter means, `rules.RULES` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from course_utils.data.read import read_json
from course_utils.data.versions import line_of, order
from course_utils.operators.rules import RULES, VerdictLetters

ABSENT = "-"  # the release does not have the overload
FORMAT = 1
# which sparse keys a letter stands for
SPARSE: Mapping[str, tuple[str, ...]] = {
    ABSENT: (),
    "s": ("SparseMPS",),
    "c": ("SparseCsrMPS",),
    "b": ("SparseMPS", "SparseCsrMPS"),
}


@dataclass(frozen=True, eq=False)
class History:
    """Verdicts of many releases; names without "aten::".

    Args:
        releases: the releases that were read, oldest first, such as ("2.0.1", ..., "2.15.0").
        letters: overload -> one letter of `rules.RULES` for each release, "-" where it does not exist.
        sparse: overload -> one letter of `SPARSE` for each release.
        delegates: overload -> the out= overload from which its verdict comes in some releases.
        unread: releases that could not be read -> why; nothing is claimed about them.
    """

    releases: tuple[str, ...]
    letters: Mapping[str, str]
    sparse: Mapping[str, str]
    delegates: Mapping[str, str]
    unread: Mapping[str, str]

    @property
    def newest(self) -> str:
        """The newest line that was read, such as "2.15"."""
        return line_of(self.releases[-1])

    def find_release(self, release: str) -> str:
        """Find the release that was read for the one asked: itself, or the one read of the same line.

        Raises:
            LookupError: when nothing of its line was read; the message lists what was.
            ValueError: when it is not a release's name.
        """
        wanted = line_of(release)
        for known in self.releases:
            if line_of(known) == wanted:
                return known
        reason = next((why for name, why in self.unread.items() if line_of(name) == wanted), None)
        because = f" ({reason})" if reason else ""
        raise LookupError(
            f"the operators of torch {release} are not in the history{because}; it has {', '.join(self.releases)}"
        )

    def verdicts(self, release: str) -> VerdictLetters:
        """Take out the verdicts of one release.

        Raises:
            LookupError: when the release was not read.
        """
        column = self.releases.index(self.find_release(release))
        letters = {name: row[column] for name, row in self.letters.items() if row[column] != ABSENT}
        return VerdictLetters(
            letters=letters,
            delegates={name: out for name, out in self.delegates.items() if _comes_from_delegate(letters.get(name))},
            sparse_keys={name: SPARSE[row[column]] for name, row in self.sparse.items() if row[column] != ABSENT},
        )

    def lines_with(self, overload: str, statuses: tuple[str, ...] = ("native",)) -> tuple[str, ...]:
        """List the lines in which an overload has one of these verdicts, oldest first; none if it is unknown."""
        row = self.letters.get(overload.removeprefix("aten::"), "")
        return tuple(
            line_of(release)
            for release, letter in zip(self.releases, row, strict=False)
            if letter != ABSENT and RULES[letter].status in statuses
        )

    def first_native(self, overload: str) -> str | None:
        """Return the first line with an MPS kernel for an overload, such as "2.14"; None if no release has one.

        The oldest line read, "2.0", may stand for an older release.
        """
        return next(iter(self.lines_with(overload)), None)

    def lost_native(self, overload: str) -> str | None:
        """Return the line in which an overload lost its MPS kernel for good; None if it never had or still has one."""
        native = self.lines_with(overload)
        lines = [line_of(release) for release in self.releases]
        if not native or native[-1] == lines[-1]:
            return None
        return lines[lines.index(native[-1]) + 1]

    def sentence(self, overload: str, have: str) -> str:
        """Return a sentence: since when MPS has a kernel for an overload, and what the reader has.

        Args:
            overload: with or without "aten::".
            have: the reader's torch, such as "2.13.0".

        Returns:
            Such as "native since 2.14, you have 2.13", "native since 2.1" or "native in no release up to 2.15".
        """
        name = overload.removeprefix("aten::")
        if name not in self.letters:
            return f"not known to the history, which ends with {self.newest}"
        if self.lost_native(name) is not None:
            return self._sentence_of_a_lost_kernel(name)
        since = self._runs_since(name)
        if since is None:
            return f"native in no release up to {self.newest}"
        how = "native" if self._since(name, ("native",)) else "made of other operators"
        older = " or older" if since == line_of(self.releases[0]) else ""
        yours = f", you have {line_of(have)}" if self.newer_release(name, have) else ""
        return f"{how} since {since}{older}{yours}"

    def newer_release(self, overload: str, have: str) -> str | None:
        """Return the first line in which an overload runs on MPS for good, where that is newer than the reader's.

        Args:
            overload: with or without "aten::".
            have: the reader's torch, such as "2.13.0".

        Returns:
            Such as "2.14"; None where the reader's torch has it, and where no release has.
        """
        since = self._runs_since(overload.removeprefix("aten::"))
        return since if since is not None and order(line_of(have)) < order(since) else None

    def _runs_since(self, name: str) -> str | None:
        """Find since when MPS has a kernel, or else since when other operators stand in for one."""
        if name not in self.letters or self.lost_native(name) is not None:
            return None
        return self._since(name, ("native",)) or self._since(name, ("native", "composite"))

    def _sentence_of_a_lost_kernel(self, name: str) -> str:
        native = self.lines_with(name)
        now = self.letters[name][-1]
        fate = "not in torch" if now == ABSENT else _FATES[RULES[now].status]
        return f"native from {native[0]} to {native[-1]}, {fate} since {self.lost_native(name)}"

    def _since(self, overload: str, statuses: tuple[str, ...]) -> str | None:
        """Find where the last unbroken run of these verdicts begins; None unless the newest release is in it."""
        good = set(self.lines_with(overload, statuses))
        since = None
        for release in reversed(self.releases):
            if line_of(release) not in good:
                break
            since = line_of(release)
        return since


# what became of an overload that lost its kernel
_FATES: Mapping[str, str] = {
    "composite": "made of other operators",
    "cpu_always": "always on the CPU",
    "missing": "missing",
    "refused": "refused",
    "irrelevant": "only for other layouts",
}


def _comes_from_delegate(letter: str | None) -> bool:
    return letter is not None and RULES[letter].from_delegate


def read_history(data: Mapping[str, Any]) -> History:
    """Read a history from its JSON.

    Raises:
        ValueError: when it was written in a format that this version does not know, or rows are too short.
    """
    if data.get("format") != FORMAT:
        raise ValueError(f"the operator history has format {data.get('format')!r}, this version reads {FORMAT}")
    releases = tuple(data["releases"])
    for name, row in (data["letters"] | data["sparse"]).items():
        if len(row) != len(releases):
            raise ValueError(f"{name} has {len(row)} letters in the operator history, not {len(releases)}")
    return History(releases, data["letters"], data["sparse"], data["delegates"], data["unread"])


@cache
def history() -> History:
    """Read the history that comes with the package."""
    return read_history(read_json("mps_operator_history.json"))


def first_native(overload: str) -> str | None:
    """Return the first release line with an MPS kernel for an overload, such as "2.14" for "aten::_ctc_loss".

    Args:
        overload: as torch names it, "aten::linalg_eig" or "linalg_eig"; for a default overload without a suffix.

    Returns:
        Such as "2.14"; None when no release up to the newest one read has such a kernel.
    """
    return history().first_native(overload)
