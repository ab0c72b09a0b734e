"""Hostile and broken submissions: the points deserved, the right reason, neighbours graded, nothing left behind."""

import os
import signal
import textwrap
from dataclasses import replace

import pytest
from support import small_exercise
from support.paths import ROOT
from support.sandbox_here import needs_sandbox

from course_utils.grading.checking.engine import Grader
from course_utils.grading.checking.session import Session
from course_utils.sandbox.connection import StudentGone, explain_end
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage

# so much time that a task ends by what it does, however busy the machine is, and not by the clock
LIMITS = Limits(
    task_s=120,
    submission_s=240,
    memory_bytes=300 * 1024**2,
    output_bytes=100_000,
    kept_output_bytes=5_000,
    value_bytes=4 * 1024**2,
    text_bytes=1024**2,
    file_bytes=2 * 1024**2,
    processes=16,
)
HURRIED = replace(LIMITS, task_s=3, submission_s=30)
MINIMUM = "def add(a, b):\n    return a + b\n"

pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grader():
    """Start one grader for all; what one submission leaves behind would meet the next."""
    with Grader(small_exercise.assignment(), LIMITS) as started:
        yield started


@pytest.fixture
def hurried(grader, monkeypatch):
    """Give a task three seconds, for what does not end by itself."""
    monkeypatch.setattr(grader, "limits", HURRIED)
    return grader


@pytest.fixture
def patient(grader, monkeypatch):
    """Give more memory to attacks that walk over all files or a million objects."""
    monkeypatch.setattr(grader, "limits", replace(LIMITS, memory_bytes=2 * 1024**3))
    return grader


def grade(grader, **changes):
    """Grade a right submission in which some tasks are changed: task1="..."; None removes a cell."""
    code = {f"ex90-{task}": source and textwrap.dedent(source) for task, source in changes.items()}
    return grader.grade(small_exercise.submission(code))


def points(result):
    """Return the points of each task."""
    return [task.points for task in result.tasks]


