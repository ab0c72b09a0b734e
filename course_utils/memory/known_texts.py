"""Texts other than torch's out-of-memory messages of MPS: what ended a program, or what ran short, and what helps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from course_utils.data.read import read_json
from course_utils.memory.pasted import find

TextKind = Literal["limit", "no limit", "buffer", "command buffer", "cpu", "assertion", "killed", "aborted"]


@dataclass(frozen=True)
class KnownText:
    """A text whose cause is known; the data with sources are in course_utils/data/memory_texts.json.

    Args:
        kind: what it is about: a "buffer" or "command buffer" of Metal, the "cpu", an "assertion" that ended the
            process, a process that was "killed", or one that a library "aborted".
        title: what happened, in words.
        patterns: regular expressions for `pasted.find`; one of them is enough. A group "size" is a size.
        cause: one or two sentences.
        advice: what helps, best first.
        ends_process: whether the process is gone when the text appears.
        sources: public reports and source files.
    """

    kind: TextKind
    title: str
    patterns: tuple[str, ...]
    cause: str
    advice: tuple[str, ...]
    ends_process: bool
    sources: tuple[str, ...]


@cache
def known_texts() -> tuple[KnownText, ...]:
    """Return all known texts, the most particular first."""
    return tuple(
        KnownText(
            kind=row["kind"],
            title=row["title"],
            patterns=tuple(row["patterns"]),
            cause=row["cause"],
            advice=tuple(row["advice"]),
            ends_process=row["ends_process"],
            sources=tuple(row["sources"]),
        )
        for row in read_json("memory_texts.json")["texts"]
    )


def find_known_text(text: str) -> tuple[KnownText, str | None] | None:
    """Return the first known text that a cleaned text holds, and the size in it, or None.

    Args:
        text: from `pasted.clean`.
    """
    for known in known_texts():
        for pattern in known.patterns:
            match = find(pattern, text)
            if match is not None:
                return known, match.groupdict().get("size")
    return None
