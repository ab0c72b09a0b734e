"""Worker processes on this machine: each takes one job after the other, and one that ends costs only its job.

On Linux workers are forks of one process that has rehearsed the exercise, in the sandbox itself (`fork_server`);
elsewhere, and without a sandbox, each is started afresh ("spawn"). They lead sessions of their own, so that Ctrl-C
reaches only the parent, and leave no process behind. Bytes go to them and lines of JSON come back; nothing that they
send is unpickled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from course_utils.grading.course import Course
from course_utils.grading.running.fork_server import ForkedWorker, ForkServer
from course_utils.grading.running.forking import Serve
from course_utils.grading.running.job import Job
from course_utils.grading.running.prepared import runs_inside
from course_utils.grading.running.worker import ENGINE, GraderHolder, run_job
from course_utils.sandbox.process_tree import read_usage
from course_utils.sandbox.processors import own_processors
from course_utils.sandbox.sandbox import SandboxError

READY = b"ready"
MOST_TRIES = 2
MOST_FAILED_STARTS = 3
# beyond the submission's own time: loading torch, starting the sandbox, killing what does not end
SPARE_S = 240.0
CLOSE_S, KILL_S = 10.0, 3.0


@dataclass(frozen=True)
class Answer:
    """What came of one job.

    Args:
        job: the job.
        line: the result as a line of JSON; empty when there is none.
        problem: why there is no result, one sentence; else empty.
    """

    job: Job
    line: str = ""
    problem: str = ""


@dataclass(eq=False)
class _Worker:
    process: SpawnProcess | ForkedWorker
    pipe: Connection
    inside: bool = False
    processor: int | None = None
    ready: bool = False
    job: Job | None = None
    deadline_s: float = field(default=0.0)

    @property
    def busy(self) -> bool:
        return self.job is not None


def count_cores() -> int:
    """Count the cores that this process may use."""
    return len(own_processors()) or os.cpu_count() or 1


def serve(pipe: Connection, holder: GraderHolder) -> None:
    """Be a worker: answer jobs until the pipe closes."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with suppress(EOFError, OSError):
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(run_job(pipe.recv_bytes(), holder).encode())


def serve_spawned(pipe: Connection, factory: str, work: Serve) -> None:
    """Be a worker that was started afresh."""
    os.setsid()
    with GraderHolder(factory) as holder:
        work(pipe, holder)
    os._exit(0)  # nothing is left to be written, and taking torch apart takes time


