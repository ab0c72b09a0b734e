"""The grader of one exercise: torch over the line, plain asserts, tampering found, hidden text nowhere."""

import os
import re
from pathlib import Path

import pytest
from support import small_exercise
from support.sandbox_here import needs_sandbox
from support.small_exercise import code_cell

from course_utils.grading.assignment import Kind, bound_names, modules_of, read_assignment
from course_utils.grading.checking import engine
from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import Reason, SubmissionResult, TaskResult, read_result, weightiest
from course_utils.sandbox.limits import Limits

MARK = "hidden-" + "wombat"
SETUP = """
import torch
from torch import nn

from course_utils import Task, in_student_process
from course_utils.emulation import mps_or_emulated
"""
TOOLS = """
class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


@in_student_process
def waits(function):
    with mps_or_emulated() as mps:
        function(torch.ones(3, device=mps.device))
        return len(mps.ledger().waits)


@in_student_process
def slope(x):
    leaf = x.clone().requires_grad_()
    total(leaf).backward()
    return leaf.grad
"""
CHECK = f"""
task = Task("sum", points=4)
task.check("value", yours=lambda: total(torch.ones(3)), expected=torch.tensor(3.0))
task.check("slope", yours=lambda: slope(torch.rand(2)), expected=torch.ones(2))
### BEGIN HIDDEN TESTS
task.check("{MARK}", yours=lambda: total(Doubled()(torch.ones(4)).t()), expected=torch.tensor(8.0))
task.check("no wait", yours=lambda: waits(total), expected=0)
### END HIDDEN TESTS
task.score()
"""
ASSERTS = """
assert twice(2) == 4
assert constant == 7
### BEGIN HIDDEN TESTS
assert twice(-1) == -2
### END HIDDEN TESTS
"""
PARTIAL = "points = 0.5 * (twice(1) == 2)\npoints"
RIGHT = {"total": "def total(x):\n    return x.sum()", "plain": "constant = 7\ndef twice(x):\n    return 2 * x"}


def exercise(*cells):
    """Return an exercise of these cells."""
    return small_exercise.assignment(list(cells))


def torch_exercise():
    """Return the exercise above."""
    return exercise(
        code_cell("setup", SETUP),
        code_cell("total", RIGHT["total"], solution=True),
        code_cell("tools", TOOLS, locked=True),
        code_cell("total-check", CHECK, grade=True, points=4),
        code_cell("plain", RIGHT["plain"], solution=True),
        code_cell("plain-check", ASSERTS, grade=True, points=2),
        code_cell("partial-check", PARTIAL, grade=True, points=1),
        code_cell("zero-check", "assert twice(1) == 2", grade=True, points=0),
    )


@pytest.fixture(scope="module")
def grader():
    """Start one grader for the exercise above."""
    with Grader(torch_exercise(), Limits(task_s=30)) as started:
        yield started


def grade(grader, **code):
    """Grade a right submission with other code in some cells."""
    return grader.grade(Submission("ada", RIGHT | code))


pytestmark = needs_sandbox


def test_model_solution_earns_everything(grader):
    """The model solution earns full points while the grader starts, and again as a submission; 0 of 0 is a pass."""
    assert (grader.model.points, grader.model.max_points) == (6.5, 7)
    result = grade(grader)

    assert [(task.points, str(task.reason)) for task in result.tasks] == [(4, "ok"), (2, "ok"), (0.5, "ok"), (0, "ok")]


def test_what_is_measured_inside_is_marked(grader):
    """Values that a marked helper measured beside the student's code are marked, others are not; hidden ones too."""
    checks = grade(grader).tasks[0].checks

    assert [check.measured_inside for check in checks] == [False, True, False, True]
    assert [check.hidden for check in checks] == [False, False, True, True]


def test_plain_asserts_give_all_or_nothing(grader):
    """Where an exercise uses plain asserts, one that fails costs the cell, and a hidden one is not shown."""
    visible = grade(grader, plain="constant = 8\ndef twice(x):\n    return 2 * x").tasks[1]
    hidden = grade(grader, plain="constant = 7\ndef twice(x):\n    return abs(2 * x)").tasks[1]

    assert (visible.points, visible.checks[0].title) == (0, "assert constant == 7")
    assert (hidden.points, hidden.checks[0].title, hidden.checks[0].hidden) == (0, "a hidden check", True)


def test_an_operator_that_waits_is_counted(grader):
    """A count on the emulated device reaches the checks."""
    checks = grade(grader, total="def total(x):\n    x.sum().item()\n    return x.sum()").tasks[0].checks

    assert not checks[3].passed
    assert checks[3].yours == "1"


def test_magic_commands_run_as_in_jupyterlab(grader):
    """A cell that switches inline figures on is no error where there is no front end."""
    assert grade(grader, plain="%matplotlib inline\n" + RIGHT["plain"]).tasks[1].points == 2


