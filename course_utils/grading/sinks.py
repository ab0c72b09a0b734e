"""Where results go besides the results folder: nbgrader's gradebook and folders, the feedback, the class's overview.

Each sink takes one result after the other. One that fails is reported in a sentence and does not stop the others. The
gradebook comes first, because points and comments that a person entered there are the grade everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from course_utils.grading.assignment import Assignment
from course_utils.grading.books.manual_grades import ManualGrades
from course_utils.grading.by_hand import apply_manual_grades
from course_utils.grading.delivered import Delivered, DeliveredStudent, load_delivered, store_delivered
from course_utils.grading.lateness import lateness
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import SubmissionResult
from course_utils.reporting.errors import CourseError, sentence

if TYPE_CHECKING:
    from course_utils.grading.books.gradebook import GradebookWriter


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
        replace_manual: the students whose manual points are replaced by those of the checks.
        due: after this time a submission is marked as late; None when nothing is due.
    """

    assignment: Assignment
    root: Path
    folder: Path
    submissions: Sequence[Submission]
    gradebook_url: str | None
    replace_manual: Collection[str] = ()
    due: datetime | None = None


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


class Sinks:
    """Writes the gradebook, merges into each result what a person entered there, and gives it to the other sinks.

    Args:
        destinations: where results go.

    Attributes:
        failures: a sentence for each sink that failed.
        replaced: a sentence for each manual grade that was replaced.
    """

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._openers: dict[str, Callable[[Destinations], Sink]] = {
            "the folder autograded": AutogradedFolder,
            "the feedback": FeedbackPages,
            "the overview": OverviewPage,
        }
        self._open: dict[str, Sink] = {}
        self._gradebook: GradebookWriter | None = None
        self._opened = False
        self._submissions = {one.student: one for one in destinations.submissions}
        self._before = load_delivered(destinations.folder)
        self._record = dict(self._before.students)
        self._address = self._before.gradebook
        self.failures: list[str] = []
        self.replaced: list[str] = []

    def open(self) -> None:
        """Open the sinks that were not opened yet, which loads what they need."""
        if not self._opened and self._destinations.gradebook_url is not None:
            try:
                self._gradebook = self._open_gradebook(self._destinations.gradebook_url)
                self._address = self._gradebook.address
            except Exception as error:  # a database, a disk, somebody else's library
                self._fail("the gradebook", error)
        self._opened = True
        while self._openers:
            what, opener = next(iter(self._openers.items()))
            try:
                self._open[what] = opener(self._destinations)
            except Exception as error:
                self._fail(what, error)
            del self._openers[what]

    def _open_gradebook(self, url: str) -> GradebookWriter:
        from course_utils.grading.books.gradebook import GradebookWriter

        times = {one.student: one.handed_in for one in self._destinations.submissions if one.handed_in}
        return GradebookWriter(url, self._destinations.assignment, times, self._destinations.replace_manual)

    def write(self, result: SubmissionResult) -> SubmissionResult:
        """Give one result to the sinks that have not failed.

        Returns:
            The result with what a person entered for it in formgrader: the grade that counts.
        """
        result = self._with_manual_grades(result)
        for what, sink in list(self._open.items()):
            try:
                sink.write(result)
            except Exception as error:
                self._fail(what, error)
                self._close(what)
        return result

    def _with_manual_grades(self, result: SubmissionResult) -> SubmissionResult:
        """Write a result into the gradebook; return it with a person's points and comments, and whether it was late."""
        submission = self._submissions[result.student]
        content, late = submission.work_digest, lateness(submission, self._destinations.due)
        # without a gradebook what a person was known to have entered still counts
        known = self._before.students.get(result.student)
        manual: ManualGrades = known.manual if known is not None else {}
        remarks: list[str] = []
        if self._gradebook is not None:
            changed = self._before.content_changed(result.student, content)
            try:
                written = self._gradebook.write(result, changed=changed)
            except Exception as error:
                self._fail("the gradebook", error)
                self._close_gradebook()
            else:
                manual = written.manual
                names = {task.grade_id: task.name for task in result.tasks}
                for cell, grade in written.replaced.items():
                    told = f"{names.get(cell, cell)}: {grade.points:g} points by hand were replaced (--force)"
                    self.replaced.append(f"{result.student}: {told}")
                    remarks.append(told)
                remarks += [
                    f"{names.get(cell, cell)}: the submission or its checks changed after a person gave the points; "
                    "look at it again in formgrader"
                    for cell in written.open_cells
                ]
        self._record[result.student] = DeliveredStudent(content, manual, late, submission.canvas_id)
        merged = apply_manual_grades(result, self._destinations.assignment, manual)
        return replace(merged, late=late, remarks=tuple(remarks))

    def close(self) -> None:
        """Close all sinks, and keep a record of what was delivered."""
        for what in list(self._open):
            self._close(what)
        self._close_gradebook()
        moodle = any(one.feedback_folder for one in self._destinations.submissions)
        try:
            store_delivered(self._destinations.folder, Delivered(self._address, moodle, self._record))
        except (CourseError, OSError) as error:
            self._fail("the record of what was delivered", error)

    def _close_gradebook(self) -> None:
        gradebook, self._gradebook = self._gradebook, None
        if gradebook is not None:
            try:
                gradebook.close()
            except Exception as error:
                self._fail("the gradebook", error)

    def _close(self, what: str) -> None:
        try:
            self._open.pop(what).close()
        except Exception as error:
            self._fail(what, error)

    def _fail(self, what: str, error: Exception) -> None:
        self.failures.append(f"{what} was not written: {sentence(error)}")
