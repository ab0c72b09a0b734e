"""Printed sentences, broken between words: JupyterLab breaks a longer line of printed text in the middle of a word."""

from __future__ import annotations

import textwrap

# what JupyterLab shows in one line, with its file browser open, on a screen 1024 pixels wide
SENTENCE_WIDTH = 72


def wrapped(text: str) -> str:
    """Return text with its lines broken between words; a word longer than a line, such as a link, stays whole."""
    lines = (
        textwrap.fill(line, SENTENCE_WIDTH, break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )
    return "\n".join(lines)
