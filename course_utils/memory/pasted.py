"""Texts that people paste from a terminal, a notebook or a web page, in one form that patterns can be matched on."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:[>|│#]+[ \t]*)+", re.MULTILINE)
_MARKS = str.maketrans(dict.fromkeys("‘’`´", "'") | dict.fromkeys("“”„", '"') | dict.fromkeys("\u00ad\u200b", ""))
_BLANKS = re.compile(r"[^\S\n]+")
_UNIT = r"\s*(?:bytes|[kmgt]i?b)\b"
_DECIMAL_COMMA = re.compile(rf"(?<=\d),(?=\d{{1,2}}{_UNIT})")
_POINT_BETWEEN_THOUSANDS = re.compile(rf"(?<=\d)\.(?=\d{{3}},\d{{1,2}}{_UNIT})")
_COMMA_BETWEEN_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")


def clean(text: str) -> str:
    """Return a pasted text in lower case, without colours, quotation marks of a reply, and typographic variants.

    Lines stay lines; a decimal comma becomes a point, and what separates thousands goes.

    Args:
        text: as pasted.
    """
    text = unicodedata.normalize("NFKC", html.unescape(_ANSI.sub("", text))).translate(_MARKS)
    text = _QUOTED_LINE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _POINT_BETWEEN_THOUSANDS.sub("", _BLANKS.sub(" ", text).lower())
    return _COMMA_BETWEEN_THOUSANDS.sub("", _DECIMAL_COMMA.sub(".", text))


def find(pattern: str, text: str) -> re.Match[str] | None:
    """Search a cleaned text for a pattern.

    A terminal breaks lines anywhere, so a space in the pattern stands for white space or none, and where nothing is
    found the text is searched again without any white space.

    Args:
        pattern: a regular expression for lower-case text; "^" and "$" stand for the ends of lines.
        text: from `clean`.
    """
    compiled = _compiled(pattern)
    return compiled.search(text) or compiled.search(re.sub(r"\s+", "", text))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", r"\s*"), re.MULTILINE | re.DOTALL)
