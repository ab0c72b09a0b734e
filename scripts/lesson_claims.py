"""Read from a lesson what it claims about releases of torch: its stamp, its myths, the operators that it names.

Pure reading: what holds in another release, scripts/torch_changes.py says.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.data.versions import order

STAMP = re.compile(r"\*\*Last verified\*\*\s*\|([^|\n]*)")
STAMPED = re.compile(r"torch (\d+\.\d+(?:\.\d+)?)")
MYTHS = re.compile(r"^## Myth or fact\?\n\n((?:\|.*\n?)+)", re.MULTILINE)
# 2.14 and 1.13 are releases of torch; 12.3 is a macOS, "1.7 times" and "7.6 µs" are numbers
RELEASE = re.compile(r"(?<![\d.#])([12]\.\d{1,2})(?:\.\d+)?(?![\d.]*\s*(?:times|µs|ms|s\b|%|GiB|GB))(?![\d])")
RANGE = re.compile(r"\b(?:up to|to|until)\s+(?:torch\s+)?[12]\.\d{1,2}")
# words that claim something of releases that nobody has seen yet
OPEN_WORDS = ("every release", "no release", "still", "not yet", "and newer", "open in")
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Myth:
    """One row of a lesson's table "Myth or fact?".

    Args:
        reads: what people write.
        holds: what holds.
        since: since when, and the source.
    """

    reads: str
    holds: str
    since: str

    @property
    def text(self) -> str:
        """The whole row."""
        return f"{self.reads} | {self.holds} | {self.since}"

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases of torch that it names, oldest first, such as ("2.9", "2.14"); links do not count."""
        words = re.sub(r"\]\([^)]*\)", "]", f"{self.holds} | {self.since}")
        return tuple(sorted(set(RELEASE.findall(words)), key=order))

    @property
    def ends(self) -> bool:
        """Whether it names a range of releases, which ends."""
        return RANGE.search(f"{self.holds} | {self.since}") is not None

    @property
    def open_words(self) -> tuple[str, ...]:
        """The words by which it claims something of releases to come."""
        words = f"{self.holds} | {self.since}".lower()
        return tuple(word for word in OPEN_WORDS if word in words)


@dataclass(frozen=True)
class Lesson:
    """What a lesson claims.

    Args:
        name: such as "07_fallback".
        verified: the release of torch in its stamp "Last verified"; the newest, where machines have their own.
        stamp: the stamp as written.
        myths: its table "Myth or fact?".
        names: names in its code and its prose that may be operators, such as "linalg_svd".
    """

    name: str
    verified: str
    stamp: str
    myths: tuple[Myth, ...]
    names: frozenset[str]


def read_lesson(name: str, notebook: Mapping[str, Any]) -> Lesson:
    """Read a lesson.

    Args:
        name: the file's name without suffix.
        notebook: its JSON, nbformat 4.

    Raises:
        ValueError: when it has no stamp with a release of torch.
    """
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    prose = "\n\n".join(source for kind, source in cells if kind == "markdown")
    stamp = STAMP.search(prose)
    verified = STAMPED.findall(stamp.group(1)) if stamp else []
    if stamp is None or not verified:
        raise ValueError(f"{name} has no line '**Last verified** | torch X.Y.Z ...' in its card")
    code = [source for kind, source in cells if kind == "code"]
    return Lesson(
        name=name,
        verified=max(verified, key=order),
        stamp=stamp.group(1).strip(),
        myths=read_myths(prose),
        names=frozenset(names_in_code(code)) | frozenset(names_in_prose(prose)),
    )


def read_myths(prose: str) -> tuple[Myth, ...]:
    """Read the rows of the table "Myth or fact?"; none where there is no such table."""
    table = MYTHS.search(prose)
    rows = table.group(1).splitlines()[2:] if table else []
    parts = [[part.strip() for part in row.strip().strip("|").split("|")] for row in rows]
    return tuple(Myth(*row) for row in parts if len(row) == 3)


def operator_name(text: str) -> str:
    """Write a name as operators are named: "torch.linalg.svd" and "aten::linalg_svd" are "linalg_svd"."""
    name = text.strip().removeprefix("aten::").split("(")[0]
    for prefix in ("torch.", "nn.functional.", "F.", "nn.", "Tensor.", "x."):
        name = name.removeprefix(prefix)
    return name.strip(".").replace(".", "_")


def names_in_prose(prose: str) -> Iterator[str]:
    """Yield the names that stand in code marks."""
    for text in CODE.findall(prose):
        name = operator_name(text)
        if name.isidentifier():
            yield name


def names_in_code(cells: Sequence[str]) -> Iterator[str]:
    """Yield what code cells call or name in text; a cell that does not parse yields nothing."""
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                yield node.attr
                yield operator_name(ast.unparse(node))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield operator_name(node.value)
