"""Where results go beside the results folder: nbgrader's gradebook, each student's feedback, the class's overview.

Each outlet takes a delivery. One that fails says so in a sentence and holds up neither the others nor the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.error_text import first_line
from course_utils.grading.result import SubmissionResult


@dataclass(frozen=True)
class Delivery:
    """The results of a class, on their way out.

    Args:
        name: the exercise's name.
        source: the instructor's notebook.
        folder: the results folder.
        results: one for each student who has one.
        gradebook_url: nbgrader's database, as SQLAlchemy writes it; None when it is not to be written.
        handed_in: the text of nbgrader's timestamp.txt, by student.
    """

    name: str
    source: bytes
    folder: Path
    results: Sequence[SubmissionResult]
    gradebook_url: str | None
    handed_in: Mapping[str, str]


def to_gradebook(delivery: Delivery) -> None:
    """Write nbgrader's gradebook."""
    if delivery.gradebook_url is not None:
        from course_utils.grading.gradebook import write_results

        write_results(
            delivery.gradebook_url, delivery.source, delivery.name, delivery.results, handed_in=delivery.handed_in
        )


def to_feedback(delivery: Delivery) -> None:
    """Write a page for each student."""
    from course_utils.grading.feedback import write_feedback

    for result in delivery.results:
        write_feedback(delivery.folder, result)


def to_overview(delivery: Delivery) -> None:
    """Write a page about the class."""
    from course_utils.grading.overview import write_overview

    write_overview(delivery.folder, delivery.results)


OUTLETS: dict[str, Callable[[Delivery], None]] = {
    "the gradebook": to_gradebook,
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
