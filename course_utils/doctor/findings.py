"""What the doctor says about one thing: how bad, what, how it is known, and what to do."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Literal

from course_utils.reporting.tables import html_hanging
from course_utils.reporting.wrapped import wrapped

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
ICONS: dict[Severity, str] = {"error": "[x]", "warning": "[!]", "note": "[i]"}


@dataclass(frozen=True)
class Diagnosis:
    """One finding of the doctor.

    Args:
        severity: "error" (MPS or the course cannot work), "warning" (it works, but not as it should) or "note".
        code: a short stable name of the cause, such as "rosetta".
        what: what is wrong, one sentence.
        how_known: the values of the snapshot that say so.
        fix: what to do.
        command: the command that does it, where one exists.
        source: where the fact behind it is published, with its version.
        follows_from: the code of the finding that causes this one; fix that one first.
    """

    severity: Severity
    code: str
    what: str
    how_known: str
    fix: str
    command: str | None
    source: str
    follows_from: str | None = None

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("known by", self.how_known)]
        rows += [("follows", f"from {self.follows_from}: fix that first")] if self.follows_from else []
        rows += [("do", self.fix)]
        rows += [("command", self.command)] if self.command else []
        return [*rows, ("source", self.source)]

    def __str__(self) -> str:
        lines = [wrapped(f"{self.severity}: {self.what} ({self.code})", f"{ICONS[self.severity]} ")]
        for name, text in self._rows():
            mark = f"    {name:<9}"
            # a command is never wrapped, so that it can be copied
            lines.append(mark + text if name == "command" else wrapped(text, mark))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        mark = f"<b>{html.escape(ICONS[self.severity])} {self.severity}:</b>"
        head = html_hanging(mark, f"{html.escape(self.what)} <code>{html.escape(self.code)}</code>")
        items = "".join(
            # JupyterLab floats terms: without `clear` one would stand beside the last line of the row above
            f'<dt style="clear: left">{name}</dt><dd>'
            + (f"<pre>{html.escape(text)}</pre>" if name == "command" else html.escape(text))
            + "</dd>"
            for name, text in self._rows()
        )
        return f"{head}<dl>{items}</dl>"