# what is attacked -> (the first task's cell, its points, its reason); the other four tasks are right
FIRST_TASK = {
    "not written": ("def add(a, b):\n    raise NotImplementedError('task 90.1: write add')", 0, "wrong"),
    "empty cell": ("", 0, "raised"),
    "syntax error": ("def add(a, b:", 0, "raised"),
    "half right": ("def add(a, b):\n    return 3", 1, "wrong"),
    "sys.exit in the function": ("import sys\ndef add(a, b):\n    sys.exit(0)", 0, "raised"),
    "sys.exit in the cell": (MINIMUM + "import sys\nsys.exit(0)", 2, "ok"),
    "exit()": ("def add(a, b):\n    exit()", 0, "raised"),
    "raise SystemExit": ("raise SystemExit", 0, "raised"),
    "os._exit in the cell": ("import os\nos._exit(0)", 0, "crashed"),
    "os._exit in the function": ("import os\ndef add(a, b):\n    os._exit(0)", 0, "crashed"),
    "segmentation fault": ("import ctypes\ndef add(a, b):\n    ctypes.string_at(0)", 0, "crashed"),
    "abort": ("import os\ndef add(a, b):\n    os.abort()", 0, "crashed"),
    "endless loop": ("def add(a, b):\n    while True:\n        pass", 0, "timeout"),
    "endless loop in the cell": ("while True:\n    pass", 0, "timeout"),
    "loop that catches everything": (
        """
        import signal, time
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        def add(a, b):
            while True:
                try:
                    while True:
                        time.sleep(1)
                except BaseException:
                    pass
        """,
        0,
        "timeout",
    ),
    "long C call": ("def add(a, b):\n    return len(str(3 ** 10 ** 9))", 0, "timeout"),
    "input()": ("def add(a, b):\n    return int(input())", 0, "raised"),
    "the running check, read from the history": (
        """
        import re
        def add(a, b):
            names = get_ipython().user_ns
            text = " ".join(map(str, [names.get("_ih"), names.get("In"), names.get("_i"), globals()]))
            return int(re.search(r"expected=(\\d+)", text).group(1))
        """,
        0,
        "raised",
    ),
    "endless printing": ("def add(a, b):\n    while True:\n        print('x' * 1000)", 0, "output"),
    "one line of 100 MB": ("def add(a, b):\n    print('x' * 10 ** 8)\n    return a + b", 0, "output"),
    "flood from a thread": (
        """
        import threading, time
        def flood():
            while True:
                print('x' * 10000)
        threading.Thread(target=flood, daemon=True).start()
        def add(a, b):
            time.sleep(60)
        """,
        0,
        "output",
    ),
    "2 GB of memory": ("def add(a, b):\n    return len(bytearray(2 * 10 ** 9))", 0, "memory"),
    "memory in small pieces": (
        "def add(a, b):\n    kept = []\n    while True:\n        kept.append(bytearray(10 ** 6))",
        0,
        "memory",
    ),
    "shared memory": (
        """
        import mmap
        def add(a, b):
            kept = []
            while True:
                kept.append(mmap.mmap(-1, 10 ** 7))
                kept[-1].write(b"x" * 10 ** 7)
        """,
        0,
        "memory",
    ),
    "shared memory in children": (
        """
        import mmap, os, time
        def add(a, b):
            for _ in range(8):
                if os.fork() == 0:
                    kept = mmap.mmap(-1, 10 ** 8)
                    kept.write(b"x" * 10 ** 8)
                    time.sleep(100)
            time.sleep(100)
        """,
        0,
        "memory",
    ),
    "a list as long as a file": ("def add(a, b):\n    return [0] * 10 ** 6", 0, "output"),
    "memory in children": (
        """
        import os, time
        def add(a, b):
            for _ in range(6):
                if os.fork() == 0:
                    kept = bytearray(os.urandom(1) * 150_000_000)
                    time.sleep(100)
            time.sleep(100)
        """,
        0,
        "memory",
    ),
    "huge value": ("def add(a, b):\n    return 'x' * 10 ** 7", 0, "output"),
    "deep value": (
        "def add(a, b):\n    nest = []\n    for _ in range(100_000):\n        nest = [nest]\n    return nest",
        0,
        "raised",
    ),
    "value that contains itself": ("def add(a, b):\n    x = []\n    x.append(x)\n    return x", 0, "raised"),
    "fork bomb": ("import os\ndef add(a, b):\n    while True:\n        os.fork()", 0, "crashed"),
    "equal to everything": (
        """
        class Same:
            def __eq__(self, other): return True
            def __hash__(self): return 3
            def __float__(self): return 3.0
        def add(a, b):
            return Same()
        """,
        0,
        "wrong",
    ),
    "a number that is equal to everything": (
        """
        class Same(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        def add(a, b):
            return Same(12345)
        """,
        0,
        "wrong",
    ),
    "transformers that drop cells": (
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])\ndef add(a, b):\n    return 0",
        0,
        "wrong",
    ),
    "a patched comparison": (
        """
        import builtins, math
        import course_utils.exercises.task as checks
        math.isclose = lambda *a, **k: True
        builtins.abs = lambda x: 0
        builtins.all = lambda x: True
        checks.find_difference = lambda *a, **k: None
        checks.Task.check = lambda self, *a, **k: None
        checks.Task.score = lambda self: 2
        def add(a, b):
            return 0
        """,
        0,
        "wrong",
    ),
    "printed points": ("def add(a, b):\n    print('2.0')\n    print('Task 90.1: 2 of 2 checks passed')", 0, "wrong"),
    "patched traceback": (
        "get_ipython().showtraceback = lambda *a, **k: None\ndef add(a, b):\n    raise ValueError",
        0,
        "raised",
    ),
    "answers written into the line": (
        """
        import os, json, struct
        def add(a, b):
            text = json.dumps({"result": 3, "blobs": []}).encode()
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, struct.pack(">II", len(text), 0) + text)
                except OSError:
                    pass
            return 0
        """,
        0,
        "tampered",
    ),
    "noise written into the line": (
        """
        import os
        def add(a, b):
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b"\\x00\\x00\\x00\\x04\\x00\\x00\\x00\\x00spam")
                except OSError:
                    pass
        """,
        0,
        "tampered",
    ),
    "a frame of 4 GB announced": (
        """
        import os
        def add(a, b):
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b"\\xff" * 8)
                except OSError:
                    pass
        """,
        0,
        "output",
    ),
    "the line closed, the process alive": (
        "import os, time\ndef add(a, b):\n    os.closerange(3, 64)\n    time.sleep(1000)",
        0,
        "crashed",
    ),
    "callbacks that are not there": (
        """
        import os, json, struct
        def add(a, b):
            text = json.dumps({"callback": -1, "arguments": [], "named": {"dict": []}, "blobs": []}).encode()
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, struct.pack(">II", len(text), 0) + text)
                except OSError:
                    pass
            return a + b
        """,
        0,
        "tampered",
    ),
    "recursion": ("def add(a, b):\n    return add(a, b)", 0, "raised"),
    "an exception that cannot be shown": (
        """
        class Odd(Exception):
            def __str__(self): raise RuntimeError
            __repr__ = __str__
        def add(a, b):
            raise Odd
        """,
        0,
        "raised",
    ),
    "a warning": ("import warnings\ndef add(a, b):\n    warnings.warn('old')\n    return a + b", 2, "ok"),
    "text on stderr": ("import sys\ndef add(a, b):\n    print('hm', file=sys.stderr)\n    return a + b", 2, "ok"),
    "magic commands": ("%precision 3\n!echo hi\n" + MINIMUM + "%time add(1, 2)", 2, "ok"),
    "a cell that is not there": (None, 0, "missing"),
}


