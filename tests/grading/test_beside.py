"""What is said of threads after a call beside student code: nothing of the call's own thread, the truth of others."""

import sys
import threading

import pytest

from course_utils.grading.checking.beside import measure

STILL_RUNNING = "a thread of the measured code was still running when its result was counted"
CALLS = 3_000


@pytest.fixture
def hurried():
    """Let threads take turns as often as on a machine with far more to do than it has cores."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-7)
    yield
    sys.setswitchinterval(before)


def reports_of(student, helper):
    """Call a helper that calls a function of the student; return what is reported."""
    reports = []
    names = {"student": student, "__name__": "__main__"}
    exec(helper, names)
    given = {"helper": names["helper"]}
    measure(names["helper"], [student], {}, given=given, names=names, report=reports.append, tell_reads=lambda a, b: 0)
    return set(reports)


MANY = f"def helper(student):\n    for n in range({CALLS}):\n        student(n)\n"
ONCE = "def helper(student):\n    student(0)\n"


@pytest.mark.usefixtures("hurried")
def test_a_thread_that_has_told_its_value_is_not_running():
    """Between telling the value and its end the call's own thread may stand still for as long as the machine likes."""
    called = []

    assert STILL_RUNNING not in reports_of(called.append, MANY)
    assert len(called) == CALLS


def test_a_thread_that_the_code_left_behind_is_reported():
    """A thread of the student's that goes on after the call is named."""
    enough = threading.Event()
    left = threading.Thread(target=lambda: enough.wait(60))

    def student(_):
        left.start()

    try:
        assert STILL_RUNNING in reports_of(student, ONCE)
    finally:
        enough.set()
        left.join()
