"""On a real Dask cluster of two worker processes: a worker that is killed costs nobody a result."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import two_tasks
from test_grading_batch import ASSIGNMENT, hand_in, has_ended, wait_for
from two_tasks import NAME, SOLVED, submitted_bytes

from course_utils.grading.batch import grade_batch
from course_utils.grading.cluster import Cluster, ClusterError, describe_worker, grade_remote
from course_utils.grading.collect import collect
from course_utils.grading.job import Job, surroundings_here
from course_utils.grading.limits import Limits
from course_utils.grading.result import Reason, read_result

pytest.importorskip("distributed", reason="needs Dask: pip install -e .[cluster]")

TESTS = Path(__file__).resolve().parent
STAND_IN = "stand_in_graders:StandIn"


class LocalCluster:
    """A scheduler and workers on loopback, each a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []

    def start_scheduler(self):
        """Start the scheduler; wait until it has written its address, which it does not in one step."""
        scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        while not wait_for(self.file, scheduler).rstrip().endswith("}"):
            time.sleep(0.01)
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, kind, *arguments):
        """Start a scheduler or a worker."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self.file), *arguments]
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def start_workers(self, number):
        """Start workers of one thread each; wait until the scheduler knows them."""
        from distributed import Client

        made = [
            self.start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(number)
        ]
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)
        return made

    def stop(self):
        """End all of them."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()


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


def grade(root, cluster):
    """Grade what was handed in on a cluster."""
    rows = collect(root, ASSIGNMENT, Limits())
    batch = grade_batch(
        two_tasks.source_bytes(),
        NAME,
        rows,
        root.parent / "graded",
        surroundings=surroundings_here("stand-in"),
        runner=cluster,
    )
    return {result.student: result for result in batch.results}


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


def test_no_scheduler(monkeypatch):
    """An address where nothing answers is one sentence."""
    monkeypatch.setattr("course_utils.grading.cluster.CONNECT_S", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9")


def test_no_worker(local):
    """A cluster without workers is one sentence that says how to start one."""
    with pytest.raises(ClusterError, match="has no worker; start one with `dask worker`"):
        Cluster(local.address)


def test_what_a_worker_runs():
    """A worker answers bytes with a line of JSON, and keeps its grader; here in this process."""
    job = Job(NAME, two_tasks.source_bytes(), "ada", f"{NAME}.ipynb", submitted_bytes(SOLVED), Limits())
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
