"""Printed sentences, broken between words: JupyterLab breaks a longer line of printed text in the middle of a word."""

from __future__ import annotations

import textwrap

# what JupyterLab shows in one line, with its file browser open, on a screen 1024 pixels wide
SENTENCE_WIDTH = 72


def wrapped(text: str, mark: str = "") -> str:
    """Return text with its lines broken between words; a word longer than a line, such as a link, stays whole.

    Args:
        text: sentences, in one line or several.
        mark: what the first line begins with, such as `"  * "`; the others are indented by its length.
    """
    lines = []
    for line in text.splitlines():
        broken = textwrap.wrap(line, SENTENCE_WIDTH - len(mark), break_long_words=False, break_on_hyphens=False)
        lines += broken or [""]
    return mark + f"\n{' ' * len(mark)}".join(lines)
