"""Run jobs on a Dask cluster, for a class that is larger than one machine.

    dask scheduler                                   # on one machine
    dask worker tcp://SCHEDULER:8786 --nthreads 1    # on each machine, in the environment of the course

Dask pickles what it sends. It gets the name of `grade_remote` and bytes, and gives back text, so no object that a
student's code made is ever pickled or unpickled. Its connections are neither encrypted nor guarded unless it is set up
with TLS: anybody who reaches the scheduler can run code on all machines, so keep it in a network of your own.

The workers run student code in their own sandboxes and write nothing; only the process that asked keeps results. The
jobs of a lost worker run again on another, at most as often as Dask's `distributed.scheduler.allowed-failures` says.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import json
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any

from course_utils.exercises.versions import RuntimeVersions, runtime_versions
from course_utils.grading.running.job import Job
from course_utils.grading.running.pool import Answer
from course_utils.grading.running.worker import ENGINE, GraderHolder, run_job
from course_utils.reporting.error_text import first_line
from course_utils.reporting.errors import CourseError
from course_utils.sandbox.sandbox import SandboxError, choose_sandbox

CONNECT_S = 20.0
LOOK_S = 5.0
# how long a cluster may be without any worker before the rest is given up, seconds
WITHOUT_WORKERS_S = 120.0

_lock = threading.Lock()
_holder: GraderHolder | None = None


class ClusterError(CourseError, RuntimeError):
    """The cluster cannot be used; the message is one sentence that says what to do."""


def grade_remote(data: bytes, factory: str) -> str:
    """Grade one job; runs in a Dask worker, which keeps one grader warm.

    Args:
        data: a job, as `Job.to_bytes` writes it.
        factory: the grader's class, as "module:Class".

    Returns:
        The result as one line of JSON.
    """
    global _holder  # noqa: PLW0603  # one for the process, whatever thread Dask chooses
    with _lock:
        if _holder is None or _holder.factory != factory:
            if _holder is not None:
                _holder.close()
            _holder = GraderHolder(factory)
            atexit.register(_holder.close)
        return run_job(data, _holder)


def describe_worker(unsafe: bool) -> str:
    """Return a worker's versions and sandbox as JSON, or why it cannot shut student code in."""
    try:
        sandbox = choose_sandbox("", unsafe=unsafe).name
        return json.dumps({"sandbox": sandbox, "versions": asdict(runtime_versions())})
    except SandboxError as error:
        return json.dumps({"problem": str(error)})


class Cluster:
    """Runs jobs on a Dask cluster.

    Args:
        address: the scheduler's, such as "tcp://192.168.1.10:8786".
        unsafe: whether jobs will run without a sandbox.
        factory: the grader's class, as "module:Class".
        without_workers_s: how long to wait while there is no worker, seconds.

    Raises:
        ClusterError: when nothing answers there, there is no worker, or the workers differ.
    """

    def __init__(
        self,
        address: str,
        *,
        unsafe: bool = False,
        factory: str = ENGINE,
        without_workers_s: float = WITHOUT_WORKERS_S,
    ) -> None:
        try:
            # Any: whether Dask is there, and annotated, differs between the environments that check this file
            self._dask: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise ClusterError("--cluster needs Dask; install it with `pip install -e .[cluster]`") from error
        self.address = address
        self.factory = factory
        self.without_workers_s = without_workers_s
        try:
            self._client: Any = self._dask.Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address} ({first_line(error)}); start one") from error
        try:
            self.sandbox, self.versions = self._ask_workers(unsafe=unsafe)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self._client.close()

    def _ask_workers(self, *, unsafe: bool) -> tuple[str, RuntimeVersions]:
        """Ask all workers what their results depend on: the sandbox and the versions."""
        try:
            answers = self._client.run(describe_worker, unsafe, on_error="return")
        except OSError as error:
            raise ClusterError(f"the cluster at {self.address} does not answer: {first_line(error)}") from error
        if not answers:
            raise ClusterError(f"the cluster at {self.address} has no worker; start one with `dask worker`")
        found: dict[tuple[str, RuntimeVersions], str] = {}
        for worker, answer in answers.items():
            if not isinstance(answer, str):
                raise ClusterError(
                    f"the worker {worker} cannot load this course ({first_line(answer)}); start it in its environment"
                )
            content = json.loads(answer)
            if "problem" in content:
                raise ClusterError(f"the worker {worker} cannot grade: {content['problem']}")
            found[content["sandbox"], RuntimeVersions(**content["versions"])] = worker
        here = runtime_versions().course
        if len(found) > 1 or any(versions.course != here for _, versions in found):
            listed = "; ".join(
                f"{worker} has course {each.course}, torch {each.torch}, Python {each.python}, {each.system}, "
                f"sandbox {sandbox}"
                for (sandbox, each), worker in found.items()
            )
            raise ClusterError(
                f"results would depend on where they are made: {listed}; here is course {here}; "
                "bring all of them to the same state"
            )
        return next(iter(found))

    def start(self, jobs: Sequence[Job]) -> None:
        """Do nothing: the workers have been started by others."""

    def stop(self) -> None:
        """Do nothing: the cluster goes on."""

    def run(self, jobs: Sequence[Job]) -> Generator[Answer]:
        """Run all jobs; answers come in the order in which they are done."""
        waiting = deque(jobs)
        running: dict[Any, Job] = {}
        seen_s = time.monotonic()
        try:
            while waiting or running:
                threads = self._count_threads()
                seen_s = time.monotonic() if threads else seen_s
                if threads is None or time.monotonic() - seen_s > self.without_workers_s:
                    gone = f"the cluster at {self.address} has " + ("no worker any more" if threads == 0 else "ended")
                    yield from (Answer(job, problem=gone) for job in [*running.values(), *waiting])
                    return
                # two for each thread: one that runs, one that is there when it is done
                while waiting and len(running) < max(2 * threads, 2):
                    job = waiting.popleft()
                    running[self._submit(job)] = job
                for future in self._wait(list(running)):
                    answer = self._answer(future, running[future])
                    if answer is not None:
                        del running[future]
                        yield answer
        finally:
            with suppress(OSError, RuntimeError, TimeoutError):
                self._client.cancel(list(running), force=True)

    def _count_threads(self) -> int | None:
        """Count the threads of all workers; None when the scheduler is gone."""
        try:
            return sum(map(int, self._client.nthreads().values()))
        except (OSError, RuntimeError, ValueError):
            return None

    def _submit(self, job: Job) -> Any:
        with warnings.catch_warnings():
            # a notebook with many pictures has more than the 10 MB of which Dask warns
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._client.submit(grade_remote, job.to_bytes(), self.factory, pure=False)

    def _wait(self, futures: list[Any]) -> list[Any]:
        # what was cancelled, or lost with its scheduler, is done, too
        with suppress(TimeoutError, CancelledError, asyncio.CancelledError), self._client.as_current():
            self._dask.wait(futures, timeout=LOOK_S, return_when="FIRST_COMPLETED")
        return [future for future in futures if future.done()]

    def _answer(self, future: Any, job: Job) -> Answer | None:
        """Return what came of a job; None when its result was lost with its worker, so that it runs again."""
        if future.status == "finished":
            try:
                return Answer(job, line=future.result(timeout=LOOK_S))
            except (TimeoutError, CancelledError, asyncio.CancelledError):
                return None
        error = future.exception(timeout=LOOK_S) if future.status == "error" else None
        reason = "it was lost" if error is None else first_line(error)
        return Answer(job, problem=f"the cluster gave no result: {reason}")
