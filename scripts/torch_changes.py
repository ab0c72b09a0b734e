"""Compare what lessons name and claim with another release of torch: operators, ranges of releases, and runs.

Pure: verdicts, notebooks and their runs come in as values, a report goes out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.data.versions import line_of, order
from course_utils.operators.history import History
from course_utils.operators.rules import RULES
from course_utils.operators.table import WORDS

STAMP = re.compile(r"\*\*Last verified\*\*\s*\|([^|\n]*)")
STAMPED = re.compile(r"torch (\d+\.\d+(?:\.\d+)?)")
MYTHS = re.compile(r"^## Myth or fact\?\n\n((?:\|.*\n?)+)", re.MULTILINE)
RANGE_END = re.compile(r"\b(?:up to|to|until)\s+(?:torch\s+)?([12]\.\d{1,2})")
ANY_RELEASE = re.compile(r"\b([12]\.\d{1,2})\b")
LINK = re.compile(r"\]\([^)]*\)")
# a block of its own first: its three marks would be taken for the ends of others
CODE_MARK = re.compile(r"^```\w*\n(?P<block>.*?)^```|`(?P<mark>[^`]+)`", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"[A-Za-z_][\w.]*")
# a string that is one name, such as "aten::pdist", is an operator's; words of a sentence are English
NAMED_BY_STRING = re.compile(r"(?:\w+::)?[A-Za-z_][\w.]*")
NOT_THERE = "not in torch"


@dataclass(frozen=True)
class LessonClaims:
    """What a lesson says about releases of torch.

    Args:
        name: such as "07_fallback".
        verified: the newest release of torch in its stamp "Last verified".
        rows: the rows of its table "Myth or fact?".
        names: names in its code and in the code marks of its prose, written as operators are, such as "linalg_svd".
    """

    name: str
    verified: str
    rows: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True)
class LessonRun:
    """How a lesson ran with the release.

    Args:
        lesson: such as "07_fallback".
        error: the error that ended it, None where it ran to its end.
        different: (cell id, first line that differs, what is stored) of cells whose stored output is compared.
    """

    lesson: str
    error: str | None = None
    different: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class TorchChanges:
    """What one release of torch means for the lessons; each table holds rows of texts.

    Args:
        release: the release that was looked at.
        environment: the environment in words.
        operators: (operator, verdict in the stamp's release, verdict now, lesson).
        ended: (lesson, row) of claims whose range of releases ended before this one.
        runs: how the lessons ran; empty where they were not run.
        warnings: what limits the report.
    """

    release: str
    environment: str
    operators: tuple[tuple[str, str, str, str], ...]
    ended: tuple[tuple[str, str], ...]
    runs: tuple[LessonRun, ...]
    warnings: tuple[str, ...] = ()

    @property
    def troubled(self) -> tuple[LessonRun, ...]:
        """Runs that ended with an error or did not give what is stored."""
        return tuple(run for run in self.runs if run.error is not None or run.different)

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to look at."""
        return not (self.operators or self.ended or self.troubled or self.warnings)

    def __str__(self) -> str:
        differing = []
        for run in self.troubled:
            differing += [(run.lesson, *row) for row in run.different or (("stopped", run.error or "", ""),)]
        parts = [f"# torch {self.release} and the lessons", "", f"Environment: {self.environment}."]
        parts += [f"{len(self.runs)} lessons were run, {len(self.troubled)} of them differ."]
        parts += [f"\n> warning: {warning}" for warning in self.warnings]
        parts += _table(
            "Operators with another verdict", ("operator", "stamp's release", "now", "lesson"), self.operators
        )
        parts += _table("Claims whose range of releases ended", ("lesson", "row"), self.ended)
        parts += _table("Lessons that ran differently", ("lesson", "cell", "now", "stored"), differing)
        return "\n".join([*parts, *(["", "Nothing to look at."] if self.nothing else [])]) + "\n"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table below a heading; nothing where there are no rows."""
    if not rows:
        return []
    written = [[" ".join(text.split()).replace("|", "\\|") for text in row] for row in rows]
    lines = ["", f"## {title}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return lines + [f"| {' | '.join(row)} |" for row in written]


def read_claims(name: str, notebook: Mapping[str, Any]) -> LessonClaims:
    """Read what a lesson claims.

    Args:
        name: the file's name without suffix.
        notebook: its JSON, nbformat 4.

    Raises:
        ValueError: when it has no stamp with a release of torch.
    """
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    prose = "\n\n".join(source for kind, source in cells if kind == "markdown")
    stamp = STAMP.search(prose)
    verified = STAMPED.findall(stamp[1]) if stamp else []
    if not verified:
        raise ValueError(f"{name} has no line '**Last verified** | torch X.Y.Z ...' in its card")
    table = MYTHS.search(prose)
    code = [source for kind, source in cells if kind == "code"]
    return LessonClaims(
        name=name,
        verified=max(verified, key=order),
        rows=tuple(table[1].splitlines()[2:]) if table else (),
        names=frozenset(operator_names([*(used for cell in code for used in code_names(cell)), *marked_code(prose)])),
    )


def marked_code(prose: str) -> Iterator[str]:
    """Yield what stands in code marks, and in blocks of code, of a Markdown text."""
    for found in CODE_MARK.finditer(prose):
        yield found["block"] or found["mark"] or ""


def code_names(code: str) -> Iterator[str]:
    """Yield the names that code uses: variables, attributes with what they hang on, and strings of one name.

    Words in comments, in sentences and in names of arguments are none: "take" is English there.

    Args:
        code: Python; a lesson has no magics.

    Raises:
        SyntaxError: when it is none.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield _dotted(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED_BY_STRING.fullmatch(node.value):
            yield node.value


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def operator_names(texts: Iterable[str]) -> set[str]:
    """Return the names in code, written as operators are: "torch.linalg.svd" also gives "linalg_svd" and "svd"."""
    found = set()
    for dotted in (name for text in texts for name in NAME.findall(text)):
        parts = dotted.strip(".").split(".")
        found |= {"_".join(parts[start:]) for start in range(len(parts))}
    # torch calls the operator inside linalg_eigvals _linalg_eigvals
    return found | {f"_{name}" for name in found}


def verdicts_by_operator(history: History, release: str) -> dict[str, dict[str, str]]:
    """Return operator -> overload -> verdict in words; the default overload is "default".

    Raises:
        LookupError: when the history lacks the release.
    """
    grouped: dict[str, dict[str, str]] = {}
    for overload, letter in history.verdicts(release).letters.items():
        operator, _, suffix = overload.partition(".")
        grouped.setdefault(operator, {})[suffix or "default"] = WORDS[RULES[letter].status]
    return grouped


def changed_operators(
    history: History, lessons: Sequence[LessonClaims], release: str
) -> tuple[tuple[str, str, str, str], ...]:
    """List the operators that lessons name and whose verdict differs from that in the lesson's stamp.

    A new overload alone changes no claim. Rows are (operator, before, now, lesson).

    Raises:
        LookupError: when the history lacks one of the releases.
    """
    now = verdicts_by_operator(history, release)
    rows = []
    for lesson in lessons:
        before = verdicts_by_operator(history, lesson.verified)
        for operator in sorted(lesson.names & (before.keys() | now.keys())):
            old, new = before.get(operator, {}), now.get(operator, {})
            if old and new:
                differing = [name for name in old if name in new and old[name] != new[name]]
                old, new = ({name: verdicts[name] for name in differing} for verdicts in (old, new))
            if old != new:
                rows.append((operator, _in_words(old), _in_words(new), lesson.name))
    return tuple(rows)


def _in_words(verdicts: Mapping[str, str]) -> str:
    return ", ".join(f"{overload}: {verdict}" for overload, verdict in sorted(verdicts.items())) or NOT_THERE


def ended_claims(lessons: Sequence[LessonClaims], release: str) -> tuple[tuple[str, str], ...]:
    """List the rows of "Myth or fact?" that speak of releases up to one between the lesson's stamp and this release.

    A row that names this release's line too says what holds there: it has not ended.
    """
    found = []
    for lesson in lessons:
        for row in lesson.rows:
            text = LINK.sub("]", row)
            ends = RANGE_END.findall(text)
            newest = max(ends, key=order) if ends else None
            if line_of(release) in ANY_RELEASE.findall(text):
                continue
            if newest and order(line_of(lesson.verified)) <= order(newest) < order(line_of(release)):
                found.append((lesson.name, row.strip("| ")))
    return tuple(found)
