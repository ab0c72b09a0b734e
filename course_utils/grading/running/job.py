"""A job: a course and one submission as bytes in, one line of JSON out; the same job gives the same result.

A job travels as bytes of a stated form, to a process beside this one or to another machine, never as a pickle.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from course_utils.grading.course import Course, course_from
from course_utils.grading.reading.submission import Submission, submission_from
from course_utils.sandbox.limits import Limits


@dataclass(frozen=True)
class Job:
    """One submission to be graded.

    Args:
        course: the exercise, the limits, and whether to run without a sandbox.
        submission: what was read of it.
    """

    course: Course
    submission: Submission

    def to_bytes(self) -> bytes:
        """Return one line of JSON, the submission, then the course."""
        return self.submission.to_json().encode() + b"\n" + course_to_bytes(self.course)


def read_job(data: bytes) -> Job:
    """Read what `Job.to_bytes` wrote."""
    submission, _, course = data.partition(b"\n")
    return Job(course_from_bytes(course), submission_from(submission.decode()))


def course_to_bytes(course: Course) -> bytes:
    """Return one line of JSON, name and limits, then the instructor's notebook."""
    head = {"name": course.name, "limits": asdict(course.limits), "unsafe": course.unsafe}
    return json.dumps(head).encode() + b"\n" + course.assignment.source


def course_from_bytes(data: bytes) -> Course:
    """Read what `course_to_bytes` wrote; the notebook is parsed once for all jobs that have the same."""
    head, _, source = data.partition(b"\n")
    settings = json.loads(head)
    return course_from(source, settings["name"], Limits(**settings["limits"]), settings["unsafe"])
