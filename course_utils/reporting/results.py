"""How a result shows itself in a terminal and in a notebook: text, or a titled table with notes and warnings."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from typing import Any

from course_utils.reporting.tables import Rows, html_table, text_table
from course_utils.reporting.wrapped import wrapped


class TextResult:
    """A result whose `repr` is its text; a notebook shows the same text.

    Subclasses define `__str__`; a dataclass says `repr=False`.
    """

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the fields."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


class TableResult(TextResult):
    """A result that shows as a titled table with notes, and its `warnings` where it has any.

    Subclasses define `title`, `rows` and, where there is something to add, `notes`; `warnings` may be a field or a
    property.
    """

    def title(self) -> str:
        """Return the line above the table."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """Return the table as text, the heading first; a table without anything below its heading is left out."""
        raise NotImplementedError

    def notes(self) -> Sequence[str]:
        """Return what to know beside the numbers, one sentence each."""
        return ()

    def _remarks(self) -> list[str]:
        warnings: Sequence[str] = getattr(self, "warnings", ())
        return [*self.notes(), *(f"warning: {warning}" for warning in warnings)]

    def __str__(self) -> str:
        rows = self.rows()
        table = text_table(rows) if len(rows) > 1 else []
        return "\n".join([wrapped(self.title()), *table, *(wrapped(remark, "  ") for remark in self._remarks())])

    def _repr_html_(self) -> str:
        rows = self.rows()
        if len(rows) > 1:
            return html_table(self.title(), rows, self._remarks())
        items = "".join(f"<li>{html.escape(remark)}</li>" for remark in self._remarks())
        return f"<p>{html.escape(self.title())}</p>" + (f"<ul>{items}</ul>" if items else "")
