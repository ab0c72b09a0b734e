"""The base class of this package's own errors: their message is one sentence that can be shown as it stands."""

from __future__ import annotations

from course_utils.reporting.error_text import first_line


class CourseError(Exception):
    """Something that was asked for cannot be done; the message says what happened, with which value, and what to do."""


def sentence(error: BaseException) -> str:
    """Return what to show of an error: the message of one of our own, else its type and its first line."""
    if isinstance(error, CourseError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}" if error.filename else error.strerror
    return first_line(error)
