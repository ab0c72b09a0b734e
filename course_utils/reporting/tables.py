"""Small tables, for a terminal and for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


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
    """Write rows as an HTML table with a caption, and notes as a list below it; all text is escaped."""
    head, *body = rows
    head_html = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    body_html = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head_html}</tr></thead>"
        f"<tbody>{body_html}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")
    )
