"""The report of a class: one row for each student, as CSV and as a table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from course_utils.grading.result import Reason, SubmissionResult

# a spreadsheet takes a cell that begins with one of these for a formula
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_MESSAGE = 60


def message_of(result: SubmissionResult) -> str:
    """Return what to say about a result: why points were lost, else what was noticed."""
    lost = [task.message for task in result.tasks if task.message and task.reason == result.reason]
    lost = lost or [task.message for task in result.tasks if task.message]
    return "; ".join([*lost[:1], *result.look_at, *result.warnings])


def report_rows(results: Sequence[SubmissionResult], waiting: Sequence[str] = ()) -> list[list[str | float]]:
    """Make the rows of a report, the heading first.

    Args:
        results: one for each student; one without a grade has empty cells for its points.
        waiting: students who are not graded yet.
    """
    ids = [task.grade_id for task in results[0].tasks] if results else []
    rows: list[list[str | float]] = [["student", *ids, "total", "max", "reason", "message", "seconds"]]
    for result in results:
        earned: dict[str, str | float] = {}
        if result.graded:
            earned = {task.grade_id: task.counted_points for task in result.tasks}
        points = [earned.get(grade_id, "") for grade_id in ids]
        total = result.points if result.graded else ""
        message = message_of(result)
        rows.append([result.student, *points, total, result.max_points, result.reason.value, message, result.seconds])
    for student in waiting:
        rows.append([student, *([""] * len(ids)), "", "", "", "not graded yet", ""])
    return rows


def csv_text(rows: Sequence[Sequence[str | float]]) -> str:
    """Write rows as CSV; text that a spreadsheet would take for a formula gets an apostrophe in front."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: str | float) -> str | float:
    if not isinstance(value, str):
        return int(value) if float(value).is_integer() else value
    line = " ".join(value.split())
    return f"'{line}" if value.startswith(_FORMULA) or line.startswith(_FORMULA) else line


def short_name(grade_id: str) -> str:
    """Return the name of a column in a terminal.

    >>> short_name("ex04-task1-check")
    'task1'
    """
    return re.sub(r"^ex\d\d-(?=.)", "", grade_id.removesuffix("-check"))


def short_rows(results: Sequence[SubmissionResult], waiting: Sequence[str] = ()) -> list[list[str]]:
    """Make the rows of a table for a terminal: points out of points, and the beginning of each message."""
    names = [short_name(task.grade_id) for task in results[0].tasks] if results else []
    rows = [["student", *names, "total", "reason", "message"]]
    for result in results:
        by_id = {task.grade_id: task for task in result.tasks}
        points = ["-"] * len(names)
        if result.graded:
            found = [by_id.get(task.grade_id) for task in results[0].tasks]
            points = ["-" if task is None else f"{task.counted_points:g}/{task.max_points:g}" for task in found]
        total = f"{result.points:g}/{result.max_points:g}" if result.graded else "-"
        message = "" if result.reason is Reason.OK and not (result.warnings or result.look_at) else message_of(result)
        rows.append([result.student, *points, total, result.reason.value, _shorten(message)])
    rows += [[student, *("-" for _ in names), "-", "", "not graded yet"] for student in waiting]
    # what students wrote must not steer the terminal
    return [["".join(letter if letter.isprintable() else "?" for letter in cell) for cell in row] for row in rows]


def _shorten(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 3] + "..."
