"""Say which claims of the lessons another release of torch changes, and which a maintainer has to read again.

Pure: verdicts, lessons and their runs come in as values, a report goes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_utils.data.versions import line_of, order
from course_utils.operators.history import History
from course_utils.operators.rules import RULES
from course_utils.operators.table import WORDS
from scripts.lesson_claims import Lesson, Myth, names_in_prose

NOT_THERE = "not in torch"
# a table of all changed operators would be long; the history's own difference has them
LONGEST_LIST = 12


@dataclass(frozen=True)
class Run:
    """How a lesson ran with the release.

    Args:
        lesson: such as "07_fallback".
        seconds: how long it took.
        error: the error that ended it, None where it ran to its end.
        different: (cell id, first line that differs, what was stored) of cells whose stored output is compared.
    """

    lesson: str
    seconds: float
    error: str | None = None
    different: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class OperatorChange:
    """An operator whose verdict is another one.

    Args:
        operator: without overload, such as "linalg_svd".
        before: the verdict in the release of the stamp, in words.
        now: the verdict in the release that was looked at.
        lessons: the lessons that name it.
    """

    operator: str
    before: str
    now: str
    lessons: tuple[str, ...]


@dataclass(frozen=True)
class MythToRead:
    """A row of a table "Myth or fact?" to read again.

    Args:
        lesson: such as "07_fallback".
        myth: the row.
        reasons: why, in words.
    """

    lesson: str
    myth: Myth
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """What one release of torch means for the lessons.

    Args:
        release: the release that was looked at.
        environment: the environment in words.
        lessons: all lessons.
        operators: operators that lessons name and whose verdict is another one.
        myths: rows to read again.
        runs: how the lessons ran; empty where they were not run.
        gained: how many overloads of all have which verdict now that had another one, ("missing -> native", 12).
        warnings: what is doubtful about the report.
    """

    release: str
    environment: str
    lessons: tuple[Lesson, ...]
    operators: tuple[OperatorChange, ...]
    myths: tuple[MythToRead, ...]
    runs: tuple[Run, ...]
    gained: tuple[tuple[str, int], ...]
    warnings: tuple[str, ...] = ()

    @property
    def stale(self) -> tuple[Lesson, ...]:
        """Lessons whose stamp names another release."""
        return tuple(lesson for lesson in self.lessons if order(lesson.verified) != order(self.release))

    @property
    def troubled(self) -> tuple[Run, ...]:
        """Runs that did not give what is stored."""
        return tuple(run for run in self.runs if run.error is not None or run.different)

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to look at."""
        return not (self.operators or self.myths or self.troubled or self.stale or self.warnings)

    def __str__(self) -> str:
        parts = [f"# torch {self.release} and the lessons", "", f"Environment: {self.environment}.", ""]
        if self.nothing:
            ran = "all lessons ran as stored" if self.runs else "no lesson was run"
            parts += [f"Nothing to look at: the stamps name this release, all verdicts are the same, {ran}."]
        else:
            parts += [
                f"- operators of the lessons with another verdict: {len(self.operators)}",
                f"- claims to read again: {len(self.myths)}",
                f"- lessons that ran differently: {len(self.troubled)} of {len(self.runs)} that were run",
                f"- stamps that name another release: {len(self.stale)} of {len(self.lessons)}",
            ]
        parts += self._warnings() + self._operators() + self._myths() + self._runs() + self._stamps() + self._history()
        return "\n".join(parts) + "\n"

    def _warnings(self) -> list[str]:
        return ["", *(f"> doubt: {warning}" for warning in self.warnings)] if self.warnings else []

    def _operators(self) -> list[str]:
        rows = [(f"`{c.operator}`", c.before, c.now, ", ".join(c.lessons)) for c in self.operators]
        return table("Operators in the lessons", ("operator", "in the stamp's release", self.release, "lessons"), rows)

    def _myths(self) -> list[str]:
        rows = [(found.lesson, found.myth.reads, found.myth.holds, "; ".join(found.reasons)) for found in self.myths]
        return table("Claims to read again", ("lesson", "people read", "we say", "why"), rows)

    def _runs(self) -> list[str]:
        rows = []
        for run in self.runs:
            if run.error is not None:
                rows.append((run.lesson, f"{run.seconds:.0f} s", "stopped", escape(run.error)))
            for cell, now, stored in run.different:
                rows.append((run.lesson, f"{run.seconds:.0f} s", cell, f"`{escape(now)}`, stored: `{escape(stored)}`"))
            if run not in self.troubled:
                rows.append((run.lesson, f"{run.seconds:.0f} s", "as stored", ""))
        return table("Lessons, run with this release", ("lesson", "took", "cell", "what differs"), rows)

    def _stamps(self) -> list[str]:
        rows = [(lesson.name, lesson.stamp) for lesson in self.stale]
        return table("Stamps that name another release", ("lesson", "last verified"), rows)

    def _history(self) -> list[str]:
        rows = [(change, str(count)) for change, count in self.gained[:LONGEST_LIST]]
        return table("All operators", ("verdict, from the newest stamp's release to this one", "overloads"), rows)