def assert_gets_what_it_deserves(grader, attack):
    """Grade an attack: it gets what it deserves, and the four right tasks below keep their points."""
    source, deserved, reason = FIRST_TASK[attack]

    result = grade(grader, task1=source)

    assert points(result)[1:] == [2, 2, 2, 2], result
    assert (result.tasks[0].points, str(result.tasks[0].reason)) == (deserved, reason), result.tasks[0]
    assert len(result.tasks[0].printed) < 6_000


@pytest.mark.parametrize("attack", [name for name, (_, _, reason) in FIRST_TASK.items() if reason != "timeout"])
def test_attack_on_the_first_task(grader, attack):
    """A hostile or broken first task reaches its own limit, or none, whatever else the machine does."""
    assert_gets_what_it_deserves(grader, attack)


@pytest.mark.parametrize("attack", [name for name, (_, _, reason) in FIRST_TASK.items() if reason == "timeout"])
def test_attack_on_the_clock(hurried, attack):
    """A first task that does not end is ended."""
    assert_gets_what_it_deserves(hurried, attack)


@pytest.mark.parametrize(("ending", "faults", "lost"), [("SIGSEGV", 1, 0), ("SIGSEGV", 2, 2), ("SIGKILL", 1, 2)])
def test_a_fault_that_does_not_come_again_costs_nothing(grader, monkeypatch, ending, faults, lost):
    """What a signal of a fault ended is run once more: compiled code of a library may fail on a busy machine."""
    begun = []

    def begin_task(session, check):
        begin(session, check)
        if check.grade_id == "ex90-task1-check":
            begun.append(check)
            if len(begun) <= faults:
                raise StudentGone(*explain_end(getattr(signal, ending)))

    begin = Session.begin_task
    monkeypatch.setattr(Session, "begin_task", begin_task)
    result = grade(grader)

    assert points(result) == [2 - lost, 2, 2, 2, 2]
    assert str(result.tasks[0].reason) == ("crashed" if lost else "ok")


def test_right_submission_gets_full_points(grader):
    """The model solution earns every point, before and after all attacks."""
    result = grade(grader)

    assert (result.points, str(result.reason)) == (small_exercise.FULL, "ok")


def test_an_error_without_form(grader):
    """An answer that is made to look like an error, and is none, is noticed and stops nobody."""
    result = grade(
        grader,
        task1="""
        import gc
        from course_utils.sandbox.student import Student
        student = next(thing for thing in gc.get_objects() if type(thing) is Student)
        student.run_cell = lambda question: {"names": {}, "error": 7}
        """,
    )

    assert str(result.tasks[0].reason) in ("wrong", "raised", "tampered"), result
    assert str(result.reason) != "sandbox"


def test_what_hidden_checks_make_it_print_is_not_shown(grader):
    """The output of visible checks is in the result, that of hidden ones, which has their inputs, is not."""
    source = "def shout(text):\n    print('given', text)\n    print('and', text, end='')\n    return text.upper()"
    printed = grade(grader, task5=source).tasks[-1].printed

    assert "given hey" in printed
    assert "Quiet" not in printed


def test_calling_back_without_end(hurried):
    """A function that calls the check's function again and again runs out of time like any other loop."""
    result = grade(hurried, task4="def count(fails):\n    while True:\n        fails(1)")

    assert [str(task.reason) for task in result.tasks] == ["ok", "ok", "ok", "timeout", "ok"]
    assert result.seconds < HURRIED.submission_s


