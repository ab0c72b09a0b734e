"""The process that forks workers: it prepares a grader once, and each fork of it is a worker that is ready at once."""

from __future__ import annotations

import base64
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from course_utils.grading.running.job import course_from_bytes
from course_utils.grading.running.worker import GraderHolder
from course_utils.sandbox.processors import stay_on
from course_utils.sandbox.sandbox import Sandbox
from course_utils.sandbox.shared_template import LentTemplate

LONGEST_MESSAGE = 2**12
Serve = Callable[[Connection, GraderHolder], None]


def serve_forks_inside(descriptors: list[int]) -> None:
    """Be the fork server in a fork of the sandbox's template: learn what for, then serve."""
    control = socket.socket(fileno=descriptors[0])
    with Connection(descriptors[1]) as told:
        head, course = json.loads(told.recv_bytes()), told.recv_bytes()
    module, _, function = head["serve"].partition(":")
    scratch, syscall_filter = tuple(head["scratch"]), base64.b64decode(head["syscall_filter"]) or None
    sandbox = Sandbox(head["sandbox"], (), {}, "", scratch, forks=True, syscall_filter=syscall_filter)
    inside = (sandbox, LentTemplate(socket.socket(fileno=descriptors[2])))
    serve_forks(control, head["factory"], getattr(importlib.import_module(module), function), course, inside)


def serve_forks(
    control: socket.socket,
    factory: str,
    serve: Serve,
    course: bytes,
    inside: tuple[Sandbox, LentTemplate] | None = None,
) -> None:
    """Be the fork server: prepare a grader, then fork a worker for each pipe that comes, until the socket closes."""
    os.setsid()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    woken, waker = socket.socketpair()
    for end in (woken, waker):
        end.setblocking(False)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    workers: dict[int, int] = {}
    with GraderHolder(factory, inside) as holder:
        # what is loaded stays: nothing to collect meanwhile, and a worker's collections copy no page of it
        gc.disable()
        holder.grader_for(course_from_bytes(course))
        gc.freeze()
        gc.enable()
        while True:
            readable = select.select([control, woken], [], [])[0]
            if woken in readable:
                with suppress(BlockingIOError):
                    woken.recv(LONGEST_MESSAGE)
                _report_ended(control, workers)
            if control in readable:
                data, pipes, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, 1)
                if not data:
                    break
                request = json.loads(data)
                if "signal" in request:
                    _send_signal(request["signal"], [pid for pid, number in workers.items() if number == request["to"]])
                    continue
                number = request["fork"]
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for end in (control, woken, waker):
                        end.close()
                    stay_on(request["processors"])
                    _work(Connection(pipes[0]), holder, serve)
                os.close(pipes[0])
                workers[pid] = number
                control.send(json.dumps({"fork": number, "pid": pid}).encode())
    os._exit(0)  # nothing is left to be written, and taking torch apart takes time


def _report_ended(control: socket.socket, workers: dict[int, int]) -> None:
    """Collect the workers that ended, and tell the parent how."""
    for pid in list(workers):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            message = {"fork": workers.pop(pid), "status": status}
            with suppress(OSError):
                control.send(json.dumps(message).encode())


def _send_signal(what: int, pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, what)


def _work(pipe: Connection, holder: GraderHolder, serve: Serve) -> None:
    """Be a worker in a fork; end without what the server registered for its own end."""
    code = 1
    try:
        os.setsid()
        holder.after_fork()
        serve(pipe, holder)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        with suppress(Exception):
            holder.close()
        os._exit(code)