def escape(text: str) -> str:
    """Write a text for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a Markdown table below a heading; nothing where there are no rows."""
    if not rows:
        return []
    lines = ["", f"## {title}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def status_words(history: History, release: str) -> dict[str, str]:
    """Say in words what MPS does with each overload in a release."""
    letters = history.verdicts(release).letters
    return {overload: WORDS[RULES[letter].status] for overload, letter in letters.items()}


def by_operator(words: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Group overloads: "isin" -> {"Tensor_Tensor": "native", ...}; the default overload is "default"."""
    grouped: dict[str, dict[str, str]] = {}
    for overload, word in words.items():
        name, _, suffix = overload.partition(".")
        grouped.setdefault(name, {})[suffix or "default"] = word
    return grouped


def verdict_words(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, str] | None:
    """Put the verdicts of an operator in two releases into words.

    Args:
        before: overload -> verdict in the first release; empty where the release lacks the operator.
        now: the same in the second.

    Returns:
        Such as ("missing", "native"), or with the overloads that differ, ("out: missing", "out: native"); None where
        all overloads that both have are the same, since a new overload changes no claim.
    """
    if not before or not now:
        return None if before == now else (_all_words(before), _all_words(now))
    differing = [name for name in before if name in now and before[name] != now[name]]
    if not differing:
        return None
    if len({before[name] for name in differing}) == 1 and len({now[name] for name in differing}) == 1:
        shared = [name for name in before if name in now]
        only = "" if len(differing) == len(shared) else f"{', '.join(sorted(differing))}: "
        return only + before[differing[0]], only + now[differing[0]]
    return _each(before, differing), _each(now, differing)


def _each(words: Mapping[str, str], overloads: Sequence[str]) -> str:
    return ", ".join(f"{name}: {words[name]}" for name in sorted(overloads))


def _all_words(words: Mapping[str, str]) -> str:
    return ", ".join(sorted(set(words.values()))) or NOT_THERE


def with_inner(names: frozenset[str]) -> set[str]:
    """Add the operators that functions end in: torch calls that of "linalg_eigvals" "_linalg_eigvals"."""
    return {*names, *(f"_{name}" for name in names)}


def changed_operators(history: History, lessons: Sequence[Lesson], release: str) -> tuple[OperatorChange, ...]:
    """List the operators that lessons name and whose verdict differs from that in the lesson's stamp.

    Args:
        history: a history that has the release and those of the stamps.
        lessons: what the lessons claim.
        release: the release that is looked at.

    Raises:
        LookupError: when the history lacks one of the releases.
    """
    now = by_operator(status_words(history, release))
    found: dict[tuple[str, str, str], list[str]] = {}
    for lesson in lessons:
        before = by_operator(status_words(history, lesson.verified))
        for name in sorted(with_inner(lesson.names) & (before.keys() | now.keys())):
            words = verdict_words(before.get(name, {}), now.get(name, {}))
            if words is not None:
                found.setdefault((name, *words), []).append(lesson.name)
    return tuple(OperatorChange(name, old, new, tuple(names)) for (name, old, new), names in sorted(found.items()))


def myths_to_read(
    lessons: Sequence[Lesson], operators: Sequence[OperatorChange], release: str
) -> tuple[MythToRead, ...]:
    """List the rows to read again: an operator in them changed, or a newer release is past what they speak of."""
    line = line_of(release)
    found = []
    for lesson in lessons:
        changed = {change.operator: change for change in operators if lesson.name in change.lessons}
        for myth in lesson.myths:
            named = sorted(with_inner(frozenset(names_in_prose(myth.text))) & changed.keys())
            reasons = [f"`{name}`: {changed[name].before}, now {changed[name].now}" for name in named]
            if order(line) > order(line_of(lesson.verified)):
                if myth.open_words:
                    reasons.append(f"says “{myth.open_words[0]}”, read with {line_of(lesson.verified)}")
                elif myth.ends and order(myth.releases[-1]) < order(line):
                    reasons.append(f"speaks of releases up to {myth.releases[-1]}")
            if reasons:
                found.append(MythToRead(lesson.name, myth, tuple(reasons)))
    return tuple(found)


def count_changes(history: History, before: str, now: str) -> tuple[tuple[str, int], ...]:
    """Count the overloads by how their verdict changed, most first.

    Raises:
        LookupError: when the history lacks one of the releases.
    """
    old, new = status_words(history, before), status_words(history, now)
    changes = Counter(
        f"{old.get(name, NOT_THERE)} -> {new.get(name, NOT_THERE)}"
        for name in old.keys() | new.keys()
        if old.get(name, NOT_THERE) != new.get(name, NOT_THERE)
    )
    return tuple(sorted(changes.items(), key=lambda item: (-item[1], item[0])))
