"""The way that `course grade` takes on Linux: checks run in the sandbox too, apart from the submissions there."""

import sys

import pytest
from support import small_exercise
from support.paths import ROOT
from support.sandbox_here import needs_sandbox
from support.small_class import has_ended
from support.small_exercise import code_cell

from course_utils.grading.checking.engine import Grader
from course_utils.grading.course import Course
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import read_result
from course_utils.grading.running.job import Job
from course_utils.grading.running.pool import Pool
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage

pytestmark = [needs_sandbox, pytest.mark.skipif(sys.platform == "darwin", reason="a Mac does not fork")]

LIMITS = Limits(task_s=120, submission_s=240, memory_bytes=400 * 2**20, file_bytes=300 * 2**20, processes=32)
MARKS = [[mark[:5], mark[5:]] for mark in (small_exercise.HIDDEN_MARK, small_exercise.SOLUTION_MARK)]
SEARCH = f"""
import gc, sys, types
wanted = ["".join(parts) for parts in {MARKS!r}]
def add(a, b):
    hits, seen, waiting = [], set(), [*gc.get_objects(), sys.modules]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or thing is waiting or thing is seen or thing is wanted: continue
        seen.add(id(thing))
        if isinstance(thing, str) and any(mark in thing for mark in wanted): hits.append(thing[:60])
        if isinstance(thing, (list, tuple, dict, set, types.FrameType, types.FunctionType, types.CodeType)):
            waiting.extend(gc.get_referents(thing))
    found = [hit for hit in hits if hit not in wanted]
    return found or a + b
"""
REACH = """
import os, signal
def add(a, b):
    reached = [name for name in os.listdir("/proc")]
    for target in (-1, *range(2, 60)):
        try:
            os.kill(target, signal.SIGKILL)
            reached.append(target)
        except OSError:
            pass
    return reached or a + b
"""
IN_FILES = """
def add(a, b):
    for n in range(2):
        with open(f"/dev/shm/{n}" if n else "/student/0", "wb") as file:
            for _ in range(70):
                file.write(bytes(2**22))
    global kept
    kept = bytearray(300 * 2**20)
    while True:
        pass
"""
CLASS = {
    "right": ({}, [2] * 5, "ok"),
    "wrong": ({"ex90-task2": "def square(x):\n    return x"}, [2, 0, 2, 2, 2], "wrong"),
    "searches": ({"ex90-task1": SEARCH}, [2] * 5, "ok"),
    "reaches out": ({"ex90-task1": REACH}, [2] * 5, "ok"),
    "memory in files": ({"ex90-task1": IN_FILES}, [0, 2, 2, 2, 2], "memory"),
    "ends": ({"ex90-task3": "import os\nos._exit(0)"}, [2, 2, 0, 2, 2], "crashed"),
    "forks": ({"ex90-task1": "import os\ndef add(a, b):\n    while True:\n        os.fork()"}, [0, 2, 2, 2, 2], None),
}


def run(assignment, submissions, workers=2):
    """Grade in a pool; return the results by student, the pool, and the processes that were there meanwhile."""
    jobs = [Job(Course(assignment, LIMITS), one) for one in submissions]
    pool, results, below = Pool(workers), {}, set()
    try:
        pool.start(jobs)
        for answer in pool.run(jobs):
            assert answer.line, answer.problem
            below |= set(read_usage(pool._server.process.pid).processes)
            result = read_result(answer.line)
            results[result.student] = result
        assert not pool._server.process.same_ids, "the grader fell back to the way outside"
    finally:
        pool.stop()
    return results, below


def test_a_class_inside():
    """Submissions get what they deserve, see neither checks nor the checks' processes, and nothing is left running."""
    work = [small_exercise.submission(code, student) for student, (code, _, _) in CLASS.items()]
    results, below = run(small_exercise.assignment(), work)

    assert {name: [task.points for task in one.tasks] for name, one in results.items()} == {
        name: points for name, (_, points, _) in CLASS.items()
    }
    for name, (_, _, reason) in CLASS.items():
        assert reason in (None, str(results[name].reason)), results[name]
    assert len(below) > 3
    assert all(has_ended(pid) for pid in below)


LOOK = f"""
import os
task = Task("what a check sees", points=2)
there = [name for name in ("solutions", "tests", "docs") if os.path.exists(os.path.join({str(ROOT)!r}, name))]
task.check("no folder of the course", yours=lambda: one(), expected=1 + len(there))
task.score()
"""


def test_a_check_sees_no_file_of_the_course_and_its_digest_is_that_of_the_command():
    """Check cells run in the sandbox; what decides a result is the same there as in the process that asked."""
    cells = (
        code_cell("setup", "from course_utils import Task"),
        code_cell("one", "def one():\n    return 1", solution=True),
        code_cell("one-check", LOOK, grade=True, points=2),
    )
    assignment = small_exercise.assignment(list(cells))
    given = Submission("ada", {"one": "def one():\n    return 1"})
    results, _ = run(assignment, [given], workers=1)
    with Grader(assignment, LIMITS) as outside:
        course = Course(assignment, LIMITS).in_sandbox(outside.sandbox)

    assert [task.points for task in results["ada"].tasks] == [2]
    assert results["ada"].digest == course.digest_of(given)


def test_without_a_working_sandbox_every_submission_says_why(monkeypatch, tmp_path):
    """Where bubblewrap does not start, each submission has the reason and what to do, not a dead worker."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no permission to make a namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    work = [Job(Course(small_exercise.assignment(), LIMITS), small_exercise.submission({}, name)) for name in "abcd"]
    pool = Pool(4)
    try:
        pool.start(work)
        answers = [read_result(answer.line) for answer in pool.run(work)]
    finally:
        pool.stop()

    assert {str(answer.reason) for answer in answers} == {"sandbox"}
    assert len(answers) == len(work)
    assert all("no permission to make a namespace" in answer.tasks[0].message for answer in answers)
