"""Write the overview of a class: who could not be graded, how the points are spread, which tasks failed most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote

from course_utils.grading.pages.html_page import Element, clip, element, page, table
from course_utils.grading.pages.reason_words import WORDS, points_text
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
    content: list[Element] = [
        element("h1", "Overview of ", element("bdi", name or "no exercise")),
        element("p", _in_words(graded, ungraded), class_="total"),
    ]
    if ungraded:
        content += [element("h2", "Not graded"), _ungraded_table(ungraded)]
    if graded:
        bins = histogram(graded)
        content += [element("h2", "Points"), _drawing(bins), _bin_table(bins)]
        content += [element("h2", "Tasks, the hardest first"), _task_table(hardest_first(graded))]
    if results:
        content += [element("h2", "Reasons"), _reason_table(results)]
    if graded:
        content += [element("h2", "Graded"), _student_table(graded)]
    return page(f"{name}: overview of the class", *content)


def _in_words(graded: Sequence[SubmissionResult], ungraded: Sequence[SubmissionResult]) -> str:
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
            by_id.setdefault(task.grade_id, []).append((task.name or task.grade_id, task.points, task.max_points))
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


def _drawing(bins: Sequence[Bin]) -> Element:
    """Draw the histogram; the table below it says the same."""
    left, bottom, width, height = 30, 150, 600, 130
    step = width / len(bins)
    most = max(one.count for one in bins) or 1
    bars: list[Element] = []
    for n, one in enumerate(bins):
        tall, x = height * one.count / most, left + n * step
        if one.count:
            bars.append(
                element(
                    "rect",
                    class_="bar",
                    x=f"{x + 1:.1f}",
                    y=f"{bottom - tall:.1f}",
                    width=f"{step - 2:.1f}",
                    height=f"{tall:.1f}",
                )
            )
            middle = f"{x + step / 2:.1f}"
            bars.append(element("text", str(one.count), x=middle, y=f"{bottom - tall - 4:.1f}", text_anchor="middle"))
        bars.append(element("text", f"{one.low:g}", x=f"{x:.1f}", y=bottom + 16, text_anchor="middle"))
    bars.append(element("text", f"{bins[-1].high:g}", x=left + width, y=bottom + 16, text_anchor="middle"))
    bars.append(element("line", class_="axis", x1=left, y1=bottom, x2=left + width, y2=bottom))
    bars.append(element("text", "points", x=left + width / 2, y=bottom + 34, text_anchor="middle"))
    fullest = max(bins, key=lambda one: one.count)
    said = (
        f"Histogram of points: {sum(one.count for one in bins)} submissions from {bins[0].low:g} to {bins[-1].high:g} "
        f"points; most of them, {fullest.count}, in {_bin_name(fullest, last=fullest is bins[-1])}. "
        "The table below has all numbers."
    )
    return element("svg", *bars, viewBox=f"0 0 {left + width + 30} {bottom + 40}", role="img", aria_label=said)


def _bin_table(bins: Sequence[Bin]) -> Element:
    rows = [(_bin_name(one, last=one is bins[-1]), str(one.count)) for one in bins]
    return element(
        "details",
        element("summary", "The histogram as a table"),
        table("Submissions by points", ("Points", "Submissions"), rows, class_="number"),
    )


def _task_table(tasks: Sequence[TaskCount]) -> Element:
    rows = [
        (
            element("bdi", clip(task.name, 120)),
            f"{task.mean_points:.2f} of {points_text(task.max_points)}",
            f"{task.full} of {task.graded}",
            f"{task.none} of {task.graded}",
        )
        for task in tasks
    ]
    head = ("Task", "Mean points", "All points", "No points")
    return table("What graded submissions earned in each task", head, rows, class_="number")


def _reason_table(results: Sequence[SubmissionResult]) -> Element:
    whole = Counter(result.reason for result in results)
    tasks = Counter(task.reason for result in results if result.graded for task in result.tasks)
    rows = [
        (WORDS[reason].label, str(whole[reason]), str(tasks[reason]), WORDS[reason].meaning)
        for reason in Reason
        if whole[reason] or tasks[reason]
    ]
    head = ("Reason", "Submissions", "Tasks", "What it means")
    caption = "How many submissions and tasks have each reason; a submission has the weightiest of its tasks"
    return table(caption, head, rows, class_="number")


def _student_table(graded: Sequence[SubmissionResult]) -> Element:
    rows = []
    for result in sorted(graded, key=lambda one: one.student):
        missed = [_short_name(task) for task in result.tasks if task.reason is not Reason.OK]
        more = f" and {len(missed) - 6} more" if len(missed) > 6 else ""
        points = f"{points_text(result.points)} of {points_text(result.max_points)}"
        label = WORDS[result.reason].label
        rows.append((_link(result), points, label, ", ".join(missed[:6]) + more, _notes(result)))
    head = ("Student", "Points", "Result", "Tasks not passed", "Notes")
    return table("Submissions with a grade", head, rows, class_="number")


def _ungraded_table(ungraded: Sequence[SubmissionResult]) -> Element:
    rows = [
        (_link(result), WORDS[result.reason].label, _notes(result))
        for result in sorted(ungraded, key=lambda one: one.student)
    ]
    return table("Submissions without a grade", ("Student", "Reason", "Notes"), rows)


def _link(result: SubmissionResult) -> Element:
    student = element("bdi", clip(result.student, 60) or "(no id)")
    return element("a", student, href=quote(f"{file_name(result.student)}.html"))


def _notes(result: SubmissionResult) -> Element:
    return element("bdi", "; ".join(clip(note, 120) for note in result.warnings[:3]))


def _short_name(task: TaskResult) -> str:
    """Return a task's number where its name begins with one, such as "4.1"; else its name."""
    number = task.name.partition(" ")[0]
    return number if number.replace(".", "").isdecimal() else clip(task.name or task.grade_id, 40)
