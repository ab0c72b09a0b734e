"""Write the points of an exercise as a CSV file that Canvas imports into its gradebook.

The form is that of Canvas's own export and import (instructure/canvas-lms, lib/gradebook_exporter.rb and
lib/gradebook_importer.rb, read in 2026): the columns Student, ID, SIS User ID, SIS Login ID and Section, then one for
each assignment, "name (number)", and a row "Points Possible". The import finds a student by ID, else by the SIS
columns, else by name; an empty field removes a grade that is there, and "EX" excuses the student.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_utils.grading.pages.reason_words import points_text
from course_utils.grading.pages.visible_text import visible
from course_utils.grading.result import SubmissionResult
from course_utils.reporting.errors import CourseError

_HEAD = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
_POINTS_POSSIBLE = "    Points Possible"  # Canvas writes the blanks
_EXCUSED = "EX"
# the columns by which a student is found, the surest first
_KEYS = ("SIS Login ID", "SIS User ID", "ID")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?%?")


class CanvasError(CourseError, ValueError):
    """The export cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class CanvasGrades:
    """A CSV file for Canvas.

    Args:
        text: its content.
        column: the head of the exercise's column.
        filled: how many students got points.
        warnings: students that were not found, and what else to look at before the import.
    """

    text: str
    column: str
    filled: int
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.filled} students have points in the column {self.column!r}"]
        return "\n".join(lines + [f"! {warning}" for warning in self.warnings])


def canvas_grades(
    results: Sequence[SubmissionResult],
    *,
    assignment_id: int | None = None,
    export: str | None = None,
    canvas_ids: Mapping[str, str] | None = None,
) -> CanvasGrades:
    """Write the points of one exercise for Canvas.

    A submission without a grade gets an empty field, never 0. Who is excused stays so, and who has no result keeps
    what the export has. Text that a spreadsheet would take for a formula gets
    an apostrophe in front.

    Args:
        results: one result for each submission of one exercise.
        assignment_id: Canvas's number of the assignment, which its address ends with; the column is then found, or
            made, as "name (number)".
        export: the text of Canvas's export of the course. Its rows and columns are kept, and its students are found
            by SIS login, SIS id or Canvas id, else by name, with a warning. Without it the students' ids are taken for
            SIS logins.
        canvas_ids: Canvas's numbers of the students who came with Canvas's own zip; they are found by these.

    Raises:
        CanvasError: when the export is no Canvas export.
        ValueError: when there are no results, or they are of several exercises.
    """
    names = sorted({result.assignment for result in results})
    if len(names) != 1:
        raise ValueError(f"a Canvas column is of one exercise; these results are of {', '.join(names) or 'none'}")
    warnings: list[str] = []
    rows, delimiter = _read_export(export) if export is not None else _rows_for(results, canvas_ids or {})
    column = _find_column(rows, names[0], assignment_id)
    possible = max(result.max_points for result in results)
    _write_points_possible(rows, column, possible, warnings)
    filled = _write_points(rows, column, results, warnings, canvas_ids or {})
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows([neutral(cell) for cell in row] for row in rows)
    return CanvasGrades(text.getvalue(), rows[0][column], filled, tuple(warnings))


def neutral(cell: str) -> str:
    """Return a cell's text so that no spreadsheet takes it for a formula, with control characters visible."""
    shown = visible(cell)
    if shown.lstrip()[:1] in ("=", "+", "-", "@", "\t", "|", "%") and not _NUMBER.fullmatch(shown.strip()):
        return f"'{shown}"
    return shown


def _rows_for(results: Sequence[SubmissionResult], canvas_ids: Mapping[str, str]) -> tuple[list[list[str]], str]:
    """Make the rows of a file without an export: Canvas's numbers where they are known, else the ids as logins."""
    numbers = [canvas_ids.get(result.student, "") for result in results]
    students = [
        [
            result.student.removesuffix(f"_{number}") if number else result.student,
            number,
            "",
            "" if number else result.student,
            "",
        ]
        for result, number in zip(results, numbers, strict=True)
    ]
    return [list(_HEAD), [_POINTS_POSSIBLE, "", "", "", ""], *students], ","


