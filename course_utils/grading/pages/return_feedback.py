"""Return feedback: a page for each student in one zip, in folders that a learning platform or a person can hand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.result import SubmissionResult
from course_utils.grading.result_files import folder_name
from course_utils.reporting.files import write_zip
from course_utils.reporting.results import TableResult


@dataclass(frozen=True)
class Returned(TableResult):
    """What was packed.

    Args:
        path: the zip.
        folders: the folder of each student's page, by the student's id.
        ungraded: students whose page says why there is no grade.
        missing: students who handed in and have no result, so no page.
    """

    path: Path
    folders: Mapping[str, str]
    ungraded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the zip is handed on."""
        found = [f"without a grade, and the page says why: {', '.join(self.ungraded)}"] if self.ungraded else []
        if self.missing:
            found.append(f"not graded yet, so without a page: {', '.join(self.missing)}; run `course grade` first")
        return tuple(found)

    def title(self) -> str:
        """Return which file has how many pages."""
        return f"{self.path}: {len(self.folders)} pages"

    def rows(self) -> list[list[str]]:
        """Return the students and their folders as text, the heading first."""
        return [["student", "folder"], *([student, folder] for student, folder in self.folders.items())]

    def __str__(self) -> str:
        return "\n".join([self.title(), *(f"! {warning}" for warning in self.warnings)])


def return_feedback(
    results: Sequence[SubmissionResult], output: Path, *, handed_in: Mapping[str, str] | None = None
) -> Returned:
    """Pack a page for each student. The pages are made anew from the results; hidden values are in none of them.

    Args:
        results: the results of one exercise, one for each student.
        output: the zip.
        handed_in: who handed in, and the folder in which the learning platform takes the student's feedback; an empty
            one means the student's id. When None, all who have a result, by their ids.

    Returns:
        Where each page lies: FOLDER/EXERCISE.html.
    """
    by_student = {result.student: result for result in results}
    wanted = handed_in if handed_in is not None else dict.fromkeys(by_student, "")
    folders = {student: folder or folder_name(student) for student, folder in wanted.items() if student in by_student}
    pages = {
        f"{folder}/{by_student[student].assignment}.html": feedback_page(by_student[student])
        for student, folder in folders.items()
    }
    write_zip(pages, output)
    return Returned(
        path=output,
        folders=folders,
        ungraded=tuple(student for student in folders if not by_student[student].graded),
        missing=tuple(student for student in wanted if student not in by_student),
    )
