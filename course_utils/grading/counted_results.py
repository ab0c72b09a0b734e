"""The results that count: what the checks gave, with what people entered in the gradebook, and what changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.grading.assignment import Assignment
from course_utils.grading.books.manual_grades import ManualGrades
from course_utils.grading.by_hand import apply_manual_grades
from course_utils.grading.delivered import Delivered, load_delivered
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import SubmissionResult
from course_utils.grading.running.store import load_results


@dataclass(frozen=True)
class CountedResults:
    """The results of a class as they are handed on.

    Args:
        results: with a person's points and comments, in the order of the students' ids.
        delivered: what `course grade` last delivered.
        by_hand: what a person changed, one sentence.
        since: what changed since the grading, one sentence each.
    """

    results: tuple[SubmissionResult, ...]
    delivered: Delivered
    by_hand: str = ""
    since: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the grades are handed on."""
        return (*filter(None, (self.by_hand,)), *self.since)


def count_results(
    folder: Path, assignment: Assignment, manual: Mapping[str, ManualGrades], submissions: Sequence[Submission] = ()
) -> CountedResults:
    """Merge what people entered into the stored results of a class.

    Args:
        folder: the results folder.
        assignment: the exercise.
        manual: what the gradebook has now, by student.
        submissions: what lies in submitted/ now, to find out what was handed in since.
    """
    delivered = load_delivered(folder)
    results = []
    for result in load_results(folder):
        known = delivered.students.get(result.student)
        merged = apply_manual_grades(result, assignment, manual.get(result.student, {}))
        results.append(replace(merged, late=known.late if known is not None else ""))
    by_hand = [
        f"{result.student}, {task.name}: {task.by_hand}" for result in results for task in result.tasks if task.by_hand
    ]
    later = [
        student for student, known in delivered.students.items() if dict(known.manual) != dict(manual.get(student, {}))
    ]
    again = [one.student for one in submissions if delivered.content_changed(one.student, one.work_digest)]
    since = []
    if later:
        told = "the gradebook changed since the report and the pages were written"
        since.append(f"{_some(told, later)}; this file has what is in the gradebook now, `course grade` renews them")
    if again:
        since.append(f"{_some('handed in again since the grading', again)}; run `course grade` first")
    hand = _some("points by hand count", by_hand) if by_hand else ""
    return CountedResults(tuple(results), delivered, hand, tuple(since))


def _some(what: str, names: Sequence[str]) -> str:
    listed = "; ".join(names[:5]) + (f"; and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{what}: {listed}"
