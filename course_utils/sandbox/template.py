"""The warm template: loads torch once inside the sandbox, then forks for each submission (Linux).

Started as `python -I -c "... main()"` by `starters` beside it. Its control socket takes one request after the other:
{"warm": [modules], "pin": [modules]}, to load some and to keep what is in others at its address for good; {"start":
{...}} with three file descriptors, a submission's socket, output and reports; {"share": {...}} with one, a control
socket for another worker, which a fork of the template serves from then on, in namespaces of its own if that is asked;
{"beside": "module:function"} with any, which a fork hands to that function: so the checks have torch from here, too,
and get what they check with only after the fork.
A fork costs tens of milliseconds where importing torch costs seconds. Only the CPU is used: a fork after Metal has
started is not safe, so a Mac starts interpreters ahead instead (`prestarted` below).
"""

from __future__ import annotations

import base64
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from course_utils.exercises.cell_shell import make_shell
from course_utils.exercises.compiler_on_demand import put_off_compiler
from course_utils.sandbox import identities, namespaces
from course_utils.sandbox.deferred_seeds import queue_seeds_without_stack
from course_utils.sandbox.process_tree import read_usage
from course_utils.sandbox.processors import stay_on
from course_utils.sandbox.student import serve_socket
from course_utils.sandbox.syscall_filter import load_filter
from course_utils.sandbox.thread_pool import renew_in_forks

REQUEST_BYTES, MOST_DESCRIPTORS = 2**20, 2**20


def load_all(modules: Sequence[str]) -> None:
    """Load modules; torch gets one thread, since a fork takes none along, and no result depends on the cores then.

    torch's compiler is loaded by the submission that asks for it: without it a process is forked and ended sooner.
    """
    put_off_compiler()
    for name in modules:
        load(name)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
        renew_in_forks()
        queue_seeds_without_stack()


def warm_up(modules: Sequence[str]) -> None:
    """Load what submissions will need, and use once what takes long at its first use."""
    load_all(modules)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.ones(8, 8) @ torch.ones(8, 8)
    select_device = sys.modules.get("course_utils.emulation.select_device")
    if torch is not None and select_device is not None and sys.platform.startswith("linux"):
        # reads torch's operator list once for all
        with select_device.mps_or_emulated() as mps:
            torch.ones(2, device=mps.device).sum().item()


def load(name: str) -> None:
    """Load a module, or the module that holds a name, with all modules of the course's tools below it."""
    if name in sys.modules and not name.startswith("course_utils"):
        return
    with contextlib.suppress(Exception):  # what is no module here, or does not load by itself, is not needed before
        importlib.import_module(name)
    package, _, attribute = name.rpartition(".")
    thing = getattr(sys.modules.get(package), attribute, None)
    home = sys.modules.get(getattr(thing, "__module__", None) or name)
    if home is None or not home.__name__.startswith("course_utils."):
        return
    if home.__name__.startswith(("course_utils.grading", "course_utils.exercises")):
        return  # the grader itself, and what runs beside it, is of no use to a student
    if home.__name__.count(".") > 1:
        home = sys.modules[home.__name__.rpartition(".")[0]]
    for module in pkgutil.iter_modules(getattr(home, "__path__", ()), f"{home.__name__}."):
        importlib.import_module(module.name)


def fork_server(control: socket.socket) -> None:
    """Serve requests until the control socket closes."""
    shell = make_shell()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 3)
        if not data:
            return
        request = json.loads(data)
        if "share" in request or "beside" in request:
            if _fork_for_others(request.get("share", {})):
                control.close()
                if "beside" in request:
                    run_beside(request["beside"], descriptors)
                control = socket.socket(fileno=descriptors[0])
            else:
                for descriptor in descriptors:
                    os.close(descriptor)
            continue
        if "warm" in request:
            # what is loaded stays: there is nothing to collect meanwhile, and a full collection in a fork would copy
            # every page that it touches (0.16 s beside 0.01)
            gc.disable()
            warm_up(request["warm"])
            seed_libraries()
            identities.pin(request["pin"])
            gc.freeze()
            gc.enable()
            if sys.platform.startswith("linux"):
                namespaces.hide_memory()
            control.send(b'{"warm": true}')
            continue
        ended = _fork(control, shell, request["start"], descriptors)
        control.send(json.dumps({"ended": ended}).encode())


def _fork_for_others(how: dict[str, Any]) -> bool:
    """Fork for somebody else, in namespaces of its own where `apart` is asked for; return whether this is the fork."""
    if not how.get("apart"):
        if os.fork():
            return False
        stay_on(how.get("processors", ()))
        return True
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return False
    try:
        namespaces.separate_from_template(own_users=how["own_users"])
        if namespaces.fork_first(returns=False) == 0:
            return True
        os._exit(0)
    except OSError as error:  # nothing may return into the template's loop
        print(f"cannot separate a template: {error}", file=sys.stderr, flush=True)
    os._exit(70)


