"""On a real Dask cluster of two worker processes: a worker that is killed costs nobody a result."""

import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace

import pytest
from support.dask_here import LocalCluster
from support.paths import TESTS
from support.small_class import ASSIGNMENT, hand_in, has_ended, wait_for
from support.two_tasks import SOLVED

from course_utils.exercises.versions import runtime_versions
from course_utils.grading.course import Course
from course_utils.grading.reading.collect import collect, read_all
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import Reason, read_result
from course_utils.grading.running.batch import grade_batch
from course_utils.grading.running.cluster import Cluster, ClusterError, describe_worker, grade_remote
from course_utils.grading.running.job import Job
from course_utils.sandbox.limits import Limits

if os.environ.get("COURSE_CI") != "1":  # there its absence is an error
    pytest.importorskip("distributed", reason="needs Dask: pip install -e .[cluster]")

# what Dask's client leaves behind when workers and schedulers are killed below it: sockets, and tasks of its loop
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

STAND_IN = "support.stand_in_graders:StandIn"


@pytest.fixture
def local(tmp_path):
    """Start a scheduler; end it and its workers afterwards."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = LocalCluster(folder)
    try:
        cluster.start_scheduler()
        yield cluster
    finally:
        cluster.stop()
        gc.collect()  # here, so that it is not another test's


def grade_all(root, cluster):
    """Grade what was handed in on a cluster."""
    submissions = read_all(collect(root, ASSIGNMENT, Limits()), ASSIGNMENT, Limits())
    return grade_batch(Course(ASSIGNMENT, Limits(), "stand-in"), submissions, root.parent / "graded", executor=cluster)


def grade(root, cluster):
    """Grade and return the results by student."""
    return {result.student: result for result in grade_all(root, cluster).results}


def test_a_worker_is_killed(tmp_path, local):
    """One of two workers is killed while it grades: its job runs again, and every student has a grade."""
    marker = tmp_path / "marker"
    blocking = f"# block {marker}\n{SOLVED['double']}"
    codes = {f"s{number}": SOLVED for number in range(8)}
    root = hand_in(tmp_path / "in", blocked=blocking, **codes)
    workers = local.start_workers(2)
    pids = []

    def kill(record=pids):
        record.append(int(wait_for(marker, local.processes[0])))
        os.kill(record[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with Cluster(local.address, unsafe=True, factory=STAND_IN) as cluster:
        results = grade(root, cluster)
    killer.join()

    assert pids[0] in [worker.pid for worker in workers]
    assert has_ended(pids[0])
    assert {student: result.reason for student, result in results.items()} == dict.fromkeys(
        ["blocked", *codes], Reason.OK
    )


def test_a_job_that_kills_every_worker(tmp_path, local):
    """A job whose workers die until Dask gives up, or the cluster is empty, has no grade; the others are kept."""
    root = hand_in(tmp_path / "in", ada=SOLVED, bad="# exit")
    local.start_workers(2)
    with Cluster(local.address, unsafe=True, factory=STAND_IN, without_workers_s=1.0) as cluster:
        results = grade(root, cluster)

    assert results["bad"].reason is Reason.SANDBOX
    assert "cluster" in results["bad"].tasks[0].message
    assert set(results) == {"ada", "bad"}


def test_ctrl_c(tmp_path, local):
    """Ctrl-C while the cluster works: what is graded is kept, the report is written, and the cluster goes on."""
    marker = tmp_path / "marker"
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=f"# block {marker}")
    local.start_workers(2)
    code = f"""
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}, {str(TESTS / "grading")!r}]
        from pathlib import Path
        from test_cluster import STAND_IN, Cluster, grade_all
        with Cluster({local.address!r}, unsafe=True, factory=STAND_IN) as cluster:
            sys.exit(130 if grade_all(Path({str(root)!r}), cluster).stopped else 1)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(marker, parent)
    wait_for(tmp_path / "graded" / "ada.json", parent)
    os.killpg(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=60)

    assert parent.returncode == 130, errors
    assert "Traceback" not in errors
    report = (tmp_path / "graded" / "report.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in report] == ["student", "ada", "bob"]
    assert "not graded yet" in report[2]
    assert local.processes[0].poll() is None


def test_no_scheduler(monkeypatch):
    """An address where nothing answers is one sentence."""
    monkeypatch.setattr("course_utils.grading.running.cluster.CONNECT_S", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9")


def test_no_worker(local):
    """A cluster without workers is one sentence that says how to start one."""
    with pytest.raises(ClusterError, match="has no worker; start one with `dask worker`"):
        Cluster(local.address)


def test_workers_of_another_course(local, monkeypatch):
    """Workers whose course has another state than here are refused, with both states in the sentence."""
    local.start_workers(1)
    other = replace(runtime_versions(), course="0.0.1+abc")
    monkeypatch.setattr("course_utils.grading.running.cluster.runtime_versions", lambda: other)

    with pytest.raises(ClusterError, match=r"has course .*; here is course 0\.0\.1\+abc; bring all of them"):
        Cluster(local.address, unsafe=True)


def test_what_a_worker_runs():
    """A worker answers bytes with a line of JSON, and keeps its grader; here in this process."""
    job = Job(Course(ASSIGNMENT, Limits()), Submission("ada", SOLVED))
    lines = [grade_remote(job.to_bytes(), STAND_IN) for _ in range(2)]

    assert lines[0] == lines[1]
    assert read_result(lines[0]).points == 4
    assert json.loads(describe_worker(True))["sandbox"] == "none (--unsafe)"


def test_the_scheduler_ends(tmp_path, local):
    """When the scheduler is gone, every student still has a result, and a sentence says what happened."""
    marker = tmp_path / "marker"
    root = hand_in(tmp_path / "in", ada=f"# block {marker}", bob=f"# block {marker}")
    local.start_workers(1)

    def kill():
        wait_for(marker, local.processes[0])
        local.processes[0].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with Cluster(local.address, unsafe=True, factory=STAND_IN, without_workers_s=1.0) as cluster:
        results = grade(root, cluster)
    killer.join()

    assert {result.reason for result in results.values()} == {Reason.SANDBOX}
    assert "cluster" in results["ada"].tasks[0].message
