"""Write a student's feedback: one static page that says what each task earned, and why."""

from __future__ import annotations

from pathlib import Path

from course_utils.grading.pages.html_page import Element, clip, clip_start, element, page, table
from course_utils.grading.pages.reason_words import WORDS, points_text, total_text
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


def _page(result: SubmissionResult, longest: int) -> bytes:
    student, assignment = clip(result.student, 200), clip(result.assignment, 200)
    return page(
        f"{assignment}: feedback for {student}",
        element("h1", "Feedback on ", element("bdi", assignment)),
        element("p", "Student: ", element("bdi", student)),
        element("p", total_text(result), class_="total"),
        *_reason(result),
        *_remarks(result, longest),
        # nothing is known about the tasks of a submission without a grade
        *([_summary(result)] if result.graded else []),
        *(_task(task, longest) for task in result.tasks[:_MOST_ROWS] if result.graded),
        _footer(result),
    )


def _reason(result: SubmissionResult) -> list[Element]:
    """Say why a submission has no grade, or what was odd about it as a whole."""
    if result.graded and result.reason not in (Reason.RENAMED, Reason.DUPLICATE):
        return []
    words = WORDS[result.reason]
    heading = "Graded, with a remark" if result.graded else "This submission has no grade"
    return [element("h2", heading), _panel(words.meaning, words.next_step)]


def _panel(*sentences: str) -> Element:
    return element(
        "div", *(element("p", element("bdi", sentence)) for sentence in sentences if sentence), class_="panel"
    )


def _remarks(result: SubmissionResult, longest: int) -> list[Element]:
    """List the notes and warnings of the submission."""
    remarks = [clip(warning, min(longest, 400)) for warning in result.warnings[:20]]
    if result.sandbox.startswith("none"):
        remarks.append("Without a sandbox the code could change how it is graded; the points are not to be relied on.")
    if any(check.measured_inside for task in result.tasks for check in task.checks):
        remarks.append(
            'Checks marked "measured in your process" were counted beside your code; they were only examined for '
            "known ways of tampering."
        )
    if not remarks:
        return []
    return [element("h2", "Notes"), element("ul", *(element("li", remark) for remark in remarks))]


def _verdict(passed: bool) -> Element:
    """Write a verdict as a sign and a word, so that its colour carries nothing."""
    word = element("span", "✓ ", aria_hidden="true") if passed else element("span", "✗ ", aria_hidden="true")
    return element("span", word, "passed" if passed else "not passed", class_="good" if passed else "bad")


def _summary(result: SubmissionResult) -> Element:
    rows = [
        (
            element("bdi", clip(task.name or task.grade_id, 120)),
            f"{points_text(task.points)} of {points_text(task.max_points)}",
            WORDS[task.reason].label,
        )
        for task in result.tasks[:_MOST_ROWS]
    ]
    return table("Tasks, points and reasons", ("Task", "Points", "Result"), rows, class_="number")


def _task(task: TaskResult, longest: int) -> Element:
    words = WORDS[task.reason]
    parts: list[Element | None] = [
        element("h2", element("bdi", clip(task.name or task.grade_id, 120))),
        element(
            "p",
            _verdict(task.reason is Reason.OK),
            f" · {points_text(task.points)} of {points_text(task.max_points)} points · {words.label}",
        ),
    ]
    if task.reason is not Reason.OK:
        message = clip(task.message, min(longest, 600))
        parts.append(_panel(message or words.meaning, words.next_step))
    parts += [_check(check, longest) for check in task.checks[:_MOST_ROWS] if not check.passed and not check.hidden]
    parts.append(_check_table(task))
    if task.hint and task.reason is not Reason.OK:
        parts += [element("h3", "Hint"), element("p", element("bdi", clip(task.hint, min(longest, 1500))))]
    if task.printed:
        parts += [
            element("h3", "What your code printed (the end of it)"),
            element("pre", clip_start(task.printed, longest), tabindex=0),
        ]
    return element("section", *parts, class_="task")


def _check(check: CheckResult, longest: int) -> Element:
    """Show yours beside what was expected, for a visible check that did not pass."""
    values = (("yours", check.yours), ("expected", check.expected))
    rows = [
        (name, element("pre", clip(value, min(longest, 1200)) or "(nothing)", tabindex=0)) for name, value in values
    ]
    title = element("bdi", clip(check.title, 160))
    return element(
        "div",
        element("h3", _verdict(passed=False), ": ", title),
        table("What your code gave, and what was expected", (), rows, class_="pair"),
    )


def _check_table(task: TaskResult) -> Element | None:
    """List all checks by title; of the hidden ones this is all that a student gets to see."""
    if not task.checks:
        return None
    rows = []
    for check in task.checks[:_MOST_ROWS]:
        kind = "hidden" if check.hidden else "visible"
        inside = ", measured in your process" if check.measured_inside else ""
        rows.append((element("bdi", clip(check.title, 160)), kind + inside, _verdict(check.passed)))
    count = sum(check.passed for check in task.checks)
    return table(f"All checks: {count} of {len(task.checks)} passed", ("Check", "Kind", "Result"), rows)


def _footer(result: SubmissionResult) -> Element:
    where = f"Sandbox: {clip(result.sandbox, 60)}. " if result.sandbox else ""
    which = f"Content hash: {clip(result.digest, 16)}." if result.digest else ""
    return element("footer", f"{where}Time: {result.seconds:.1f} s. {which}")
