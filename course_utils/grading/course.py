"""What all submissions of one exercise share: the instructor's notebook, parsed once, the limits and the versions.

What decides a result is in its digest: the student's code, the exercise, the limits, the versions, the sandbox.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

from course_utils.exercises.versions import RuntimeVersions, runtime_versions
from course_utils.grading.assignment import Assignment, read_assignment
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, tasks_without_points
from course_utils.sandbox.limits import Limits


@dataclass(frozen=True)
class Course:
    """What all submissions of one exercise share.

    Args:
        assignment: the instructor's notebook, taken apart.
        limits: what a submission may take.
        sandbox: "bubblewrap", "sandbox-exec" or "none (--unsafe)".
        unsafe: whether student code runs without a sandbox.
        versions: what runs the checks.
    """

    assignment: Assignment
    limits: Limits
    sandbox: str = ""
    unsafe: bool = False
    versions: RuntimeVersions = field(default_factory=runtime_versions)

    @property
    def name(self) -> str:
        """The exercise's name."""
        return self.assignment.name

    def digest_of(self, submission: Submission) -> str:
        """Return the hash of all that decides a result; whose submission it is does not."""
        content = {
            "submission": submission.graded_content(),
            "assignment": self.assignment.digest,
            "limits": asdict(self.limits),
            "versions": asdict(self.versions),
            "sandbox": self.sandbox,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def without_grade(
        self, submission: Submission, reason: Reason, message: str, *, digest: str = "", sandbox: str = ""
    ) -> SubmissionResult:
        """Return the result of a submission that was not run: no points, the reason and the message at each task.

        Args:
            submission: what was read.
            reason: one of `NOT_GRADED`.
            message: one sentence.
            digest: the result's digest.
            sandbox: what would have isolated the student's code.
        """
        assert reason in NOT_GRADED
        tasks = tasks_without_points(self.assignment, reason, message)
        return SubmissionResult(self.name, submission.student, tasks, reason, submission.notes, digest, sandbox)

    def in_sandbox(self, sandbox: str) -> Course:
        """Return this course with the versions of this process and the given sandbox."""
        return replace(self, sandbox=sandbox, versions=runtime_versions())


@lru_cache(maxsize=2)
def course_from(source: bytes, name: str, limits: Limits, unsafe: bool) -> Course:
    """Parse an instructor's notebook, once for all jobs that a process gets."""
    return Course(read_assignment(source, name), limits, unsafe=unsafe)
