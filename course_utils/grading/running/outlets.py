"""Where results go beside the results folder: nbgrader's gradebook and folders, the feedback, the class's overview.

Each outlet takes a delivery. One that fails says so in a sentence and holds up neither the others nor the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.reading.collect import Collected
from course_utils.grading.result import SubmissionResult
from course_utils.reporting.error_text import first_line
from course_utils.sandbox.limits import Limits


@dataclass(frozen=True)
class Delivery:
    """The results of a class, on their way out.

    Args:
        name: the exercise's name.
        source: the instructor's notebook.
        root: the course's root, where nbgrader has autograded/ and feedback/.
        folder: the results folder.
        results: one for each student who has one.
        gradebook_url: nbgrader's database, as SQLAlchemy writes it; None when it is not to be written.
        rows: what was collected, one for each student.
        limits: what is read of a submission.
        elsewhere: whether it was collected from another place than submitted/.
    """

    name: str
    source: bytes
    root: Path
    folder: Path
    results: Sequence[SubmissionResult]
    gradebook_url: str | None
    rows: Sequence[Collected]
    limits: Limits
    elsewhere: bool


def to_gradebook(delivery: Delivery) -> None:
    """Write nbgrader's gradebook."""
    if delivery.gradebook_url is not None:
        from course_utils.grading.books.gradebook import write_results

        times = {row.student: row.handed_in for row in delivery.rows if row.handed_in}
        write_results(delivery.gradebook_url, delivery.source, delivery.name, delivery.results, handed_in=times)


def to_submitted(delivery: Delivery) -> None:
    """Copy what came from elsewhere to where nbgrader has it, submitted/."""
    from course_utils.grading.reading.submitted import put_into_submitted

    if delivery.elsewhere:
        put_into_submitted(delivery.root, delivery.name, delivery.rows, delivery.limits)


def to_autograded(delivery: Delivery) -> None:
    """Write what formgrader shows of each submission, where it looks for it."""
    from course_utils.grading.books.autograded import write_autograded
    from course_utils.grading.running.batch import read_code

    code = read_code(delivery.source, delivery.name, delivery.rows, delivery.limits)
    for result in delivery.results:
        write_autograded(delivery.root, delivery.source, code[result.student], result)


def to_feedback(delivery: Delivery) -> None:
    """Write a page for each student: beside the overview, and where nbgrader has it, feedback/STUDENT/EXERCISE/."""
    from course_utils.grading.pages.feedback import write_feedback
    from course_utils.grading.result_files import folder_name, write_below

    for result in delivery.results:
        page = write_feedback(delivery.folder, result).read_bytes()
        parts = ("feedback", folder_name(result.student), delivery.name, f"{delivery.name}.html")
        write_below(delivery.root, parts, page)


def to_overview(delivery: Delivery) -> None:
    """Write a page about the class."""
    from course_utils.grading.pages.overview import write_overview

    write_overview(delivery.folder, delivery.results)


OUTLETS: dict[str, Callable[[Delivery], None]] = {
    "the gradebook": to_gradebook,
    "the folder submitted": to_submitted,
    "the folder autograded": to_autograded,
    "the feedback": to_feedback,
    "the overview": to_overview,
}


def deliver(delivery: Delivery) -> tuple[str, ...]:
    """Hand results to all outlets.

    Returns:
        A sentence for each outlet that failed.
    """
    failures = []
    for what, outlet in OUTLETS.items():
        try:
            outlet(delivery)
        except Exception as error:  # a database, a disk, somebody else's library
            # our own errors are sentences; of others the kind says more than the text
            ours = type(error).__module__.startswith("course_utils.")
            failures.append(f"{what} was not written: {error if ours else first_line(error)}")
    return tuple(failures)
