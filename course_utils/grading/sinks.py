"""Where results go besides the results folder: nbgrader's gradebook and folders, the feedback, the class's overview.

Each sink takes one result after the other. One that fails is reported in a sentence and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from course_utils.grading.assignment import Assignment
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import SubmissionResult
from course_utils.reporting.errors import sentence


class Sink(Protocol):
    """Takes results."""

    def write(self, result: SubmissionResult) -> None:
        """Write one result."""

    def close(self) -> None:
        """Write what needs all results, and let go of what is open."""


@dataclass(frozen=True)
class Destinations:
    """Where the results of a class go.

    Args:
        assignment: the exercise.
        root: the course's root, where nbgrader has autograded/ and feedback/.
        folder: the results folder.
        submissions: what was read, one for each student.
        gradebook_url: nbgrader's database, as SQLAlchemy writes it; None when it is not to be written.
    """

    assignment: Assignment
    root: Path
    folder: Path
    submissions: Sequence[Submission]
    gradebook_url: str | None


class AutogradedFolder:
    """Writes what formgrader shows of each submission, where it looks for it."""

    def __init__(self, destinations: Destinations) -> None:
        from course_utils.grading.books.autograded import write_autograded

        self._write = write_autograded
        self._destinations = destinations
        self._code: Mapping[str, Mapping[str, str]] = {one.student: one.code for one in destinations.submissions}

    def write(self, result: SubmissionResult) -> None:
        """Write one notebook."""
        self._write(self._destinations.root, self._destinations.assignment, self._code[result.student], result)

    def close(self) -> None:
        """Do nothing: each notebook is complete."""


class FeedbackPages:
    """Writes a page for each student: beside the overview, and where nbgrader has it, feedback/STUDENT/EXERCISE/."""

    def __init__(self, destinations: Destinations) -> None:
        from course_utils.grading.pages.feedback import feedback_page

        self._page = feedback_page
        self._destinations = destinations

    def write(self, result: SubmissionResult) -> None:
        """Write one page, in both places."""
        from course_utils.grading.result_files import file_name, folder_name, write_below

        page, name = self._page(result), self._destinations.assignment.name
        write_below(self._destinations.folder, (f"{file_name(result.student)}.html",), page)
        parts = ("feedback", folder_name(result.student), name, f"{name}.html")
        write_below(self._destinations.root, parts, page)

    def close(self) -> None:
        """Do nothing: each page is complete."""


class OverviewPage:
    """Writes a page about the class when all results are there."""

    def __init__(self, destinations: Destinations) -> None:
        from course_utils.grading.pages.overview import write_overview

        self._write = write_overview
        self._folder = destinations.folder
        self._results: list[SubmissionResult] = []

    def write(self, result: SubmissionResult) -> None:
        """Keep one result."""
        self._results.append(result)

    def close(self) -> None:
        """Write the page."""
        self._write(self._folder, sorted(self._results, key=lambda result: result.student))


def open_gradebook(destinations: Destinations) -> Sink:
    """Open nbgrader's gradebook."""
    from course_utils.grading.books.gradebook import GradebookWriter

    times = {one.student: one.handed_in for one in destinations.submissions if one.handed_in}
    return GradebookWriter(str(destinations.gradebook_url), destinations.assignment, times)


class Sinks:
    """Gives each result to all sinks.

    Args:
        destinations: where results go.

    Attributes:
        failures: a sentence for each sink that failed.
    """

    def __init__(self, destinations: Destinations) -> None:
        openers: dict[str, Callable[[Destinations], Sink]] = {
            "the gradebook": open_gradebook,
            "the folder autograded": AutogradedFolder,
            "the feedback": FeedbackPages,
            "the overview": OverviewPage,
        }
        if destinations.gradebook_url is None:
            del openers["the gradebook"]
        self._destinations = destinations
        self._openers = openers
        self._open: dict[str, Sink] = {}
        self.failures: list[str] = []

    def open(self) -> None:
        """Open the sinks that were not opened yet, which loads what they need."""
        while self._openers:
            what, opener = next(iter(self._openers.items()))
            try:
                self._open[what] = opener(self._destinations)
            except Exception as error:  # a database, a disk, somebody else's library
                self._fail(what, error)
            del self._openers[what]

    def write(self, result: SubmissionResult) -> None:
        """Give one result to the sinks that have not failed."""
        for what, sink in list(self._open.items()):
            try:
                sink.write(result)
            except Exception as error:
                self._fail(what, error)
                self._close(what)

    def close(self) -> None:
        """Close all sinks."""
        for what in list(self._open):
            self._close(what)

    def _close(self, what: str) -> None:
        try:
            self._open.pop(what).close()
        except Exception as error:
            self._fail(what, error)

    def _fail(self, what: str, error: Exception) -> None:
        self.failures.append(f"{what} was not written: {sentence(error)}")