def test_input_is_refused_at_once(grader):
    """A function that asks for input fails at once, with a sentence that says so."""
    result = grade(grader, task1="def add(a, b):\n    return int(input('a?'))")

    assert "input() has nothing to read" in result.tasks[0].checks[0].yours
    assert result.seconds < LIMITS.task_s


def test_death_in_the_last_task_keeps_the_points_before(grader):
    """A process that dies in the last task loses that task alone."""
    result = grade(grader, task5="import os\ndef shout(text):\n    os._exit(0)")

    assert points(result) == [2, 2, 2, 2, 0]
    assert result.tasks[-1].message == "your code ended its own process (exit status 0)"


def test_death_in_the_middle_keeps_both_sides(hurried):
    """Tasks after a death are graded in a new process, with the cells above run again."""
    result = grade(hurried, task3="def longest(words):\n    while True:\n        pass")

    assert points(result) == [2, 2, 0, 2, 2]


def test_several_deaths(grader):
    """Each task that dies loses itself alone, however many there are."""
    death = "import os\n{}\n    os._exit(1)"
    result = grade(grader, task1=death.format("def add(a, b):"), task4=death.format("def count(fails):"))

    assert points(result) == [0, 2, 2, 0, 2]


def test_all_time_used_up(grader, monkeypatch):
    """When the time of a submission is over, the tasks that are left say so."""
    monkeypatch.setattr(grader, "limits", replace(LIMITS, task_s=60, submission_s=1))
    result = grade(grader, task1="def add(a, b):\n    while True:\n        pass")

    assert points(result) == [0] * 5
    assert "all tasks together" in result.tasks[-1].message


def run_inside(grader, source):
    """Run code in a student's process; return what its `find()` gives, as text."""
    # the first task: no hidden check has run before it, so it runs once
    call = "found = []\ndef add(a, b):\n    found[:] = found or [repr(find())[:3000]]\n    return found[0]"
    code = f"{textwrap.dedent(source)}\n{call}"
    result = grade(grader, task1=code)
    assert points(result)[1:] == [2, 2, 2, 2]
    assert result.tasks[0].checks, result.tasks[0].message
    # a number is expected, so the check adds the answer's type
    return result.tasks[0].checks[0].yours.removesuffix(", of type str")


def test_no_network(grader):
    """Student code reaches no address, not even this machine's."""
    found = run_inside(
        grader,
        """
        import socket
        def find():
            try:
                with socket.create_connection(("127.0.0.1", 22), timeout=1): return "connected"
            except OSError as error:
                try: return sorted(name for _, name in socket.if_nameindex())
                except PermissionError: return "not even the names of networks"
        """,
    )

    assert "connected" not in found
    assert "['lo']" in found or "not even the names" in found