def run_beside(name: str, descriptors: list[int]) -> NoReturn:
    """Hand file descriptors to a function of a module that this one does not know, and end with it."""
    code = 1
    try:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)(descriptors)
        code = 0
    except Exception as error:  # nothing may return into the template's loop
        print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _fork(control: socket.socket, shell: Any, start: dict[str, Any], descriptors: list[int]) -> int:
    """Run one submission in a fork, or a fork of one; return how it ended, as `os.waitpid` says it."""
    direct = bool(start["scratch"]) and namespaces.returns_to_own_processes()
    child = namespaces.fork_first(returns=True) if direct else os.fork()
    if child == 0:
        control.close()
        if direct:
            run_student_process(shell, start, descriptors)
        supervise(shell, start, descriptors)
    # only the submission holds its end of the line: when it is gone, the checks see that at once
    for descriptor in descriptors:
        os.close(descriptor)
    return os.waitpid(child, 0)[1]


def supervise(shell: Any, start: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Run one submission in a fork, and end as it ends; this process stays outside the submission's process list."""
    try:
        if start["scratch"]:
            student = namespaces.fork_first(returns=False)
        else:
            namespaces.adopt_orphans()
            student = os.fork()
        if student == 0:
            run_student_process(shell, start, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitpid(student, 0)[1]
        if not start["scratch"]:
            end_orphans()
    except BaseException as error:  # nothing may return into the template's loop
        print(f"cannot separate a submission: {error}", file=sys.stderr, flush=True)
        os._exit(70)
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def end_orphans() -> None:
    """End what a submission without a process list of its own has left running."""
    while left := read_usage(os.getpid()).processes[1:]:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def run_student_process(shell: Any, start: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Run the student's process to its end: private folders, limits, no privileges; answer questions; end."""
    channel_fd, output_fd, report_fd = descriptors
    try:
        with contextlib.suppress(PermissionError):  # an interpreter of its own leads its session already
            os.setsid()
        mapped = mapped_bytes()
        if start["scratch"]:
            namespaces.separate_from_template(own_users=bool(start["syscall_filter"]))
            namespaces.mount_scratch(dict.fromkeys(start["scratch"], start["file_bytes"]) | {"/proc": 0})
            namespaces.drop_capabilities()
            namespaces.hide_memory()
            os.chdir(start["scratch"][0])
        elif start["folder"]:
            os.chdir(start["folder"])
        redirect_output(output_fd)
        channel = socket.socket(fileno=channel_fd)
        close_others({0, 1, 2, channel.fileno(), report_fd})
        set_limits(start, mapped)
        # whatever Python itself draws from is seeded anew in each fork; a library's state is inherited
        random.seed(0)
        if start["syscall_filter"]:
            load_filter(base64.b64decode(start["syscall_filter"]))
    except BaseException as error:  # without its limits no student code runs
        print(f"cannot shut a submission in: {error}", file=sys.stderr, flush=True)
        os._exit(71)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        serve_socket(channel, shell, report_fd, depth=start["value_depth"])
    os._exit(0)


def redirect_output(output_fd: int) -> None:
    """Send standard output and error to the grader; nothing can be read from standard input."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    # what is printed is seen at once, even when the process dies in the next line
    for name, number in (("stdout", 1), ("stderr", 2)):
        raw = open(number, "wb", buffering=0, closefd=False)  # noqa: SIM115
        setattr(sys, name, io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True))


def close_others(kept: set[int]) -> None:
    """Close every file descriptor but these."""
    first = 0
    for descriptor in sorted(kept):
        if descriptor > first:  # an empty range closes everything (CPython 3.11)
            os.closerange(first, descriptor)
        first = descriptor + 1
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    # "unlimited" is -1 or 2**63 - 1, by system; nobody has a million files open
    os.closerange(first, soft if 0 <= soft <= MOST_DESCRIPTORS else MOST_DESCRIPTORS)


def mapped_bytes() -> int:
    """Return the address space that this process has mapped, most of it libraries; 0 where that is not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as sizes:
            return int(sizes.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def set_limits(start: dict[str, Any], mapped: int) -> None:
    """Limit memory, processes, files and CPU time of this process and what it starts.

    Where the mapped address space is not known (macOS refuses the limit, too), the grader watches from outside alone.
    """
    if mapped:
        limit = mapped + start["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (start["cpu_s"], start["cpu_s"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (start["file_bytes"], start["file_bytes"]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if start["scratch"]:
        # counts processes and threads of the user, so it is only set where the user is this submission's; the grader
        # sees from outside when it has too many processes, and this keeps a fork bomb small until then
        most = 4 * start["processes"]
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def seed_libraries() -> None:
    """Have every submission begin with the same random numbers."""
    for name, seeder in (("numpy", "random.seed"), ("torch", "manual_seed")):
        module = sys.modules.get(name)
        if module is not None:
            function: Any = module
            for part in seeder.split("."):
                function = getattr(function, part)
            function(0)


def main() -> None:
    """Serve as a template; the control socket is the file descriptor in the last argument."""
    with socket.socket(fileno=int(sys.argv[-1])) as control:
        fork_server(control)


def prestarted() -> None:
    """Start one interpreter ahead of time: warm up, wait for a submission, serve it, end (macOS)."""
    with socket.socket(fileno=int(sys.argv[-1])) as control:
        data, _, _, _ = socket.recv_fds(control, REQUEST_BYTES, 0)
        warm_up(json.loads(data)["warm"])
        seed_libraries()
        shell = make_shell()
        control.send(b'{"warm": true}')
        data, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 3)
    if data:
        run_student_process(shell, json.loads(data)["start"], descriptors)
