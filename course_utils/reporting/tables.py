"""Small tables, for a terminal and for a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

# JupyterLab aligns every cell to the right, which suits numbers only
LEFT = 'style="text-align: left"'
_NUMBER = re.compile(r"[-+]?[\d,. ]*\d%?")


def text_table(rows: Rows, *, indent: str = "  ") -> list[str]:
    """Align rows of text in columns; the first row is the heading.

    Returns:
        One line for each row.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


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
    lines = ["".join(f"<td{style}>{html.escape(row[column])}</td>" for column, style in aligned) for row in body]
    body_html = "".join(f"<tr>{line}</tr>" for line in lines)
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        f"<table><caption {LEFT}>{html.escape(caption)}</caption><thead><tr>{head_html}</tr></thead>"
        f"<tbody>{body_html}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")
    )
