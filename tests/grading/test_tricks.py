"""Tricks with values and processes: what cannot be compared fails its own check, and no hidden input reaches a page."""

import pytest
from support import small_exercise
from support.sandbox_here import needs_sandbox
from support.small_exercise import code_cell

from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.submission import Submission
from course_utils.sandbox.limits import Limits

pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grader():
    """Start one grader for all."""
    with Grader(small_exercise.assignment(), Limits(task_s=60)) as started:
        yield started


KEEPING = {
    "ex90-task1": "kept = []\ndef add(a, b):\n    kept.append((a, b))\n    return a + b",
    "ex90-task2": "def square(x):\n    print('kept:', kept)\n    return x * x",
    "ex90-task3": "def longest(words):\n    return f'{kept}'",
    "ex90-task4": "raise ValueError(str(kept))",
}


def test_a_kept_hidden_input_is_on_no_page(grader):
    """Code that keeps a hidden input and shows it later, printed, returned or raised, has lost it by then."""
    result = grader.grade(small_exercise.submission(KEEPING))
    shown = [
        text
        for task in result.tasks
        for text in (task.printed, task.message, *(check.yours for check in task.checks if not check.hidden))
    ]

    assert [task.points for task in result.tasks] == [2, 2, 0, 0, 2]
    assert "kept: []" in result.tasks[1].printed
    assert not any("-4" in text for text in shown), shown


def test_a_forked_copy_answers_nothing(grader):
    """A process that the code forks and that returns from it has no answer to give; the first one's counts."""
    result = grader.grade(
        small_exercise.submission({"ex90-task1": "import os\ndef add(a, b):\n    os.fork()\n    return a + b"})
    )

    assert [task.points for task in result.tasks] == [2] * 5
    assert str(result.reason) == "ok"


ODD_ANSWERS = {
    "a large int": "return 10 ** 400",
    "an int without a text": "return 10 ** 5000",
    "a tensor without numbers": "import torch; return torch.empty((), device='meta')",
    "an object whose text raises": "return type('T', (), {'__repr__': lambda self: 1 / 0})()",
    "keys of one hash": "return {n * (2 ** 61 - 1) for n in range(3_000)}",
}


@pytest.mark.parametrize("what", ODD_ANSWERS)
def test_what_cannot_be_compared_fails_its_own_check(grader, what):
    """An answer at which comparing or reading would raise loses its own checks, and nothing else."""
    body = ODD_ANSWERS[what]
    source = f"def add(a, b):\n    if a == 1:\n        {body}\n    return a + b"
    result = grader.grade(small_exercise.submission({"ex90-task1": source}))

    assert [task.points for task in result.tasks] == [1, 2, 2, 2, 2], result.tasks[0]
    # an answer that is not looked at to its end is an error, too
    assert str(result.tasks[0].reason) == ("raised" if what == "keys of one hash" else "wrong")


FIRST_TASK = {
    "another class in __class__": (
        "class Three:\n    __class__ = int\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def add(a, b):\n    return Three()",
        0,
    ),
    "a number with a conversion of its own": (
        "class N(int):\n    def __int__(self): return 3\n    __index__ = __float__ = __int__\n"
        "    def __sub__(self, other): return 0\n    __rsub__ = __sub__\ndef add(a, b):\n    return N(0)",
        0,
    ),
    "infinity": ("def add(a, b):\n    return float('inf')", 0),
    "an exception that nobody catches": (
        "class Way(BaseException): pass\ndef add(a, b):\n    raise Way('3')",
        0,
    ),
    "a text of 40 million letters in an error": ("def add(a, b):\n    raise ValueError('3' * 40_000_000)", 0),
    "frames sent twice": (
        "import course_utils.sandbox.frames as f\nkept = f.Frame.to_bytes\n"
        "f.Frame.to_bytes = lambda self: kept(self) * 2\ndef add(a, b):\n    return 3",
        0,
    ),
    "no builtins": ("import builtins\ndef add(a, b):\n    del builtins.len, builtins.isinstance\n    return 3", 0),
    "a recursion limit of nothing": ("import sys\ndef add(a, b):\n    sys.setrecursionlimit(70)\n    return 3", 1),
    "standard output closed": ("import sys\nsys.stdout.close()\ndef add(a, b):\n    return a + b", 2),
    "a process that stops itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\ndef add(a, b):\n    return a + b",
        2,  # it is the first of its own process list, and such a one cannot be stopped from inside
    ),
    "a finalizer": (
        "class Last:\n    def __del__(self):\n        import os; os._exit(0)\ndef add(a, b):\n    Last()\n    return 3",
        0,
    ),
}


@pytest.mark.parametrize("what", FIRST_TASK)
def test_a_trick_costs_nobody_but_itself(grader, what):
    """A trick earns at most what its answers are worth, and the grader has a result for every task."""
    source, most = FIRST_TASK[what]
    result = grader.grade(small_exercise.submission({"ex90-task1": source}))

    assert result.tasks[0].points <= most, result.tasks[0]
    assert len(result.tasks) == 5
    assert str(result.reason) != "sandbox"
    again = grader.grade(small_exercise.submission())
    assert [task.points for task in again.tasks] == [2] * 5


def test_a_score_that_is_not_a_number_gives_nothing():
    """A check cell whose last value is nan gives no points."""
    cells = (
        code_cell("one", "def one():\n    return 1", solution=True),
        code_cell("one-check", "score = one() * float('nan')\nscore", grade=True, points=3),
    )
    with Grader(small_exercise.assignment(list(cells)), Limits(task_s=60)) as grader:
        assert grader.grade(Submission("ada", {"one": "def one():\n    return 1"})).points == 0


KINDS = """
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum
import numpy as np
class Two(IntEnum):
    TWO = 2
def answer(kind):
    Pair = namedtuple("Pair", "a b")
    found = defaultdict(int)
    found["a"] += 1
    return {
        "ordered": OrderedDict(a=1), "default": found, "counter": Counter("a"), "named": Pair(1, Two.TWO),
        "enum": Two.TWO, "int64": np.int64(2), "float32": np.float32(2), "bool": np.bool_(True), "text": np.str_("a"),
    }[kind]
"""
MEANT = {"ordered": {"a": 1}, "default": {"a": 1}, "counter": {"a": 1}, "named": (1, 2)}
MEANT |= {"enum": 2, "int64": 2, "float32": 2.0, "bool": True, "text": "a"}


def test_what_means_the_same_is_accepted_from_afar():
    """Answers of kinds that mean a plain value count as `course check` counts them."""
    lines = ['task = Task("kinds", points=9)']
    lines += [
        f"task.check({kind!r}, yours=lambda: answer({kind!r}), expected={meant!r})" for kind, meant in MEANT.items()
    ]
    cells = (
        code_cell("setup", "from course_utils import Task"),
        code_cell("kinds", KINDS, solution=True),
        code_cell("kinds-check", "\n".join([*lines, "task.score()"]), grade=True, points=9),
    )
    with Grader(small_exercise.assignment(list(cells)), Limits(task_s=60)) as grader:
        (task,) = grader.grade(Submission("ada", {"kinds": KINDS})).tasks

    assert {check.title: (check.passed, check.yours) for check in task.checks} == dict.fromkeys(MEANT, (True, ""))
