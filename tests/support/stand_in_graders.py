"""Graders without a sandbox, for tests of what happens around a grader; the student's cell says what is to happen."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

from course_utils.grading.result import Reason, SubmissionResult, TaskResult
from course_utils.sandbox.sandbox import SandboxError
from support.two_tasks import SOLVED


class StandIn:
    """Gives full points for the model solution.

    Obeys `# exit [once FILE]`, `# block FILE`, `# meet N FOLDER`, `# hang`, `# raise`.
    """

    sandbox = "stand-in"
    model = SubmissionResult("01_small", "model solution", (), Reason.OK)

    def __init__(self, assignment, limits, *, unsafe=False):
        self.assignment = assignment

    def __enter__(self):
        return self

    def __exit__(self, *error):
        """Leave nothing."""

    def after_fork(self):
        """Need nothing of its own in a fork."""

    def grade(self, submission):
        """Grade one submission."""
        order = submission.code.get("double", "").split("\n")[0]
        if order.startswith("# exit once"):
            marker = Path(order.split(maxsplit=3)[3])
            if not marker.exists():
                marker.touch()
                os._exit(3)
        elif order.startswith("# exit"):
            os._exit(3)
        elif order.startswith("# block"):
            marker = Path(order.split(maxsplit=2)[2])
            if not marker.exists():
                part = marker.with_suffix(".part")
                part.write_text(str(os.getpid()))
                part.replace(marker)
                threading.Event().wait()
        elif order.startswith("# meet"):
            _, _, number, folder = order.split(maxsplit=3)
            Path(folder, submission.student).touch()
            while len(list(Path(folder).iterdir())) < int(number):
                time.sleep(0.01)
        elif order.startswith("# hang"):
            threading.Event().wait()
        elif order.startswith("# raise"):
            raise RuntimeError("a mistake of the grader's")
        tasks = []
        for check in self.assignment.checks:
            (grade_id,) = self.assignment.ids_for(check)
            right = re.sub("^#.*\n", "", submission.code.get(grade_id, "")) == SOLVED[grade_id]
            reason = Reason.OK if right else Reason.WRONG
            message = "" if right else "not yet"
            tasks.append(TaskResult(check.grade_id, grade_id, 2.0 * right, 2.0, reason, message, seconds=0.5))
        reason = Reason.OK if all(task.points for task in tasks) else Reason.WRONG
        return SubmissionResult(
            self.assignment.name, submission.student, tuple(tasks), reason, submission.notes, "", self.sandbox, 1.0
        )


class Doubtful(StandIn):
    """On this machine the model solution fails a task of two points."""

    model = SubmissionResult(
        "01_small", "model solution", (TaskResult("double-check", "double", 0.0, 2.0, Reason.WRONG),), Reason.WRONG
    )


class Counting(StandIn):
    """Notes each start and each submission in the file that COUNT_FILE names."""

    def __init__(self, assignment, limits, *, unsafe=False):
        super().__init__(assignment, limits)
        self.count("start")

    def count(self, word):
        """Add a line."""
        with open(os.environ["COUNT_FILE"], "a", encoding="utf-8") as file:
            file.write(f"{word}\n")

    def grade(self, submission):
        """Grade one submission."""
        self.count(submission.student)
        return super().grade(submission)


class NoSandbox(Counting):
    """A grader on a machine without a sandbox."""

    def __init__(self, assignment, limits, *, unsafe=False):
        self.count("start")
        raise SandboxError("no sandbox here; install one")


def break_start(*_):
    """End a worker before it says that it is ready."""
    os._exit(9)


class Placed(StandIn):
    """Says on which processors it runs, in the notes of each result."""

    def grade(self, submission):
        """Grade one submission."""
        return replace(super().grade(submission), notes=(json.dumps(sorted(os.sched_getaffinity(0))),))