def test_no_secret_in_the_environment(grader, monkeypatch):
    """No variable of the instructor's environment is there."""
    assert "PATH" in os.environ
    found = run_inside(grader, "import os\ndef find():\n    return sorted(os.environ)")

    allowed = {"HOME", "IPYTHONDIR", "LANG", "LC_CTYPE", "MPLBACKEND", "MPLCONFIGDIR", "OMP_NUM_THREADS", "PATH"}
    allowed |= {"PWD", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"}
    assert set(eval(eval(found))) <= allowed


def test_no_file_of_the_course_is_there(patient):
    """Solutions, other submissions and the gradebook cannot be read, and nothing of the system can be written."""
    found = run_inside(
        patient,
        f"""
        import os
        def find():
            seen = []
            for path in ({str(ROOT / "solutions")!r}, {str(ROOT / "tests")!r}, {str(ROOT)!r}, "/root", "/home", "/etc"):
                for folder, _, files in os.walk(path):
                    seen += [os.path.join(folder, name) for name in files if "python" not in folder + name][:3]
            for path in ("/usr/evil", "/course/course_utils/evil.py", "/etc/evil", "/evil"):
                try:
                    open(path, "w"); seen.append("wrote " + path)
                except OSError: pass
            return [path for path in seen if ".pyenv" not in path and "/venv" not in path and "/.venv" not in path]
        """,
    )

    assert "solutions" not in found
    assert "test_" not in found
    assert "shadow" not in found
    assert "wrote" not in found


def test_nothing_is_left_for_the_next(grader):
    """Files, variables, patches and start-up scripts of one submission do not reach the next."""
    grade(
        grader,
        task1="""
        import os, builtins, pathlib, sys
        builtins.leftover = sys.leftover = 1
        places = [os.getcwd(), os.environ["HOME"], "/tmp", "/dev/shm", "/student", "/var/tmp"]
        for place in places:
            try:
                pathlib.Path(place, "leftover.txt").write_text("3")
                pathlib.Path(place, "torch.py").write_text("3")
                pathlib.Path(place, ".ipython/profile_default/startup").mkdir(parents=True)
                pathlib.Path(place, ".ipython/profile_default/startup/x.py").write_text("leftover = 1")
            except OSError:
                pass
        """,
    )
    found = run_inside(
        grader,
        """
        import os, builtins, sys, glob
        def find():
            places = [os.getcwd(), os.environ["HOME"], "/tmp", "/dev/shm", "/student", "/var/tmp"]
            return [hasattr(builtins, "leftover"), hasattr(sys, "leftover"), "leftover" in globals(),
                    [name for place in places for name in os.listdir(place) if os.path.isdir(place)] and "files"]
        """,
    )

    assert "True" not in found
    assert "leftover.txt" not in found


def test_no_process_is_left(grader):
    """Detached processes of a submission are gone when it is graded."""
    before = len(read_usage(os.getpid()).processes)
    result = grade(
        grader,
        task1="""
        import subprocess, sys, os
        for _ in range(5):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                import time; time.sleep(1000)
            os._exit(0)
        def add(a, b):
            return a + b
        """,
    )

    assert result.tasks[0].points == 2
    assert len(read_usage(os.getpid()).processes) == before


def test_killing_upwards_reaches_nobody(grader):
    """Signals to parents, to everybody and to low process numbers do not reach the grader."""
    result = grade(
        grader,
        task1="""
        import os, signal
        def add(a, b):
            for target in (os.getppid(), -1, 1, 2, 3, 0):
                try: os.kill(target, signal.SIGKILL)
                except OSError: pass
            return a + b
        """,
    )

    assert points(result)[1:] == [2, 2, 2, 2]
    assert str(result.tasks[0].reason) in ("ok", "crashed")


def test_no_capability_and_no_way_up(grader):
    """Student code has no capability, gains none by starting programs, and cannot make namespaces to get some."""
    found = run_inside(
        grader,
        """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        def find():
            header = (ctypes.c_uint32 * 2)(0x20080522, 0); data = (ctypes.c_uint32 * 6)()
            libc.capget(header, data)
            return (list(data), libc.prctl(39, 0, 0, 0, 0), libc.mount(b"none", b"/student", b"tmpfs", 0, None),
                    libc.unshare(0x20000), libc.unshare(0x10000000), libc.setns(0, 0), os.getuid() == 0)
        """,
    )

    assert found == repr("([0, 0, 0, 0, 0, 0], 1, -1, -1, -1, -1, False)")


def test_disk_cannot_be_filled(grader):
    """What a submission writes is bounded, and in memory only."""
    found = run_inside(
        grader,
        """
        import os
        def find():
            written = 0
            try:
                for n in range(50):
                    with open(f"/student/{n}", "wb") as file:
                        written += file.write(b"x" * 10 ** 6)
            except OSError as error:
                return written
            return "no end"
        """,
    )

    assert "no end" not in found
    assert int(eval(found)) <= LIMITS.file_bytes


def test_hidden_text_is_in_no_object_of_the_process(patient):
    """A submission that looks through all objects of its process finds no text of a hidden test, and no solution."""
    marks = [[mark[:5], mark[5:]] for mark in (small_exercise.HIDDEN_MARK, small_exercise.SOLUTION_MARK)]
    search = f"""
        import gc, sys, types
        wanted = ["".join(parts) for parts in {marks!r}]
        def find():
            hits, seen, waiting = [], set(), [*gc.get_objects(), sys.modules]
            while waiting:
                thing = waiting.pop()
                if id(thing) in seen or thing is waiting or thing is seen or thing is wanted: continue
                seen.add(id(thing))
                if isinstance(thing, str) and any(mark in thing for mark in wanted): hits.append(thing[:60])
                if isinstance(thing, (bytes, bytearray)) and any(mark.encode() in thing for mark in wanted):
                    hits.append(thing[:60])
                if isinstance(thing, (list, tuple, dict, set, types.FrameType, types.FunctionType, types.CodeType)):
                    waiting.extend(gc.get_referents(thing))
            return [hit for hit in hits if hit not in wanted]
        """
    found = run_inside(patient, search)

    assert found == repr("[]")