class Pool:
    """Runs jobs in worker processes.

    Args:
        workers: how many at most.
        factory: the grader's class, as "module:Class".
        fork: whether workers are forks of one process; where that is possible when None.
        spare_s: how long a worker may take beyond a submission's own limit before it is ended, seconds.
    """

    def __init__(
        self,
        workers: int,
        factory: str = ENGINE,
        *,
        fork: bool | None = None,
        spare_s: float = SPARE_S,
    ) -> None:
        self.most = workers
        self.factory = factory
        self.fork = sys.platform.startswith("linux") if fork is None else fork
        self.spare_s = spare_s
        self._workers: list[_Worker] = []
        self._failed_starts = 0
        self._server: ForkServer | None = None
        # where checks cannot be shut in, a grader outside says what is missing
        self._inside = runs_inside(factory)
        self._had_one = False

    def start(self, jobs: Sequence[Job]) -> None:
        """Start as many workers as there is work for, and return while they load."""
        if jobs:
            self._start_workers(len(jobs), jobs[0].course)

    def run(self, jobs: Sequence[Job]) -> Generator[Answer]:
        """Run all jobs; answers come in the order in which they are done."""
        waiting = deque(jobs)
        # by position in memory: a job is not hashable
        tries: Counter[int] = Counter()
        while waiting or any(worker.busy for worker in self._workers):
            if waiting:
                self._start_workers(len(waiting), waiting[0].course)
            if not self._workers:
                yield from (Answer(job, problem="no grading process starts on this machine") for job in waiting)
                return
            self._hand_out(waiting)
            for worker in self._wait():
                answer = self._take(worker, waiting, tries)
                # nobody waits while the answer is written
                self._hand_out(waiting)
                if answer is not None:
                    yield answer

    def _hand_out(self, waiting: deque[Job]) -> None:
        """Give each worker that has nothing to do a job."""
        for worker in self._workers:
            if waiting and worker.ready and not worker.busy:
                self._send(worker, waiting.popleft())

    def _take(self, worker: _Worker, waiting: deque[Job], tries: Counter[int]) -> Answer | None:
        """Return the answer of a worker that has said something; remove one that has ended, and try its job again."""
        job = worker.job
        line = self._receive(worker)
        if line is not None:
            return None if job is None else Answer(job, line=line)
        ending = self._remove(worker)
        if job is None:
            return None
        tries[id(job)] += 1
        if tries[id(job)] < MOST_TRIES:
            waiting.appendleft(job)
            return None
        return Answer(job, problem=f"the grading process {ending}, in {MOST_TRIES} tries")

    def _start_workers(self, waiting: int, course: Course) -> None:
        """Start as many workers as there is work for, unless the last few did not even start."""
        wanted = min(self.most, waiting + sum(worker.busy for worker in self._workers))
        while len(self._workers) < wanted and self._failed_starts < MOST_FAILED_STARTS:
            self._workers.append(self._start(course))

    def _start(self, course: Course) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process: SpawnProcess | ForkedWorker
        processor = self._choose_processor()
        if self.fork and not course.unsafe:
            if self._server is not None and self._server.ended:
                self._server.close()
                self._server = None
            process = (self._server or self._start_server(course)).start(theirs, processor)
        else:
            process = context.Process(target=serve_spawned, args=(theirs, self.factory, serve))
            process.start()
        theirs.close()
        inside = self._server is not None and not self._server.process.same_ids
        return _Worker(process, ours, inside, processor, deadline_s=time.monotonic() + self.spare_s)

    def _choose_processor(self) -> int | None:
        """Return the processor for a new worker; None where there are more than workers, and the system chooses.

        A worker waits while its submission computes, and the other way round: on one processor each finds in the cache
        what the other left there.
        """
        processors = own_processors()
        taken = Counter(worker.processor for worker in self._workers)
        return min(processors, key=lambda each: taken[each]) if 0 < len(processors) <= self.most else None

    def _start_server(self, course: Course) -> ForkServer:
        try:
            self._server = ForkServer(self.factory, serve, course, inside=self._inside)
        except SandboxError:
            self._inside = False
            self._server = ForkServer(self.factory, serve, course, inside=False)
        return self._server

    def _leave_sandbox(self) -> None:
        """Start workers outside from now on."""
        self._inside = False
        if self._server is not None and not self._server.process.same_ids:
            self._server.close()
            self._server = None

    def _send(self, worker: _Worker, job: Job) -> None:
        worker.job = job
        worker.deadline_s = time.monotonic() + job.course.limits.submission_s + self.spare_s
        with suppress(OSError):  # it has ended; that is seen when its answer is read
            worker.pipe.send_bytes(job.to_bytes())

    def _wait(self) -> list[_Worker]:
        """Wait until workers have something to say, have ended, or are out of time."""
        active = [worker for worker in self._workers if worker.busy or not worker.ready]
        soonest = min((worker.deadline_s for worker in active), default=time.monotonic())
        said = wait([worker.pipe for worker in active], timeout=max(0.0, soonest - time.monotonic()))
        now = time.monotonic()
        return [worker for worker in active if worker.pipe in said or worker.deadline_s <= now]

    def _receive(self, worker: _Worker) -> str | None:
        """Return what a worker says: an answer, "" when it is ready; None when it has ended or is out of time."""
        try:
            if not worker.pipe.poll():
                return None
            data = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            return None
        if data == READY:
            worker.ready = self._had_one = True
            self._failed_starts = 0
            return ""
        worker.job = None
        return data.decode()

    def _remove(self, worker: _Worker) -> str:
        """Take a worker out that ended or has to; return how it ended, in words."""
        self._workers.remove(worker)
        if worker.inside and not self._had_one:
            # the sandbox does not start here; outside, a grader finds out why
            self._leave_sandbox()
        else:
            self._failed_starts += not worker.ready
        late = worker.process.is_alive() and worker.deadline_s <= time.monotonic()
        _end([worker], 0.0 if late else KILL_S)
        code = worker.process.exitcode
        worker.process.close()
        if late:
            return "did not answer in time"
        return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"

    def stop(self) -> None:
        """End all workers and what they started."""
        workers, self._workers = self._workers, []
        server, self._server = self._server, None
        try:
            if server is None or server.process.same_ids:
                _end(workers, CLOSE_S)
        finally:
            for worker in workers:
                worker.pipe.close()
            if server is not None:
                server.close(KILL_S)
        for worker in workers:
            worker.process.close()


def _end(workers: Sequence[_Worker], patience_s: float) -> None:
    """End workers: idle ones by closing their pipe, busy ones by SIGTERM, then whatever is left by SIGKILL."""
    own = {worker.process.pid for worker in workers}
    below = {pid for first in own if first for pid in read_usage(first).processes} - own
    try:
        for worker in workers:
            worker.pipe.close()
            if worker.busy or not worker.ready:
                worker.process.terminate()
        deadline_s = time.monotonic() + patience_s
        for worker in workers:
            worker.process.join(max(0.0, deadline_s - time.monotonic()))
    finally:
        # also after a second Ctrl-C
        _kill(below)
        for worker in workers:
            worker.process.kill()
            worker.process.join()


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
