"""Text of students as a reader may see it: hidden characters shown, long texts cut."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# join letters and emoji; harmless, and part of names
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """Make characters visible that a browser hides or obeys: control, direction, zero width, halves of pairs."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_show, text))


@lru_cache(maxsize=4096)
def _show(character: str) -> str:
    if character in "\n\t" or character in _JOINERS:
        return character
    # Cc has NUL, Cf the right-to-left override, Cs what cannot be written as UTF-8
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return f"<U+{ord(character):04X}>" if hidden else character


def clip(text: str, limit: int) -> str:
    """Keep the start of a text, as it will be shown, and say how long it was.

    Args:
        text: any text; only its start is looked at.
        limit: how many characters are kept.
    """
    shown = visible(text[: limit + 1])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return f"{shown[:limit]} … (cut; {len(text):,} characters in all)"


def clip_start(text: str, limit: int) -> str:
    """Keep the end of a text, as it will be shown, and say how long it was."""
    shown = visible(text[-limit - 1 :])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return f"(cut; {len(text):,} characters in all) … {shown[-limit:]}"
