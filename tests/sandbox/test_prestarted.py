"""The way that a Mac takes, run here: an interpreter started ahead for each submission keeps what a fork keeps."""

import os
import resource
from dataclasses import replace

import psutil
import pytest

from course_utils.grading.checking.student_client import StudentClient
from course_utils.sandbox import starters
from course_utils.sandbox.connection import StudentGone
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_marked_usage
from course_utils.sandbox.reason import Ending
from course_utils.sandbox.sandbox import choose_sandbox
from course_utils.sandbox.template import close_others

LIMITS = Limits(task_s=60, memory_bytes=150 * 2**20, file_bytes=2**20, processes=8)


@pytest.fixture
def starter(tmp_path):
    """Start interpreters ahead, with a folder on the disk for each, and no sandbox: none of a Mac runs here."""
    chosen = replace(choose_sandbox(str(tmp_path), unsafe=True), forks=False)
    made = starters.make_starter(chosen, ["json"])
    yield made
    made.close()


def run(connection, source):
    """Run a cell that defines `work`, call it, and return its value."""
    client = StudentClient(connection, LIMITS, {})
    assert client.run(source, ["work"], given=False)["error"] is None
    return client.call("work", (), {})


WRITES = """
import os, tempfile
def work():
    seen = sorted(name for name in os.listdir(".") if not name.startswith(".ipython"))
    open("left.txt", "w").write("mine")
    return [os.getcwd(), seen, os.environ["HOME"], tempfile.gettempdir()]
"""


def test_each_submission_has_a_folder_of_its_own(starter, tmp_path):
    """What one submission writes, in its current folder, the next does not see; afterwards it is gone."""
    found = []
    for _ in range(2):
        connection = starter.start(LIMITS)
        found.append(run(connection, WRITES))
        connection.close()

    assert found[0][0] != found[1][0]
    assert [one[1] for one in found] == [[], []]
    for folder, _, home, temporary in found:
        assert (home, temporary) == (folder, folder)
        assert os.path.dirname(folder) == str(tmp_path)
        assert not os.path.exists(folder)


DETACHED = """
import os, time
def work():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        for _ in range(NUMBER):
            if os.fork() == 0:
                kept = bytearray(b"x") * SIZE
                os.write(writing, f"{os.getpid()} ".encode())
                time.sleep(1000)
        os._exit(0)
    os.wait()
    found = b""
    while found.count(b" ") < NUMBER:
        found += os.read(reading, 20)
    time.sleep(WAIT)
    return int(found.split()[0])
"""


def ends(process):
    """Return whether a process that was killed ends; nobody may be there to collect it."""
    for _ in range(1000):
        try:
            if psutil.Process(process).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return True
        except psutil.NoSuchProcess:
            return True
    return False


def test_processes_that_left_the_tree_end_with_it(starter):
    """A process that left its parent and its session is found by its mark, and ended."""
    connection = starter.start(LIMITS)
    detached = run(connection, f"NUMBER, SIZE, WAIT = 1, 2**20, 0\n{DETACHED}")
    assert detached in read_marked_usage(connection.process, connection.mark).processes
    connection.close()

    assert ends(detached)


def test_memory_of_processes_that_left_counts(starter):
    """Memory that a detached process holds is the submission's."""
    connection = starter.start(LIMITS)
    try:
        with pytest.raises(StudentGone) as stopped:
            run(connection, f"NUMBER, SIZE, WAIT = 2, 100 * 2**20, 50\n{DETACHED}")
    finally:
        connection.close()

    assert stopped.value.ending is Ending.MEMORY


def test_loaded_libraries_do_not_count(starter):
    """An idle submission is within a limit far below what its interpreter takes with its libraries."""
    connection = starter.start(replace(LIMITS, memory_bytes=20 * 2**20))
    assert connection.baseline_bytes > 20 * 2**20
    assert run(connection, "import time\ndef work():\n    time.sleep(0.6)\n    return 7") == 7
    connection.close()


def test_all_files_together_are_limited(starter):
    """Several files count together against the limit of a folder."""
    source = """
import time
def work():
    for n in range(4):
        with open(f"{n}.bin", "wb") as file:
            file.write(bytes(900_000))
    time.sleep(50)
"""
    connection = starter.start(LIMITS)
    with pytest.raises(StudentGone) as stopped:
        run(connection, source)
    connection.close()

    assert stopped.value.ending is Ending.OUTPUT


def test_unlimited_descriptors_can_be_closed():
    """A soft limit of "unlimited" closes what is open, on every system."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 200)
        resource.getrlimit = lambda kind: (2**63 - 1, 2**63 - 1)
        try:
            close_others({0, 1, 2})
            os.fstat(200)
        except OSError as error:
            os._exit(0 if error.errno == 9 else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
