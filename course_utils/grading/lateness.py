"""When something was handed in, by the school's own timestamps, and whether that was after the due date."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from course_utils.grading.reading.submission import Submission

# nbgrader's timestamp.txt, such as "2026-03-01 12:00:00.123456 UTC" or "... +0100"
_NBGRADER = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(UTC|Z|[+-]\d\d:?\d\d)?")


def read_time(text: str, *, zone: str = "") -> datetime | None:
    """Read a date, a date and a time, or these with a zone; None where it is not a time.

    Args:
        text: such as "2026-03-01", "2026-03-01 23:59" or "2026-03-01 23:59 +0100"; a date alone means its end.
        zone: the zone where the text has none, such as "UTC"; this machine's when empty.
    """
    text = text.strip()
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        text += " 23:59:59"
    found = _NBGRADER.fullmatch(text)
    if found is None:
        return None
    offset = (found[3] or zone).replace("UTC", "+00:00").replace("Z", "+00:00")
    try:
        time = datetime.fromisoformat(f"{found[1]}T{found[2]}{offset}")
    except ValueError:
        return None
    return time.astimezone()


def handed_in_at(submission: Submission) -> datetime | None:
    """Return when a submission was handed in: nbgrader's timestamp.txt, else a platform's zip; None where not known."""
    if submission.handed_in:
        return read_time(submission.handed_in, zone="UTC")
    if submission.submitted_s > 0:
        return datetime.fromtimestamp(submission.submitted_s, UTC).astimezone()
    return None


def lateness(submission: Submission, due: datetime | None) -> str:
    """Return the sentence about a submission that was handed in late; empty when it was not, or that is not known."""
    at = handed_in_at(submission)
    if due is None or at is None or at <= due:
        return ""
    return f"late: handed in {_shown(at)}, due {_shown(due)}"


def _shown(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M")