OBJECTS = """
assert Counter.kind == "plain"
assert shared.total == 1
counter = Counter(start=5)
counter.add(2)
counter.step = 10
counter.add()
assert counter.total == 17
assert counter.last[0] == 7
assert len(counter) == 2
assert counter[1] == 17
assert counter.twin().total == 0
assert describe(counter) == "17 of Counter"
assert counter != 17
try:
    counter.nothing
except AttributeError:
    pass
else:
    raise AssertionError("an attribute that is not there")
"""
COUNTER = """
class Counter:
    kind = "plain"
    def __init__(self, start=0):
        self.total, self.step, self.last = start, 1, []
    def add(self, n=None):
        self.total += self.step if n is None else n
        self.last.append(self.total)
    def twin(self):
        return Counter()
    def __len__(self):
        return len(self.last)
    def __getitem__(self, place):
        return self.last[place]
    def __eq__(self, other):
        return True
def describe(counter):
    return f"{counter.total} of {type(counter).__name__}"
shared = Counter(1)
"""


def test_objects_stay_in_the_students_process():
    """A check can use an object of the student's own class: attributes, calls, items, and as an argument again."""
    cells = (code_cell("c", COUNTER, solution=True), code_cell("c-check", OBJECTS, grade=True, points=3))
    with Grader(exercise(*cells), Limits()) as grader:
        right = grader.grade(Submission("ada", {"c": COUNTER}))
        wrong = grader.grade(Submission("bob", {"c": COUNTER.replace("self.total += ", "self.total = ")}))

    assert right.points == 3, right
    assert wrong.points == 0


TAMPERING = {
    "the ledger": "from course_utils.emulation.ledger import Ledger\nLedger.waits = property(lambda self: ())",
    "a given name, during the measuring": "import torch\ndef sneak():\n    global Doubled\n    Doubled = None",
    "a method of torch": "import torch\ntorch.Tensor.backward = lambda self: None",
    "code": "from course_utils.emulation.select_device import choose_device\n"
    "choose_device.__code__ = (lambda *, built, probe: None).__code__",
    "defaults": "import course_utils.emulation.select_device as s\n"
    "s.mps_or_emulated.__wrapped__.__kwdefaults__ = {'fallback': True}",
    "a builtin": "import builtins\nbuiltins.len = lambda x: 0",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_changed_measuring_is_found(grader, what):
    """Whoever changes what measures in the student's process gets no points for it, and keeps the other tasks'."""
    wait = "\ndef total(x):\n    x.sum().item()\n    globals().get('sneak', int)()\n    return x.sum()"
    result = grade(grader, total=TAMPERING[what] + wait)

    assert (result.tasks[0].points, str(result.tasks[0].reason)) == (0, "tampered"), result.tasks[0]
    assert [task.points for task in result.tasks[1:]] == [2, 0.5, 0]


def test_a_helper_bound_again_is_not_used(grader):
    """A student's function with the name of a marked helper does not take its place."""
    result = grade(grader, plain=RIGHT["plain"] + "\ndef waits(function):\n    return 0")

    assert result.tasks[0].points == 4


def memory_of(process):
    """Yield the readable memory of a process, piece by piece."""
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text(encoding="utf-8").splitlines():
            first, last, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()
            # files of the system and of Python hold no test; what is written does
            if rights.startswith("rw"):
                memory.seek(int(first, 16))
                try:
                    yield memory.read(int(last, 16) - int(first, 16))
                except OSError:
                    continue


def test_hidden_text_is_nowhere_in_the_memory(grader, monkeypatch):
    """After a task's checks the student's process holds no text of a hidden test and no expected value."""
    found, wanted = {}, (MARK.encode(), b"HIDDEN TESTS", b"def total")
    original = engine.run_task

    def look(part, session):
        result = original(part, session)
        if part.grade_id == "total-check":
            for region in memory_of(session._connection.process):
                for text in wanted:
                    found[text] = found.get(text, 0) + region.count(text)
        return result

    try:
        open(f"/proc/{os.getppid()}/mem", "rb").close()
    except OSError as error:
        pytest.skip(f"this user may not read another process's memory: {error}")
    monkeypatch.setattr("course_utils.grading.checking.driver.run_task", look)
    grade(grader)

    assert [found[text] for text in wanted[:2]] == [0, 0]
    assert found[wanted[2]] > 0  # the search does find what is there


OUT_OF_MEMORY_TEXT = "MPS backend out of memory: you tried to allocate 2 GiB"
ANSWERS = {
    "a text of torch's": (f"return {OUT_OF_MEMORY_TEXT!r}", "wrong", "", [2, 0.5, 0]),
    "an error with torch's text": (f"raise RuntimeError({OUT_OF_MEMORY_TEXT!r})", "raised", "an error", [2, 0.5, 0]),
    "the text of an untouched task": ("return 'not written yet (todo)'", "wrong", "", [2, 0.5, 0]),
    "an untouched task": ("raise NotImplementedError('todo')", "wrong", "not written yet", [2, 0.5, 0]),
    "Python's memory error": ("raise MemoryError", "memory", "more memory than it may", [2, 0.5, 0]),
    "torch's memory error": ("raise torch.OutOfMemoryError('x')", "memory", "more memory than it may", [2, 0.5, 0]),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_reasons_come_from_what_happened(grader, what):
    """The class of what was raised decides the reason, no text does; later tasks lose nothing."""
    body, reason, message, others = ANSWERS[what]
    result = grade(grader, total=f"def total(x):\n    {body}")

    assert str(result.tasks[0].reason) == reason
    assert message in result.tasks[0].message
    assert bool(message) == bool(result.tasks[0].message)
    assert [task.points for task in result.tasks[1:]] == others


def test_a_broken_exercise_is_seen_at_the_start():
    """An exercise whose model solution fails is seen before anyone is graded."""
    broken = exercise(
        code_cell("setup", "from course_utils import Task"),
        code_cell("one", "def one():\n    return 2", solution=True),
        code_cell("one-check", "assert one() == 1", grade=True, points=1),
    )
    with Grader(broken, Limits()) as grader:
        assert (grader.model.points, str(grader.model.reason)) == (0, "wrong")


def test_names_of_modules_to_load():
    """What the given cells import is loaded before a submission is there."""
    names = modules_of(torch_exercise())

    assert {"torch", "course_utils.in_student_process", "course_utils.emulation"} <= set(names)


def test_a_longer_name_is_loaded_too():
    """What is reached through an import, such as torch.optim, whose first step loads 900 modules, is loaded once."""
    cells = [
        code_cell("setup", "import torch\nfrom course_utils import Task"),
        code_cell("step", "def step(model):\n    torch.optim.SGD(model.parameters(), 0.1).step()", solution=True),
        code_cell("step-check", "1 + 1", grade=True, points=1),
    ]
    names = modules_of(small_exercise.assignment(cells))

    assert "torch.optim" in names
    assert "model" not in names


def test_assignment_parts():
    """Cells are told apart, hidden lines are known, and a task owns the cells since the last check."""
    assignment = torch_exercise()
    check = assignment.checks[0]

    assert [part.kind for part in assignment.parts[:4]] == [Kind.TOOLS, Kind.STUDENT, Kind.TOOLS, Kind.CHECK]
    assert check.hidden_lines == frozenset({5, 6, 7, 8})
    assert assignment.ids_for(check) == ("total",)
    assert assignment.ids_for(assignment.checks[1]) == ("plain",)
    assert bound_names(TOOLS) == {"Doubled", "waits", "slope"}
    assert bound_names("def (") == frozenset()


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"spam", "is not a notebook"), (b"{}", "not a notebook"), (b'{"cells": []}', "nothing to grade")],
)
def test_a_notebook_without_checks_is_refused(data, message):
    """What is no exercise is refused in one sentence."""
    with pytest.raises(ValueError, match=message):
        read_assignment(data, "x")


