"""An error in one line, for sentences that quote it."""

from __future__ import annotations


def first_line(error: BaseException) -> str:
    """Write an error as its type and the first line of its text."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
