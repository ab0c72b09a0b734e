"""Submissions that run at once share nothing with each other or with the host: network, keys, processes, memory."""

import platform

import pytest
from support.sandbox_here import needs_sandbox

from course_utils.grading.checking.student_client import StudentClient
from course_utils.sandbox import shared_template, starters
from course_utils.sandbox.connection import StudentGone
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.reason import Ending
from course_utils.sandbox.sandbox import choose_sandbox
from course_utils.sandbox.syscall_filter import write_filter

LIMITS = Limits(task_s=20, memory_bytes=400 * 2**20, file_bytes=64 * 2**20, processes=32)
needs_filter = pytest.mark.skipif(write_filter() is None, reason="pyseccomp or libseccomp is not installed")
pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def both():
    """Start one template, and two ways to it."""
    chosen = choose_sandbox("", unsafe=False)
    template = shared_template.SharedTemplate(chosen, ["socket", "ctypes", "concurrent.futures", "mmap"])
    ways = [starters.make_starter(chosen, [], template.connect()) for _ in range(2)]
    yield ways
    for way in ways:
        way.close()
    template.close()


class Process:
    """A student's process in which a test runs code."""

    def __init__(self, starter):
        self.connection = starter.start(LIMITS)
        self.client = StudentClient(self.connection, LIMITS, {})

    def run(self, source):
        """Run a cell that defines `work`, call it, and return its value."""
        answer = self.client.run(source, ["work"], given=False)
        assert answer["error"] is None, answer["error"]
        return self.client.call("work", (), {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


LISTEN = """
import socket
def work():
    global kept
    kept = []
    for family, address in ((socket.AF_UNIX, "\\0neighbour"), (socket.AF_INET, ("127.0.0.1", 47123))):
        one = socket.socket(family)
        try:
            one.bind(address)
            one.listen()
            kept.append(one)
        except OSError:
            pass
    return len(kept)
"""
CONNECT = """
import socket
def work():
    reached = 0
    for family, address in ((socket.AF_UNIX, "\\0neighbour"), (socket.AF_INET, ("127.0.0.1", 47123))):
        try:
            socket.create_connection(address) if family == socket.AF_INET else socket.socket(family).connect(address)
            reached += 1
        except OSError:
            pass
    return reached
"""


def test_neighbours_cannot_talk(both):
    """Abstract sockets and the loopback of one submission do not lead to another that runs at the same time."""
    with Process(both[0]) as one, Process(both[1]) as other:
        assert one.run(LISTEN) >= 1
        assert other.run(CONNECT) == 0


NUMBERS = {
    "x86_64": {"keyctl": 250, "add_key": 248, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "ptrace": 101},
    "aarch64": {"keyctl": 219, "add_key": 217, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "ptrace": 117},
}
CALLS = """
import ctypes, errno, os, socket
def work():
    libc = ctypes.CDLL(None, use_errno=True)
    said = {}
    for name, number in NUMBERS.items():
        ctypes.set_errno(0)
        done = libc.syscall(number, 0, 0, 0, 0, 0)
        said[name] = errno.errorcode.get(ctypes.get_errno(), "0") if done == -1 else "done"
    for name, number in (("io_uring_setup", 425), ("open_tree", 428)):
        done = libc.syscall(number, 1, 0, 0, 0, 0)
        said[name] = errno.errorcode.get(ctypes.get_errno(), "0") if done == -1 else "done"
    for name, flag in (("user", 0x10000000), ("net", 0x40000000)):
        said["unshare " + name] = errno.errorcode.get(ctypes.get_errno()) if libc.unshare(flag) else "done"
    for name, family in (("netlink", 16), ("vsock", 40)):
        try:
            socket.socket(family, socket.SOCK_STREAM if family == 40 else socket.SOCK_RAW)
            said[name] = "done"
        except OSError as error:
            said[name] = errno.errorcode[error.errno]
    return said
"""


@needs_filter
@pytest.mark.skipif(platform.machine() not in NUMBERS, reason="the calls' numbers are written down for two processors")
def test_system_calls_without_use_are_refused(both):
    """Keys, tracing, namespaces, kernel programs and odd sockets are refused, whatever the arguments."""
    with Process(both[0]) as one:
        said = one.run(f"NUMBERS = {NUMBERS[platform.machine()]!r}\n{CALLS}")

    assert len(said) == 12
    assert set(said.values()) == {"EPERM"}, said


SLEEPERS = """
import os, time
def work():
    for _ in range(25):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    return 25
"""
POOL = """
from concurrent.futures import ThreadPoolExecutor
def work():
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(lambda n: n * n, range(200)))
"""


def test_neighbours_leave_the_process_limit_alone(both):
    """What one submission starts does not count for another."""
    with Process(both[0]) as one, Process(both[1]) as other:
        assert one.run(SLEEPERS) == 25
        assert other.run(POOL) == sum(n * n for n in range(200))


HOARDS = {
    "memfd": """
import os
def work():
    kept = []
    for n in range(40):
        kept.append(os.memfd_create(str(n)))
        for _ in range(15):
            os.write(kept[-1], bytes(2**22))
    return len(kept)
""",
    "memfds that wait in a socket's queue": """
import os, socket
def work():
    global ends
    ends = socket.socketpair()
    for n in range(40):
        one = os.memfd_create(str(n))
        for _ in range(15):
            os.write(one, bytes(2**22))
        socket.send_fds(ends[0], [b"x"], [one])
        os.close(one)
    return 40
""",
    "mapped and closed": """
import mmap
def work():
    kept = []
    for n in range(100):
        kept.append(mmap.mmap(-1, 2**24))
        kept[-1].write(bytes(2**24))
    return len(kept)
""",
    "files in the folders in memory": """
def work():
    for folder in ("/student", "/dev/shm", "/tmp"):
        for n in range(3):
            with open(f"{folder}/{n}", "wb") as file:
                for _ in range(15):
                    file.write(bytes(2**22))
    global kept
    kept = bytearray(300 * 2**20)
    return 1
""",
}


@pytest.mark.parametrize("what", [pytest.param(what, marks=[needs_filter] * ("queue" in what)) for what in HOARDS])
def test_memory_that_no_process_maps_is_counted(both, what):
    """Memory in files that live in memory counts like any other."""
    with Process(both[0]) as one, pytest.raises((StudentGone, OSError)) as stopped:
        one.run(HOARDS[what])

    gone = stopped.value
    if isinstance(gone, StudentGone):
        assert gone.ending is Ending.MEMORY
    else:
        assert any(word in str(gone) for word in ("No space", "Cannot allocate", "not implemented"))


SEGMENT = """
import ctypes
def work():
    libc = ctypes.CDLL(None, use_errno=True)
    return [libc.shmget(0, 2**30, 0o1600), ctypes.get_errno()]
"""


@needs_filter
def test_detached_segments_are_not_given(both):
    """A segment of System V, which no process has to hold, is refused for lack of memory."""
    with Process(both[0]) as one:
        assert one.run(SEGMENT) == [-1, 12]