def test_a_template_of_a_check_is_refused():
    """A check that nbgrader would still have to write out checks nothing, and is not taken for one."""
    with pytest.raises(ValueError, match="AUTOTEST"):
        exercise(code_cell("one-check", "### AUTOTEST add(1, 2)", grade=True, points=1))


def test_repeated_ids_are_refused():
    """An exercise that has a grade id twice is refused, naming it."""
    with pytest.raises(ValueError, match="'one' twice"):
        exercise(code_cell("one", "", solution=True), code_cell("one", "", solution=True))


def test_the_digest_is_of_what_can_change_a_grade():
    """Another hidden test is another exercise; the same cells are the same one."""
    assert torch_exercise().digest == torch_exercise().digest
    other = exercise(code_cell("total-check", CHECK.replace("8.0", "9.0"), grade=True, points=4))
    same = exercise(code_cell("total-check", CHECK, grade=True, points=4))
    assert other.digest != same.digest


def test_results_travel_as_json(grader):
    """A result that went through JSON is the same result; what is none is refused."""
    result = grade(grader, total="def total(x):\n    print('hm')\n    return None")

    assert read_result(result.to_json()) == result
    with pytest.raises(ValueError, match="not a result of the grader"):
        read_result("{}")


def test_reasons_are_ordered():
    """The reason that says most is the submission's; nothing at all is ok."""
    assert weightiest([Reason.WRONG, Reason.TIMEOUT, Reason.OK]) is Reason.TIMEOUT
    assert weightiest([]) is Reason.OK
    assert not SubmissionResult("a", "b", (), Reason.UNREADABLE).graded
    assert SubmissionResult("a", "b", (TaskResult("t", "t", 1, 2, Reason.WRONG),), Reason.WRONG).points == 1


@pytest.mark.parametrize("name", ["task_s", "memory_bytes", "processes"])
def test_limits_are_above_zero(name):
    """A limit of zero or less is refused, named."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})
