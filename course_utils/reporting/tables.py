"""Small tables, for a terminal and for a notebook."""

from __future__ import annotations

import html
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

# JupyterLab aligns every cell to the right, which suits numbers only
LEFT = 'style="text-align: left"'
_NUMBER = re.compile(r"[-+]?[\d,. ]*\d%?")
# a longer run of characters than this, such as a path, may be broken after a sign, or wherever it is still longer
LONGEST_UNBROKEN = 16
_LONG_WORD = re.compile(rf"[^\s]{{{LONGEST_UNBROKEN + 1},}}")
_DECIMAL = r"[-+]?\d+\.\d+(?:e[-+]?\d+)?"
_SIGNS = rf"(?:(?!{_DECIMAL})\W)"
_PIECE = re.compile(rf"{_DECIMAL}{_SIGNS}*|\w{{1,{LONGEST_UNBROKEN}}}{_SIGNS}*|{_SIGNS}+")
# what a last column has, however narrow the terminal is
_SHORTEST_END = 20


def text_table(rows: Rows, *, indent: str = "  ", fit: bool = False) -> list[str]:
    """Align rows of text in columns; the first row is the heading.

    Args:
        rows: the rows.
        indent: what each line begins with.
        fit: whether to go on in the next line where the last column is wider than the terminal, if there is one.

    Returns:
        The lines.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if fit and sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        longest = max(_SHORTEST_END, columns - len(indent) - sum(width + 2 for width in widths[:-1]))
        rows = [line for row in rows for line in _wrapped(row, longest)]
        widths = [*widths[:-1], min(widths[-1], longest)]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _wrapped(row: Sequence[str], longest: int) -> list[list[str]]:
    """Return a row as lines whose last cell is no longer than this; the other cells stand in the first line."""
    first, *more = textwrap.wrap(row[-1], longest) or [""]
    return [[*row[:-1], first], *([*[""] * (len(row) - 1), part] for part in more)]


def html_table(caption: str, rows: Rows, notes: Sequence[str] = ()) -> str:
    """Write rows as an HTML table with a caption, and notes as a list below it; all text is escaped.

    Columns of numbers are aligned to the right, all others to the left.
    """
    head, *body = rows
    aligned = [
        (column, "" if body and all(_NUMBER.fullmatch(row[column]) for row in body) else f" {LEFT}")
        for column in range(len(head))
    ]
    head_html = "".join(f'<th scope="col"{style}>{html.escape(head[column])}</th>' for column, style in aligned)
    lines = ["".join(f"<td{style}>{html_breakable(row[column])}</td>" for column, style in aligned) for row in body]
    body_html = "".join(f"<tr>{line}</tr>" for line in lines)
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        f"<table><caption {LEFT}>{html.escape(caption)}</caption><thead><tr>{head_html}</tr></thead>"
        f"<tbody>{body_html}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")
    )


def html_breakable(text: str) -> str:
    """Escape text, and mark in its long words where a narrow page may break them; what is copied stays the same.

    JupyterLab drops `overflow-wrap: anywhere` from what it does not trust, such as a notebook that another program ran.
    """
    pieces, end = [], 0
    for word in _LONG_WORD.finditer(text):
        pieces += [html.escape(text[end : word.start()]), "<wbr/>".join(map(html.escape, _PIECE.findall(word.group())))]
        end = word.end()
    return "".join([*pieces, html.escape(text[end:])])


def html_hanging(mark: str, text: str) -> str:
    """Write a paragraph of HTML whose later lines begin under the first one's text, not under the mark before it.

    Args:
        mark: what the paragraph begins with, as HTML.
        text: the paragraph, as HTML.
    """
    return (
        '<div style="display: table; margin: 0.5em 0">'
        f'<div style="display: table-cell; white-space: nowrap; padding-right: 0.5em">{mark}</div>'
        f'<div style="display: table-cell">{text}</div></div>'
    )