def _read_export(text: str) -> tuple[list[list[str]], str]:
    """Read an export's rows, all as wide as its head; a locale's semicolons are kept."""
    head = text.removeprefix("\ufeff").split("\n", 1)[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    try:
        rows = [row for row in csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise CanvasError(f"the Canvas export is not CSV: {error}; export it again") from error
    # "LastName" where the course shows first and last names apart
    if not rows or rows[0][0].strip() not in ("Student", "LastName") or "ID" not in rows[0]:
        raise CanvasError(
            'this is no export of Canvas\'s gradebook: its head has to begin with "Student" and to have "ID"; take the '
            "file that Canvas gives under Grades, Export"
        )
    width = len(rows[0])
    too_wide = next((n for n, row in enumerate(rows, start=1) if len(row) > width), None)
    if too_wide is not None:
        raise CanvasError(f"row {too_wide} of the Canvas export has more fields than its head; export it again")
    return [row + [""] * (width - len(row)) for row in rows], delimiter


def _find_column(rows: list[list[str]], name: str, assignment_id: int | None) -> int:
    """Return the place of the exercise's column, made at the end where there is none."""
    numbered = r"\(\d+\)" if assignment_id is None else rf"\({assignment_id}\)"
    pattern = re.compile(rf"{re.escape(name)}(\s*{numbered})?" if assignment_id is None else rf".*{numbered}")
    found = [place for place, head in enumerate(rows[0]) if pattern.fullmatch(head.strip())]
    if len(found) > 1:
        heads = ", ".join(rows[0][place] for place in found)
        raise CanvasError(f"the Canvas export has several columns for {name}: {heads}; give the assignment's number")
    if found:
        return found[0]
    rows[0].append(name if assignment_id is None else f"{name} ({assignment_id})")
    for row in rows[1:]:
        row.append("")
    return len(rows[0]) - 1


def _write_points_possible(rows: list[list[str]], column: int, possible: float, warnings: list[str]) -> None:
    place = next((n for n, row in enumerate(rows) if row[0].strip() == _POINTS_POSSIBLE.strip()), None)
    if place is None:
        rows.insert(1, [_POINTS_POSSIBLE] + [""] * (len(rows[0]) - 1))
        place = 1
    there = rows[place][column].strip()
    if there and there.replace(",", ".") not in (points_text(possible), f"{possible:.2f}", f"{possible:.1f}"):
        warnings.append(
            f"Canvas has {there} points possible for this exercise, which is worth {points_text(possible)}; "
            "correct the assignment in Canvas"
        )
        return
    rows[place][column] = points_text(possible)


def _write_points(
    rows: list[list[str]],
    column: int,
    results: Sequence[SubmissionResult],
    warnings: list[str],
    canvas_ids: Mapping[str, str],
) -> int:
    """Fill the column; return how many students got points."""
    filled = 0
    unknown: list[str] = []
    unclear: list[str] = []
    ungraded: list[str] = []
    excused: list[str] = []
    named: list[str] = []
    found = {result.student: _find(rows, result.student, canvas_ids) for result in results}
    by_name = {student: _find_name(rows, student) for student, matches in found.items() if not matches}
    # a row is one person's
    taken = Counter(place for matches in (*found.values(), *by_name.values()) for place in matches)
    for result in results:
        matches = found[result.student] or by_name[result.student]
        shared = result.student in by_name and any(taken[place] > 1 for place in matches)
        if len(matches) != 1 or shared:
            (unclear if matches else unknown).append(result.student)
            continue
        named += [result.student] if result.student in by_name else []
        row = rows[matches[0]]
        if row[column].strip().upper() == _EXCUSED:
            excused.append(result.student)
        elif result.graded:
            row[column] = points_text(result.points)
            filled += 1
        else:
            row[column] = ""
            ungraded.append(result.student)
    for students, what in (
        (unknown, "not in Canvas's export, so not in this file"),
        (unclear, "in several rows of Canvas's export, or in another student's, so without points"),
        (ungraded, "without a grade, so with an empty field, which removes a grade that Canvas has"),
        (excused, "excused in Canvas, so left as they are"),
        (named, "found in Canvas by name alone, so make sure that they are the same"),
    ):
        if students:
            listed = ", ".join(visible(student)[:60] for student in sorted(students))
            warnings.append(f"{_count(students)} {what}: {listed}")
    return filled


def _find(rows: list[list[str]], student: str, canvas_ids: Mapping[str, str]) -> list[int]:
    """Return the rows of a student, by Canvas's number where it is known, else by the id."""
    number = canvas_ids.get(student, "")
    return _find_number(rows, number) if number else _find_student(rows, student)


def _find_number(rows: list[list[str]], number: str) -> list[int]:
    """Return the rows of a student of whom Canvas's own zip had the number."""
    place = rows[0].index("ID")
    return [n for n, row in enumerate(rows[1:], start=1) if row[place] == number]


def _find_student(rows: list[list[str]], student: str) -> list[int]:
    """Return the rows of a student, by the first column that has the id; capitals matter only where nothing fits."""
    head = rows[0]
    for same in (str, str.casefold):
        for key in _KEYS:
            if key not in head:
                continue
            place = head.index(key)
            found = [n for n, row in enumerate(rows[1:], start=1) if row[place] and same(row[place]) == same(student)]
            if found:
                return found
    return _find_by_download(rows, student)


def _find_by_download(rows: list[list[str]], student: str) -> list[int]:
    """Return the rows of a student as Canvas's zip of submissions names one: "lovelaceada_1001", with the column ID.

    Both have to fit, the letters of the name and the number: an id of another origin may end with a number too.
    """
    head = rows[0]
    name, _, number = student.rpartition("_")
    width = 2 if head[0] == "LastName" else 1
    return [
        n
        for n, row in enumerate(rows[1:], start=1)
        if name and row[head.index("ID")] == number and _letters("".join(row[:width])) == _letters(name)
    ]


def _find_name(rows: list[list[str]], student: str) -> list[int]:
    """Return the rows of a student as Moodle's zip names one: "Ada Lovelace", where Canvas has "Lovelace, Ada"."""
    width = 2 if rows[0][0] == "LastName" else 1
    wanted = _words(student)
    return [n for n, row in enumerate(rows[1:], start=1) if len(wanted) > 1 and _words(" ".join(row[:width])) == wanted]


def _words(name: str) -> list[str]:
    return sorted(name.casefold().replace(",", " ").split())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _count(students: Sequence[str]) -> str:
    return "1 student is" if len(students) == 1 else f"{len(students)} students are"
