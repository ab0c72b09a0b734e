"""Workers are forks of one prepared process, or are started afresh: both lose only the job that ends them."""

import json
import os
import signal
import sys
from multiprocessing import resource_tracker

import pytest
from support.small_class import ASSIGNMENT, has_ended
from support.two_tasks import SOLVED

from course_utils.grading.course import Course
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import read_result
from course_utils.grading.running.job import Job
from course_utils.grading.running.pool import Pool
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage

WAYS = [False, pytest.param(True, marks=pytest.mark.skipif(sys.platform == "darwin", reason="a Mac does not fork"))]
COURSE = Course(ASSIGNMENT, Limits(), "stand-in")


def jobs(**codes):
    """Make a job for each student; a code is that of the cell `double`."""
    return [Job(COURSE, Submission(student, SOLVED | {"double": code})) for student, code in codes.items()]


def run(pool, work):
    """Run jobs; return the answers by student, and every process that was there when the first answer came."""
    answers, below = {}, set()
    # multiprocessing's own process, which counts semaphores and ends with this one
    resource_tracker.ensure_running()
    before = set(read_usage(os.getpid()).processes)
    try:
        pool.start(work)
        for answer in pool.run(work):
            below |= set(read_usage(os.getpid()).processes) - before
            answers[answer.job.submission.student] = answer
    finally:
        pool.stop()
    return answers, below


@pytest.mark.parametrize("fork", WAYS)
def test_both_ways_grade(tmp_path, monkeypatch, fork):
    """Forked and spawned workers give the same results, retry a job whose worker died, and leave no process."""
    good = SOLVED["double"]
    work = jobs(ada=good, bob="# exit", cy=f"# exit once {tmp_path}/marker\n{good}", di=good, ed=good)
    answers, below = run(Pool(2, "support.stand_in_graders:StandIn", fork=fork), work)

    assert {name: read_result(one.line).points for name, one in answers.items() if one.line} == dict.fromkeys(
        ("ada", "cy", "di", "ed"), 4.0
    )
    assert answers["bob"].problem == "the grading process ended with exit code 3, in 2 tries"
    assert below
    assert all(has_ended(pid) for pid in below)


@pytest.mark.parametrize(("fork", "starts"), [(False, 3), (True, 1)])
def test_forks_share_one_start(tmp_path, monkeypatch, fork, starts):
    """What a grader costs to start, torch and the rehearsal, is paid once for all forks, and once for each spawned."""
    if fork and sys.platform == "darwin":
        pytest.skip("a Mac does not fork")
    count = tmp_path / "count"
    monkeypatch.setenv("COUNT_FILE", str(count))
    together = tmp_path / "together"
    together.mkdir()
    work = jobs(**{f"s{n}": f"# meet 3 {together}\n{SOLVED['double']}" for n in range(3)})
    answers, _ = run(Pool(3, "support.stand_in_graders:Counting", fork=fork), work)

    assert all(one.line for one in answers.values())
    assert count.read_text().split().count("start") == starts


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac does not fork")
def test_a_killed_fork_server(tmp_path):
    """When the process that forks workers is killed, another one takes its place, and nobody loses a result."""
    pool = Pool(1, "support.stand_in_graders:StandIn", fork=True)
    work = jobs(ada=SOLVED["double"], bob=SOLVED["double"], cy=f"# exit once {tmp_path}/m\n{SOLVED['double']}")
    answers = {}
    try:
        pool.start(work)
        for answer in pool.run(work):
            if not answers:
                os.kill(pool._server.process.pid, signal.SIGKILL)
            answers[answer.job.submission.student] = answer
    finally:
        pool.stop()

    assert {name: bool(one.line) for name, one in answers.items()} == {"ada": True, "bob": True, "cy": True}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux lets a process choose its processors")
@pytest.mark.parametrize("spare", [0, 1])
def test_processors(tmp_path, monkeypatch, spare):
    """Each worker stays on a processor of its own where all are in use, and on any where there are more."""
    processors = sorted(os.sched_getaffinity(0))
    count = len(processors) - spare
    if not count:
        pytest.skip("this machine has one processor")
    work = jobs(**{f"s{n}": f"# meet {count} {tmp_path}\n{SOLVED['double']}" for n in range(count)})
    answers, _ = run(Pool(count, "support.stand_in_graders:Placed", fork=True), work)

    places = sorted(json.loads(read_result(one.line).notes[0]) for one in answers.values())
    assert places == [processors] * count if spare else [[each] for each in processors]
