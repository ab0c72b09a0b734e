"""Whether torch saw a variable is said where it is known, and left unknown where it is not."""

import os
import subprocess
import sys

import pytest

from course_utils.doctor.torch_start import StartRecord, fallback_is_on, initial_environment, runs_without_kernel

NAME = "PYTORCH_ENABLE_MPS_FALLBACK"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (StartRecord(False, None, {}, {}), True),
        (StartRecord(True, {NAME: "1"}, {}, {}), True),
        (StartRecord(True, {}, {}, {}), False),
        (StartRecord(True, {NAME: "0"}, {}, {}), False),
        (StartRecord(True, None, {}, {}), False),
        (StartRecord(True, None, {NAME: "1"}, {NAME: "1"}), True),
        (StartRecord(True, None, {NAME: "1"}, {}), None),
        (StartRecord(True, None, {NAME: "1"}, None), None),
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
    "from course_utils.doctor.torch_start import start_record\n"
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


@pytest.mark.parametrize(("device", "expected"), [("cpu", True), ("meta", False), ("no-such-device", None)])
def test_operator_without_a_kernel(device, expected):
    """The check's operator runs where it has a kernel, raises where it has none, and is unknown where torch refuses."""
    assert runs_without_kernel(device) is expected


@pytest.mark.needs_mps
def test_torch_answers_for_its_fallback():
    """On a Mac, torch itself says whether its fallback is on, as the environment of this process does."""
    import torch

    assert torch.backends.mps.is_available()
    assert fallback_is_on() is (os.environ.get(NAME, "0") not in ("", "0"))
