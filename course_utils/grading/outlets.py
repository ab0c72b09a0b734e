"""Where results go beside the results folder: nbgrader's gradebook, each student's feedback, the class's overview.

Each outlet takes a delivery. One that fails says so in a sentence and holds up neither the others nor the grades.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """

    name: str
    source: bytes
    folder: Path
    results: Sequence[SubmissionResult]
    gradebook_url: str | None


def _writer(module: str, function: str) -> Callable[..., Any]:
    """Return a function of a module of this package, which loads what it needs only when there is something to write.

    A module that is not there writes nothing.
    """
    name = f"course_utils.grading.{module}"
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(name), function)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return lambda *arguments: None
    return found


def to_gradebook(delivery: Delivery) -> None:
    """Write nbgrader's gradebook."""
    if delivery.gradebook_url is not None:
        write = _writer("gradebook", "write_results")
        write(delivery.gradebook_url, delivery.source, delivery.name, delivery.results)


def to_feedback(delivery: Delivery) -> None:
    """Write a page for each student."""
    write = _writer("feedback", "write_feedback")
    for result in delivery.results:
        write(delivery.folder, result)


def to_overview(delivery: Delivery) -> None:
    """Write a page about the class."""
    _writer("overview", "write_overview")(delivery.folder, delivery.results)


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
            failures.append(f"{what} was not written: {first_line(error)}")
    return tuple(failures)
