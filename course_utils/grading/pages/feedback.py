"""Write a student's feedback: one static page with what each task earned, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.pages.reason_words import ERROR_ADVICE, WORDS, ReasonText, points_text, total_text
from course_utils.grading.pages.render import render
from course_utils.grading.pages.visible_text import clip
from course_utils.grading.result import CheckResult, Reason, SubmissionResult, TaskResult
from course_utils.grading.result_files import file_name, write_below

PAGE_BYTES = 64 * 1024

# characters kept of one text that comes from the student's process; halved until the page fits
_LONGEST_TEXT = 4000
_SHORTEST_TEXT = 30
_MOST_ROWS = 60


def write_feedback(folder: Path, result: SubmissionResult) -> Path:
    """Write the feedback of one submission.

    Of a hidden check the page has the title and whether it passed; what the code gave and what was expected stay out.

    Args:
        folder: the folder of one exercise's feedback; it is made when it is not there.
        result: what the submission earned.

    Returns:
        The page: STUDENT.html, with a safe name where the id is not plain.
    """
    return write_below(folder, (f"{file_name(result.student)}.html",), feedback_page(result))


def feedback_page(result: SubmissionResult) -> bytes:
    """Return the page of one submission, at most `PAGE_BYTES` long unless it has hundreds of tasks."""
    longest = _LONGEST_TEXT
    content = _page(result, longest)
    while len(content) > PAGE_BYTES and longest > _SHORTEST_TEXT:
        longest //= 2
        content = _page(result, longest)
    return content


@dataclass(frozen=True)
class _TaskOnPage:
    """A task as the page shows it."""

    name: str
    points: str
    max_points: str
    passed: bool
    written: bool
    words: ReasonText
    message: str
    advice: str
    checks: tuple[CheckResult, ...]
    count: int
    all: int
    hint: list[tuple[bool, str]]
    printed: str
    by_hand: str
    comment: str
    witness: str


def _task(task: TaskResult, longest: int) -> _TaskOnPage:
    return _TaskOnPage(
        name=task.name or task.grade_id,
        points=points_text(task.counted_points),
        max_points=points_text(task.max_points),
        passed=task.reason is Reason.OK,
        written=task.reason is not Reason.UNWRITTEN,
        words=WORDS[task.reason],
        message=task.message,
        advice=ERROR_ADVICE.get(task.error, WORDS[task.reason].next_step),
        checks=task.checks[:_MOST_ROWS],
        count=sum(check.passed for check in task.checks),
        all=len(task.checks),
        hint=code_spans(clip(task.hint, min(longest, 1500))),
        printed=task.printed,
        by_hand=task.by_hand,
        comment=task.comment,
        witness=task.witness,
    )


def _page(result: SubmissionResult, longest: int) -> bytes:
    student, assignment = clip(result.student, 200), clip(result.assignment, 200)
    return render(
        "feedback.html",
        title=f"{assignment}: feedback for {student}",
        assignment=assignment,
        student=student,
        total=total_text(result),
        heading=_heading(result),
        words=WORDS[result.reason],
        remarks=_remarks(result, longest),
        result=result,
        # nothing is known about the tasks of a submission without a grade
        tasks=[_task(task, longest) for task in result.tasks[:_MOST_ROWS]] if result.graded else [],
        longest=longest,
        limit=lambda most: min(longest, most),
    )


def code_spans(text: str) -> list[tuple[bool, str]]:
    """Split Markdown at its backticks: pairs of whether it is code, and the text.

    >>> code_spans("use `median` of statistics")
    [(False, 'use '), (True, 'median'), (False, ' of statistics')]
    """
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # one backtick has no partner, so it is a backtick
        pieces[-2:] = ["`".join(pieces[-2:])]
    return [(place % 2 == 1, piece) for place, piece in enumerate(pieces) if piece]


def _heading(result: SubmissionResult) -> str:
    """Return the heading above why a submission has no grade, or what was odd about it; empty when all is ordinary."""
    if not result.graded:
        return "This submission has no grade"
    return "Graded, with a remark" if result.reason in (Reason.RENAMED, Reason.DUPLICATE) else ""


def _remarks(result: SubmissionResult, longest: int) -> list[str]:
    """Return the notes and warnings of the submission."""
    remarks = [clip(warning, min(longest, 400)) for warning in result.warnings[:20]]
    if result.sandbox.startswith("none"):
        remarks.append("Without a sandbox the code could change how it is graded; the points are not to be relied on.")
    return remarks
