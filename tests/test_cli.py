"""The `course` command: exit codes, one sentence for bad input, and a quick --help."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import cli, devices, timing
from course_utils.commands import lab

ROOT = Path(__file__).resolve().parent.parent
EXERCISE = ROOT / "exercises/04_measuring_time/04_measuring_time.ipynb"
SOLUTION = ROOT / "solutions/04_measuring_time/04_measuring_time.ipynb"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a copy of the course's notebooks and work in it."""
    for name in ("notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_mps(monkeypatch):
    """Describe a machine without MPS."""
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "absent", "no Metal here"))


def sentence(capsys):
    """Return what was said on standard error: one line."""
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1, err
    return err


def test_help_loads_nothing_heavy():
    """`course --help` loads neither torch nor anything of Jupyter, so it answers at once."""
    code = (
        "import sys; from course_utils import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'nbgrader', 'nbformat', 'IPython', 'matplotlib', 'tqdm', 'jsonschema'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in cli.COMMANDS)


def test_no_command_is_wrong_usage(capsys):
    """Without a command, argparse says how to use it and exits 2."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([])

    assert stopped.value.code == 2


def test_doctor_without_mps(no_mps, capsys):
    """The doctor names MPS as absent with its reason, says what works, and exits 1."""
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out

    assert "mps: absent - no Metal here" in out
    assert "cpu: usable" in out


def test_doctor_with_mps(monkeypatch, capsys):
    """On a described Mac whose GPU works, the doctor exits 0, also as JSON."""
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "usable", "equals the CPU's"))

    assert cli.main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["picked"] == "mps"
    assert report["versions"]["torch"]


def test_doctor_without_torch(tmp_path):
    """Without torch, commands that need it say so in one sentence and exit 2."""
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "course_utils.cli", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "course doctor: torch does not load (no torch here); run `make lab`, which installs it\n"


def test_bench_prints_medians_and_no_mps_time(no_mps, capsys, tmp_path):
    """A bench of one model prints CPU medians with spread, names MPS as absent, and draws a chart."""
    chart = tmp_path / "chart.png"
    arguments = ["bench", "--only", "mobilenet_v3", "--mode", "forward", "--max-time", "0.3", "--chart", str(chart)]

    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert "MobileNet v3 large, forward, batch 1" in out
    assert "IQR" in out
    assert "mps is absent: no Metal here" in out
    assert not any(line.split()[:1] == ["mps"] and "ms" in line.split() for line in out.splitlines())
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_bench_json_keeps_raw_times(no_mps, capsys, tmp_path, monkeypatch):
    """The JSON form holds the raw times and writes no chart of its own accord."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "--only", "matmul", "--max-time", "0.2", "--json"]) == 0
    (comparison,) = json.loads(capsys.readouterr().out)

    assert len(comparison["timings"][0]["times_s"]) >= 1
    assert comparison["missing"] == [{"device": "mps", "reason": "absent: no Metal here"}]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--only", "resnet81"], "'resnet81'; the nearest: resnet18"),
        (["--only", ","], "names no workload"),
        (["--only", "resnet18", "--batch", "0"], "batch is 0"),
        (["--only", "matmul", "--mode", "train"], "no backward pass"),
        (["--max-time", "0"], "--max-time is 0"),
        (["--max-time", "nan"], "--max-time is nan"),
        (["--only", "matmul", "--chart", "/no/such/folder/x.png"], "no folder"),
    ],
)
def test_bench_bad_input(arguments, word, capsys):
    """Bad input to bench is one sentence with the value, and exit code 2, before anything is measured."""
    assert cli.main(["bench", *arguments]) == 2
    assert word in sentence(capsys)


def test_bench_keeps_what_was_measured(monkeypatch, capsys, no_mps):
    """Ctrl-C during the second workload prints the first one's result and exits 130."""
    measured = []
    original = timing.compare_devices

    def interrupted(workload, **options):
        if measured:
            raise KeyboardInterrupt
        measured.append(workload)
        return original(workload, **options)

    monkeypatch.setattr(timing, "compare_devices", interrupted)
    arguments = ["bench", "--only", "mobilenet_v3", "--max-time", "0.2", "--no-chart"]

    assert cli.main(arguments) == 130
    captured = capsys.readouterr()
    assert "MobileNet v3 large, forward" in captured.out
    assert "stopped after 1 of 2" in captured.err


def test_bench_interrupted_by_a_real_signal(tmp_path):
    """A real SIGINT in the middle of measuring ends the process with 130 and no traceback."""
    # the first measured call sends the signal, so that no clock decides when it arrives
    code = (
        "import os, signal, sys, torch\n"
        "from course_utils import cli\n"
        "torch.matmul = lambda *inputs: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(cli.main(['bench', '--only', 'matmul', '--no-chart']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert done.returncode == 130, done.stderr
    assert "stopped after 0 of 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_of_the_untouched_release(course, capsys):
    """The untouched exercise: exit 1, every task not yet, yours against expected."""
    assert cli.main(["check", "04"]) == 1
    out = capsys.readouterr().out

    assert out.count("[not yet]") == 4
    assert "not written yet (task 4.1: write summarise)" in out
    assert "0 of 4 tasks passed" in out


def test_check_of_the_solution(course, capsys):
    """The solution passes every check: exit 0; as JSON too."""
    assert cli.main(["check", "04_measuring_time", "--notebook", str(SOLUTION), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)

    assert result["passed"]
    assert len(result["tasks"]) == 4


def test_check_unknown_exercise(course, capsys):
    """An unknown exercise gets the nearest names and exit code 2."""
    assert cli.main(["check", "04_measure"]) == 2
    assert "04_measuring_time" in sentence(capsys)


def test_check_never_released(course, capsys):
    """An exercise that was never released says how to release it."""
    shutil.rmtree(course / "exercises")
    assert cli.main(["check", "04"]) == 2
    assert "never released" in sentence(capsys)


@pytest.mark.parametrize(
    ("content", "word"),
    [("not json", "not JSON"), ('{"cells": []}', "no check cells of exercise 04"), ("[]", "no list of cells")],
)
def test_check_of_something_else(course, capsys, content, word):
    """A file that is no notebook, or another one, is one sentence and exit code 2."""
    (course / "mine.ipynb").write_text(content)
    assert cli.main(["check", "04", "--notebook", "mine.ipynb"]) == 2
    assert word in sentence(capsys)


def test_check_missing_notebook(course, capsys):
    """A notebook that is not there is one sentence."""
    assert cli.main(["check", "04", "--notebook", "gone.ipynb"]) == 2
    assert "gone.ipynb" in sentence(capsys)


def test_check_timeout_must_be_positive(course, capsys):
    """A time limit of zero is refused with its value."""
    assert cli.main(["check", "04", "--timeout", "0"]) == 2
    assert "--timeout is 0" in sentence(capsys)


def test_lab_unknown_lesson(course, capsys):
    """An unknown lesson lists the lessons."""
    assert cli.main(["lab", "77"]) == 2
    assert "00_start_here" in sentence(capsys)


def test_lab_command_is_this_environment(course):
    """JupyterLab is this environment's, rooted at the course, opened on the lesson."""
    command = lab.lab_command(course, lab.find_lesson(course, "4"), no_browser=True, port=8899)

    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/notebooks/04_measuring_time.ipynb" in command
    assert {"--no-browser", "--port=8899", f"--ServerApp.root_dir={course}"} <= set(command)
