"""What is measured beside student code: imports change nothing, forgery is found with evidence, odd things named."""

import pytest
from support import measured_ways, small_exercise
from support.sandbox_here import needs_sandbox
from support.small_exercise import code_cell

import course_utils
from course_utils.grading.checking.engine import Grader
from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import SubmissionResult
from course_utils.sandbox.limits import Limits

SETUP = """
import torch
from course_utils import Task, in_student_process
from course_utils.emulation import mps_or_emulated
"""
TOOLS = """
@in_student_process
def waits(steps):
    with mps_or_emulated() as mps:
        x = torch.ones(3, device=mps.device)
        mps.clear_ledger()
        total(x, steps)
        return len(mps.ledger().waits)
"""
CHECK = """
task = Task("sum", points=4)
task.check("one wait", yours=lambda: waits(3), expected=1)
### BEGIN HIDDEN TESTS
task.check("one wait for more", yours=lambda: waits(5), expected=1)
### END HIDDEN TESTS
task.score()
"""
RIGHT = "def total(x, steps):\n    for _ in range(steps):\n        x = x + 1\n    return x.sum().item()"
NAIVE = "def total(x, steps):\n    for _ in range(steps):\n        x = x + x.sum().item()\n    "
pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grader():
    """Start one grader for an exercise whose only task is measured inside."""
    cells = (
        code_cell("setup", SETUP),
        code_cell("total", RIGHT, solution=True),
        code_cell("tools", TOOLS, locked=True),
        code_cell("total-check", CHECK, grade=True, points=4),
    )
    with Grader(small_exercise.assignment(list(cells)), Limits(task_s=60)) as started:
        yield started


def grade(grader, code):
    """Grade one way to write the task."""
    (task,) = grader.grade(Submission("ada", {"total": code})).tasks
    return task


PUBLIC = sorted(name for name in course_utils.__all__ if name.islower())
IMPORTS = [
    *(f"from course_utils import {', '.join(PUBLIC[n : n + 6])}" for n in range(0, len(PUBLIC), 6)),
    f"from course_utils import {', '.join(reversed(PUBLIC))}",
    "import matplotlib.pyplot as plt, numpy as np, torchvision",
    "import time, gc, inspect, copy, functools, pickle, asyncio, unittest.mock, doctest, pdb",
    "import torch.fx, torch.func, torch.utils.benchmark, torch.profiler, torch._dynamo",
]


@pytest.mark.parametrize("line", IMPORTS)
def test_imports_change_nothing(grader, line):
    """Whatever is imported, in any order, the points are full and nothing is said."""
    task = grade(grader, f"{line}\n{RIGHT}")

    assert (task.points, str(task.reason), task.message, task.look_at) == (4, "ok", "", "")


LOOKS = {
    "the frame above": NAIVE + "import sys\n    sys._getframe(1).f_locals['mps'].clear_ledger()\n    x.sum().item()",
    "the frame of an error": NAIVE
    + "try: 1 / 0\n    except ZeroDivisionError as error:\n"
    + "        error.__traceback__.tb_frame.f_back.f_locals['mps'].clear_ledger()\n    x.sum().item()",
    "through inspect": NAIVE
    + "import inspect\n    inspect.currentframe().f_back.f_locals['mps'].clear_ledger()\n    x.sum().item()",
    "through logging": NAIVE
    + "import logging\n    logging.currentframe().f_back.f_locals['mps'].clear_ledger()\n    x.sum().item()",
    "through traceback": NAIVE
    + "import traceback\n    frames = [frame for frame, _ in traceback.walk_stack(None)]\n"
    + "    frames[-1].f_locals['mps'].clear_ledger()\n    x.sum().item()",
    "the collector": NAIVE
    + "import gc\n    [o.clear_ledger() for o in gc.get_objects() if hasattr(type(o), 'clear_ledger')]\n    return 0",
}


@pytest.mark.parametrize("what", LOOKS)
def test_looking_for_what_measures_earns_nothing_and_is_named(grader, what):
    """Code that looks for what measures it does not reach it, and is named for a person to look at."""
    task = grade(grader, LOOKS[what])

    assert task.points == 0
    assert "looked at" in task.look_at, task


@pytest.mark.parametrize("what", measured_ways.FORGERIES)
def test_a_forged_count_earns_nothing_or_is_named(grader, what):
    """Whatever way code finds to the count, it earns nothing, or a person is asked to look."""
    task = grade(grader, measured_ways.FORGERIES[what])

    assert task.points == 0 or task.look_at, task


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=[pytest.mark.slow] * (way in measured_ways.SLOW)) for way in measured_ways.HONEST]
)
def test_honest_ways_earn_all_and_nobody_is_asked_to_look(grader, way):
    """However a student writes it, the points are full, and nothing is said."""
    task = grade(grader, measured_ways.HONEST[way])

    assert (task.points, str(task.reason), task.message, task.look_at) == (4, "ok", "", "")


def test_a_second_witness_is_named(grader):
    """What the device counted and what a witness beside it saw both stand in the result, and on the page."""
    task = grade(grader, RIGHT)
    page = feedback_page(SubmissionResult("90", "ada", (task,), task.reason)).decode()

    assert "the device counted 2 reads" in task.witness
    assert task.witness.endswith("saw 2")
    assert task.witness in page
    assert grade(grader, NAIVE + "return x.sum().item()").witness != task.witness


def test_names_of_the_notebook_do_not_reach_a_helper(grader):
    """A helper has Python's own `len` and the names that the exercise gave, whatever the notebook calls so."""
    rebound = "def len(thing):\n    return 1\ndef mps_or_emulated():\n    raise SystemExit\n"
    task = grade(grader, rebound + NAIVE + "return x.sum().item()")

    assert (task.points, [check.yours for check in task.checks]) == (0, ["4", "6"])


SUBCLASS = """
import torch
class Same(torch.Tensor):
    pass
def total(x, steps):
    return [(x + steps).sum().as_subclass(Same)]
"""


def test_a_tensor_of_a_class_of_its_own_is_refused(grader):
    """What comes back to a helper is a plain tensor: a subclass could answer for it."""
    task = grade(grader, SUBCLASS)

    assert task.points == 0
    assert "not a plain tensor" in task.checks[0].yours


def test_a_method_replaced_is_evidence(grader):
    """What was there, and what is there now, are both named."""
    patch = "from course_utils.emulation.ledger import Ledger\nLedger.waits_of = lambda self, name: [1]\n"
    task = grade(grader, patch + RIGHT)

    assert (task.points, str(task.reason)) == (0, "tampered")
    assert "Ledger.waits_of was Ledger.waits_of of emulation/ledger.py" in task.message
    assert "<lambda>" in task.message


CLOSING = """
import os, stat
for n in range(3, 40):
    try:
        if stat.S_ISFIFO(os.fstat(n).st_mode):
            os.close(n)
    except OSError:
        pass
"""


def test_a_closed_report_is_named(grader):
    """Closing what would report is named, and the points stay."""
    task = grade(grader, CLOSING + RIGHT)

    assert (task.points, str(task.reason)) == (4, "ok")
    assert "closed" in task.look_at


def test_many_looks_stop_nothing(grader):
    """Code that looks at a hundred thousand objects is named, and goes on."""
    look = "import gc\nfor n in range(100_000):\n    gc.get_referents([n])\n"
    task = grade(grader, look + RIGHT)

    assert (task.points, str(task.reason)) == (4, "ok")
    assert "gc.get_referents" in task.look_at
