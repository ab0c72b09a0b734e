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
        """Return two lines of JSON, course and submission, then the instructor's notebook."""
        head = {"name": self.course.name, "limits": asdict(self.course.limits), "unsafe": self.course.unsafe}
        lines = (json.dumps(head).encode(), self.submission.to_json().encode(), self.course.assignment.source)
        return b"\n".join(lines)


def read_job(data: bytes) -> Job:
    """Read what `Job.to_bytes` wrote; the notebook is parsed once for all jobs that have the same."""
    head, submission, source = data.split(b"\n", 2)
    settings = json.loads(head)
    course = course_from(source, settings["name"], Limits(**settings["limits"]), settings["unsafe"])
    return Job(course, submission_from(submission.decode()))
