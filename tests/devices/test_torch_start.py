"""Whether torch saw a variable is said where it is known, and left unknown where it is not."""

import os
import subprocess
import sys

import pytest

from course_utils.devices.environment_variables import FALLBACK as NAME
from course_utils.devices.environment_variables import fallback_is_on
from course_utils.devices.torch_start import StartRecord, initial_environment


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (StartRecord({NAME: "1"}, {}, {}), True),
        (StartRecord({}, {}, {}), False),
        (StartRecord({NAME: "0"}, {}, {}), False),
        (StartRecord(None, {}, {}), False),
        (StartRecord(None, {NAME: "1"}, {NAME: "1"}), True),
        (StartRecord(None, {NAME: "1"}, {}), None),
        (StartRecord(None, {NAME: "1"}, None), None),
    ],
)
def test_seen(record, expected):
    """Recorded at the load: certain. Changed after the watch began: too late. Set in between: unknown."""
    assert record.seen(NAME, "1") is expected


LATE = f"import torch, os; os.environ[{NAME!r}] = '1'\n"
EARLY = f"import os; os.environ[{NAME!r}] = '1'; import torch\n"
WATCH = "import course_utils.doctor\n"
ANSWER = (
    "from course_utils.doctor.surroundings import read_variables\n"
    "from course_utils.devices.torch_start import start_record\n"
    f"print([v.before_torch for v in read_variables(start_record(), fallback_on=None) if v.name == {NAME!r}])"
)


@pytest.mark.parametrize(
    ("order", "at_start", "expected"),
    [
        (WATCH + LATE, None, "[False]"),
        (WATCH + EARLY, None, "[True]"),
        ("import torch\n" + WATCH + LATE, None, "[False]"),
        (LATE + WATCH, None, "[None]"),
        ("import torch\n" + WATCH, "1", "[True]"),
        (WATCH, "1", "[True]"),
        (WATCH + LATE, "0", "[False]"),
        (WATCH + "import importlib.util; importlib.util.find_spec('torch')\n" + EARLY, None, "[True]"),
    ],
)
@pytest.mark.skipif(initial_environment() is None, reason="this system does not tell a process's first environment")
def test_order_of_real_imports(tmp_path, order, at_start, expected):
    """In a real process, the order of the import, the variable and the watch is told apart."""
    environment = {name: value for name, value in os.environ.items() if name != NAME}
    environment |= {} if at_start is None else {NAME: at_start}
    # an empty stand-in for torch: the order is what matters here, and loading the real one takes seconds
    (tmp_path / "torch.py").touch()
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    code = order + ANSWER
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == expected, done.stderr


def test_the_watch_does_not_load_torch():
    """Importing the doctor is cheap: torch does not come with it."""
    code = "import sys, course_utils.doctor; print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


SET, UNSET = {NAME: "1"}, {}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (StartRecord(None, SET, SET), True),  # in the shell
        (StartRecord(None, SET, UNSET), False),  # a later cell: too late
        (StartRecord(SET, UNSET, UNSET), True),  # set before torch was imported
        (StartRecord(UNSET, SET, SET), False),  # deleted before torch was imported
        (StartRecord(None, SET, None), True),  # no /proc: the best that is known
        (StartRecord(None, UNSET, {NAME: "0"}), False),
        (StartRecord(None, UNSET, UNSET), False),
    ],
)
def test_when_the_variable_counts(record, expected):
    """The variable counts only if it was there when torch was imported (FB-01)."""
    assert fallback_is_on(record.likeliest) is expected


def test_initial_environment(tmp_path):
    """The environment that a process started with is read from its file; None where there is none."""
    file = tmp_path / "environ"
    file.write_bytes(b"A=1\0B=x=y\0\0")
    assert initial_environment(file) == {"A": "1", "B": "x=y"}
    assert initial_environment(tmp_path / "absent") is None
