"""A job: the exercise and one submission as bytes in, one line of JSON out; the same job gives the same result.

What decides a result is in its digest: the student's code, the exercise, the limits, the versions, the kind of sandbox.
A job travels as bytes of a stated form, to a process beside this one or to another machine, never as a pickle.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import asdict, dataclass, replace
from functools import cache

from course_utils.data.package import FOLDER, VERSION
from course_utils.grading.assignment import Assignment
from course_utils.grading.reading.submission import Submission, read_submission
from course_utils.grading.result import NOT_GRADED, Reason, SubmissionResult, tasks_without_points
from course_utils.sandbox.limits import Limits


@dataclass(frozen=True)
class Surroundings:
    """What a result depends on beside the job.

    Args:
        torch_version: such as "2.14.1"; "none" where torch is not installed.
        course_version: the version of this package, and the beginning of the hash of its files.
        sandbox: "bubblewrap", "sandbox-exec" or "none (--unsafe)".
    """

    torch_version: str
    course_version: str
    sandbox: str


@cache
def course_version() -> str:
    """Return this package's version and the hash of its files, so that nobody has to remember to raise a number."""
    files = sorted(path for pattern in ("*.py", "*.json") for path in FOLDER.rglob(pattern))
    content = hashlib.sha256()
    for path in files:
        content.update(f"{path.relative_to(FOLDER).as_posix()}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    return f"{VERSION}+{content.hexdigest()[:12]}"


def surroundings_here(sandbox: str) -> Surroundings:
    """Describe this environment; torch is not loaded for it."""
    try:
        torch_version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch_version = "none"
    return Surroundings(torch_version, course_version(), sandbox)


@dataclass(frozen=True)
class Job:
    """One submission to be graded.

    Args:
        name: the exercise's name.
        source: the instructor's notebook.
        student: the student's id.
        filename: the notebook's name as the student gave it.
        submission: the submitted file; empty when there is a problem.
        limits: what the submission may take.
        unsafe: whether to run without a sandbox.
        notes: what was noticed when it was collected.
        reason: missing or unreadable when no file could be collected.
        problem: one sentence for the student when no file could be collected.
    """

    name: str
    source: bytes
    student: str
    filename: str
    submission: bytes
    limits: Limits
    unsafe: bool = False
    notes: tuple[str, ...] = ()
    reason: Reason | None = None
    problem: str = ""

    def to_bytes(self) -> bytes:
        """Return the job as one line of JSON, the instructor's notebook, and the submission."""
        head = {
            "name": self.name,
            "student": self.student,
            "filename": self.filename,
            "limits": asdict(self.limits),
            "unsafe": self.unsafe,
            "notes": self.notes,
            "reason": self.reason,
            "problem": self.problem,
            "source_bytes": len(self.source),
        }
        return json.dumps(head).encode() + b"\n" + self.source + self.submission


def read_job(data: bytes) -> Job:
    """Read what `Job.to_bytes` wrote."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    size = head.pop("source_bytes")
    reason = head.pop("reason")
    return Job(
        source=rest[:size],
        submission=rest[size:],
        limits=Limits(**head.pop("limits")),
        notes=tuple(head.pop("notes")),
        reason=Reason(reason) if reason is not None else None,
        **head,
    )


def submission_of(job: Job, assignment: Assignment) -> Submission:
    """Read the submission of a job, with the notes of its collection first."""
    if job.reason is not None:
        return Submission(job.student, {}, assignment.student_ids, job.notes, job.reason, job.problem)
    found = read_submission(
        job.submission, student=job.student, filename=job.filename, assignment=assignment, limits=job.limits
    )
    return replace(found, notes=job.notes + found.notes)


def digest_of(submission: Submission, assignment: Assignment, limits: Limits, surroundings: Surroundings) -> str:
    """Return the content hash of all that decides a result; whose submission it is does not."""
    content = {
        "code": submission.code,
        "missing": submission.missing,
        "notes": submission.notes,
        "reason": submission.reason,
        "problem": submission.problem,
        "assignment": assignment.digest,
        "limits": asdict(limits),
        "surroundings": asdict(surroundings),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def result_without_grade(
    assignment: Assignment, submission: Submission, reason: Reason, message: str, *, digest: str = "", sandbox: str = ""
) -> SubmissionResult:
    """Write the result of a submission that was not run: no points, the reason and the message at each task.

    Args:
        assignment: the exercise.
        submission: what was read.
        reason: one of `NOT_GRADED`.
        message: one sentence.
        digest: the job's digest.
        sandbox: what would have isolated the student's code.
    """
    assert reason in NOT_GRADED
    tasks = tasks_without_points(assignment, reason, message)
    return SubmissionResult(assignment.name, submission.student, tasks, reason, submission.notes, digest, sandbox)
