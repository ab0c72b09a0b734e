"""Write the overview of a class: who could not be graded, how the points are spread, which tasks failed most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote

from course_utils.grading.pages.reason_words import WORDS, ReasonText, points_text
from course_utils.grading.pages.render import render
from course_utils.grading.pages.visible_text import clip
from course_utils.grading.result import Reason, SubmissionResult, TaskResult
from course_utils.grading.result_files import file_name, write_below

_MOST_BINS = 20


@dataclass(frozen=True)
class Bin:
    """One bar of the histogram.

    Args:
        low: the least points in it.
        high: the points it ends before; the last one includes them.
        count: how many submissions are in it.
    """

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class TaskCount:
    """How a class did on one task.

    Args:
        name: the task's name.
        full: how many graded submissions earned all of its points.
        none: how many earned nothing.
        graded: how many were graded.
        mean_points: mean of the points earned.
        max_points: what it is worth.
    """

    name: str
    full: int
    none: int
    graded: int
    mean_points: float
    max_points: float


def write_overview(folder: Path, results: Sequence[SubmissionResult]) -> Path:
    """Write the overview beside the feedback pages, which it links to.

    Args:
        folder: the folder of one exercise's feedback, as for `write_feedback`.
        results: one result for each submission of one exercise.

    Returns:
        The page, overview.html.

    Raises:
        ValueError: when the results are of several exercises.
    """
    names = sorted({result.assignment for result in results})
    if len(names) > 1:
        raise ValueError(f"an overview is of one exercise, and these results are of {', '.join(names)}; write one each")
    return write_below(folder, ("overview.html",), overview_page(names[0] if names else "", results))


def overview_page(assignment: str, results: Sequence[SubmissionResult]) -> bytes:
    """Return the overview of one exercise."""
    graded = [result for result in results if result.graded]
    ungraded = [result for result in results if not result.graded]
    name = clip(assignment, 200)
    bins = histogram(graded) if graded else ()
    return render(
        "overview.html",
        title=f"{name}: overview of the class",
        name=name,
        summary=_summary(graded, ungraded),
        ungraded=_rows(ungraded),
        graded=_rows(graded),
        drawing=_drawing(bins) if bins else None,
        bins=[(_bin_name(one, last=one is bins[-1]), one.count) for one in bins],
        tasks=hardest_first(graded),
        reasons=_reasons(results),
    )


def _summary(graded: Sequence[SubmissionResult], ungraded: Sequence[SubmissionResult]) -> str:
    if not graded:
        return f"{len(ungraded)} submissions, none graded"
    middle = points_text(median(result.points for result in graded))
    most = points_text(max(result.max_points for result in graded))
    return f"{len(graded)} graded, median {middle} of {most} points; {len(ungraded)} not graded"


def histogram(graded: Sequence[SubmissionResult]) -> tuple[Bin, ...]:
    """Count the points of graded submissions in at most 20 bins of one width, a whole number of points."""
    most = max(max(result.max_points, result.points) for result in graded)
    width = max(1, math.ceil(most / _MOST_BINS))
    count = max(1, math.ceil(most / width))
    places = Counter(min(int(result.points // width), count - 1) for result in graded)
    return tuple(Bin(n * width, (n + 1) * width, places[n]) for n in range(count))


def hardest_first(graded: Sequence[SubmissionResult]) -> tuple[TaskCount, ...]:
    """Count for each task who earned it, the task with the lowest share of points first."""
    by_id: dict[str, list[tuple[str, float, float]]] = {}
    for result in graded:
        for task in result.tasks:
            by_id.setdefault(task.grade_id, []).append(
                (task.name or task.grade_id, task.counted_points, task.max_points)
            )
    counts = [
        TaskCount(
            name=rows[0][0],
            full=sum(points >= most for _, points, most in rows),
            none=sum(points <= 0 < most for _, points, most in rows),
            graded=len(rows),
            mean_points=sum(points for _, points, _ in rows) / len(rows),
            max_points=rows[0][2],
        )
        for rows in by_id.values()
    ]
    return tuple(sorted(counts, key=lambda task: task.mean_points / task.max_points if task.max_points else 1.0))


def _bin_name(one: Bin, *, last: bool) -> str:
    return f"{one.low:g} to {one.high:g}" if last else f"{one.low:g} to below {one.high:g}"


@dataclass(frozen=True)
class _Bar:
    """One bar as it is drawn; coordinates as text."""

    count: int
    low: str
    left: str
    x: str
    y: str
    width: str
    height: str
    middle: str
    above: str


@dataclass(frozen=True)
class _Drawing:
    """The histogram as it is drawn; the table below it says the same."""

    bars: tuple[_Bar, ...]
    description: str
    high: str
    width: int = 660
    height: int = 190
    left: int = 30
    right: int = 630
    centre: int = 330
    axis: int = 150


def _drawing(bins: Sequence[Bin]) -> _Drawing:
    """Lay the histogram out."""
    left, axis, tallest = _Drawing.left, _Drawing.axis, 130
    step = (_Drawing.right - left) / len(bins)
    most = max(one.count for one in bins) or 1
    bars = []
    for n, one in enumerate(bins):
        tall, x = tallest * one.count / most, left + n * step
        bars.append(
            _Bar(
                count=one.count,
                low=f"{one.low:g}",
                left=f"{x:.1f}",
                x=f"{x + 1:.1f}",
                y=f"{axis - tall:.1f}",
                width=f"{step - 2:.1f}",
                height=f"{tall:.1f}",
                middle=f"{x + step / 2:.1f}",
                above=f"{axis - tall - 4:.1f}",
            )
        )
    fullest = max(bins, key=lambda one: one.count)
    description = (
        f"Histogram of points: {sum(one.count for one in bins)} submissions from {bins[0].low:g} to {bins[-1].high:g} "
        f"points; most of them, {fullest.count}, in {_bin_name(fullest, last=fullest is bins[-1])}. "
        "The table below has all numbers."
    )
    return _Drawing(tuple(bars), description, f"{bins[-1].high:g}")


def _reasons(results: Sequence[SubmissionResult]) -> list[tuple[ReasonText, int, int]]:
    """Count submissions and tasks by their reasons."""
    whole = Counter(result.reason for result in results)
    tasks = Counter(task.reason for result in results if result.graded for task in result.tasks)
    return [(WORDS[reason], whole[reason], tasks[reason]) for reason in Reason if whole[reason] or tasks[reason]]


@dataclass(frozen=True)
class _StudentRow:
    """One student as the page shows them."""

    student: str
    href: str
    label: str
    notes: str
    points: str
    missed: str


def _rows(results: Sequence[SubmissionResult]) -> list[_StudentRow]:
    """Return a row for each student, in the order of their ids."""
    rows = []
    for result in sorted(results, key=lambda one: one.student):
        missed = [
            _short_name(task)
            for task in result.tasks
            if task.reason is not Reason.OK and task.counted_points < task.max_points
        ]
        more = f" and {len(missed) - 6} more" if len(missed) > 6 else ""
        rows.append(
            _StudentRow(
                student=result.student,
                href=quote(f"{file_name(result.student)}.html"),
                label=WORDS[result.reason].label,
                notes="; ".join(clip(note, 120) for note in (*result.look_at, *result.warnings)[:3]),
                points=f"{points_text(result.points)} of {points_text(result.max_points)}",
                missed=", ".join(missed[:6]) + more,
            )
        )
    return rows


def _short_name(task: TaskResult) -> str:
    """Return a task's number where its name begins with one, such as "4.1"; else its name."""
    number = task.name.partition(" ")[0]
    return number if number.replace(".", "").isdecimal() else clip(task.name or task.grade_id, 40)
