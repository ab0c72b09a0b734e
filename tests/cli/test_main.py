"""The `course` command: exit codes, one sentence for bad input, and a quick --help."""

import json
import os
import platform
import shutil
import subprocess
import sys

import pytest
import torch
from support.described_machines import LINUX, MAC, mac, with_variables
from support.paths import ROOT
from support.sandbox_here import needs_sandbox
from support.unwrapped import unwrapped

from course_utils.benchmarking import compare
from course_utils.cli import lab
from course_utils.cli import main as cli
from course_utils.devices import probe as devices
from course_utils.doctor import from_json

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
        "import sys; from course_utils.cli import main as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'nbgrader', 'nbformat', 'IPython', 'matplotlib', 'tqdm', 'jsonschema'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in cli.COMMANDS)


def test_no_command_is_wrong_usage(capsys):
    """Without a command the exit code is 2: argparse exits by itself up to Python 3.12, and raises since 3.13."""
    try:
        code = cli.main([])
    except SystemExit as stopped:
        code = stopped.code

    assert code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_doctor_here(capsys):
    """The doctor describes this machine for real: its first lines name the system, what works and what does not."""
    code = cli.main(["doctor"])
    text = unwrapped(capsys.readouterr().out)

    assert text.startswith(f"This is {'macOS' if sys.platform == 'darwin' else platform.system()}")
    assert "Works: the CPU, with torch" in " ".join(text.split())
    assert sys.platform == "darwin" or code == 1


@pytest.fixture
def machine_file(tmp_path):
    """Write a described machine to a file."""

    def write(snapshot):
        path = tmp_path / "machine.json"
        path.write_text(snapshot.to_json(), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize(
    ("snapshot", "code", "words"),
    [
        (MAC, 0, "[ok] MPS is usable here; nothing to do."),
        (with_variables(MAC, PYTORCH_ENABLE_MPS_FALLBACK="1"), 0, "[i] note: The CPU fallback is on"),
        (with_variables(MAC, KMP_DUPLICATE_LIB_OK="TRUE"), 1, "[!] MPS is usable here; 1 warning."),
        (
            mac(machine="x86_64", translated=True, torch="2.2.2", mps_state="absent"),
            1,
            "[x] error: This is an Intel Python",
        ),
        (LINUX, 1, "Does not work: MPS: it exists only on macOS"),
    ],
)
def test_doctor_of_a_snapshot(machine_file, capsys, snapshot, code, words):
    """Exit code 0 where MPS is usable and nothing is wrong, else 1; the verdict is an icon and a word."""
    assert cli.main(["doctor", "--snapshot", machine_file(snapshot)]) == code
    assert words in capsys.readouterr().out


def test_doctor_json(machine_file, capsys):
    """As JSON: the verdict, the findings, and the snapshot, which reads back."""
    assert cli.main(["doctor", "--json", "--snapshot", machine_file(MAC)]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["mps_usable"]
    assert report["findings"] == []
    assert from_json(json.dumps(report["snapshot"])) == MAC


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ModuleNotFoundError('No module named torch', name='torch')", "torch is not installed"),
        ("raise ImportError('no torch here')", "ImportError: no torch here"),
        ("import os; os.abort()", "killed by SIGABRT"),
        ("import os; os._exit(5)", "exit code 5"),
    ],
)
def test_doctor_without_torch(tmp_path, source, words):
    """A torch that is missing, broken, or kills its process is reported, and never raised."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(source)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-m", "course_utils.cli", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert words in done.stdout
    assert done.stderr == ""


def test_doctor_save_and_read(tmp_path, capsys):
    """What --save wrote, --snapshot diagnoses, with the same findings; saving again overwrites it."""
    path = str(tmp_path / "machine.json")
    code = cli.main(["doctor", "--save", path])
    saved = capsys.readouterr()

    assert "snapshot saved to" in saved.err
    assert cli.main(["doctor", "--snapshot", path]) == code
    assert capsys.readouterr().out == saved.out
    assert cli.main(["doctor", "--save", path]) == code


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--snapshot", "gone.json"], "gone.json is not a file"),
        (["--snapshot", "notes.txt"], "notes.txt cannot be used: it is not JSON"),
        (["--save", "notes.txt"], "notes.txt exists and is not a snapshot"),
        (["--save", "no/folder/x.json"], "there is no folder"),
        (["--save", "x.json", "--snapshot", "notes.txt"], "use one of them"),
    ],
)
def test_doctor_bad_input(course, capsys, arguments, word):
    """A file that cannot be read, or must not be overwritten, is one sentence and exit code 2."""
    (course / "notes.txt").write_text("my notes")
    assert cli.main(["doctor", *arguments]) == 2
    assert word in sentence(capsys)
    assert (course / "notes.txt").read_text() == "my notes"


# the folder is read-only for bubblewrap's child, whoever runs the tests
READ_ONLY = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run")


@needs_sandbox
@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap, which makes a folder read-only, exists on Linux only")
@pytest.mark.parametrize("words", ["release", "bundle", "bench --save x.json", "report", "doctor --save x.json"])
def test_a_read_only_folder_is_said_before_the_work(course, words):
    """What a command cannot write, it says in one sentence, before it works for minutes."""
    command = [*READ_ONLY, sys.executable, "-m", "course_utils.cli", *words.split()]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": "/run"}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("course ")]

    assert done.returncode == 2
    assert "is read-only" in said
    assert "Traceback" not in done.stderr


def test_bench_without_torch(tmp_path):
    """Without torch, commands that need it say so in one sentence and exit 2."""
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-m", "course_utils.cli", "bench"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "course bench: torch does not load (no torch here); run `make lab`, which installs it\n"


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
    document = json.loads(capsys.readouterr().out)
    (comparison,) = document["comparisons"]

    assert (document["kind"], document["schema_version"]) == ("course bench", 1)
    assert document["settings"] == {"only": "matmul", "mode": "both", "batch": 1, "sweep": False, "max_time_s": 0.2}
    assert document["machine"]["torch_version"] == torch.__version__
    assert {"chip", "system", "build", "cores", "ram_bytes", "python", "threads"} <= document["machine"].keys()
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
        (["--only", "matmul", "--chart", "/no/such/folder/x.png"], "no folder"),
        (["--only", "matmul", "--chart", "x.pngg"], "'.pngg' is not one (the nearest: png"),
        (["--only", "matmul", "--chart", "x"], "no ending"),
        (["--only", "matmul", "--chart", "x.docx"], "'.docx'"),
        (["--only", "matmul", "--chart", "."], "it is a folder"),
        (["--only", "matmul", "--save", "/no/such/folder/x.json"], "no folder"),
        (["--only", "matmul", "--save", "."], "it is a folder"),
        (["--only", "matmul", "--beside", "gone.json"], "gone.json cannot be read"),
    ],
)
def test_bench_bad_input(arguments, word, capsys):
    """Bad input to bench is one sentence with the value, and exit code 2, before anything is measured."""
    assert cli.main(["bench", *arguments]) == 2
    assert word in sentence(capsys)


@pytest.mark.parametrize("value", ["0", "nan", "inf", "-1", "soon"])
def test_bench_times_are_positive_numbers(value, capsys):
    """A time limit that is no positive finite number is wrong usage, and the value is named."""
    assert cli.main(["bench", "--max-time", value]) == 2
    assert f"--max-time is {value}" in sentence(capsys)


def test_bench_saves_and_draws_beside(no_mps, capsys, tmp_path):
    """A saved document is read again, and its rows stand in the table with their machine."""
    saved = tmp_path / "other.json"
    arguments = ["bench", "--only", "matmul", "--max-time", "0.1"]
    assert cli.main([*arguments, "--no-chart", "--save", str(saved)]) == 0
    assert f"document: {saved}" in capsys.readouterr().out
    document = json.loads(saved.read_text())
    document["machine"]["chip"] = "Apple M9"
    saved.write_text(json.dumps(document))

    assert cli.main([*arguments, "--chart", str(tmp_path / "chart.svg"), "--beside", str(saved)]) == 0
    assert f"cpu (Apple M9, torch {torch.__version__})" in capsys.readouterr().out
    assert "measured on Apple M9" in (tmp_path / "chart.svg").read_text()


def test_bench_keeps_what_was_measured(monkeypatch, capsys, no_mps):
    """Ctrl-C during the second workload prints the first one's result and exits 130."""
    measured = []
    original = compare.compare_devices

    def interrupted(workload, **options):
        if measured:
            raise KeyboardInterrupt
        measured.append(workload)
        return original(workload, **options)

    monkeypatch.setattr(compare, "compare_devices", interrupted)
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
        "from course_utils.cli import main as cli\n"
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


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "soon", "1e999"])
@pytest.mark.parametrize(
    "words",
    [
        ["check", "04", "--timeout"],
        ["progress", "--timeout"],
        ["submit", "04", "--timeout"],
        ["release", "--timeout"],
        ["grade", "04", "--task-seconds"],
        ["grade", "04", "--memory-gb"],
        ["bench", "--max-time"],
    ],
)
def test_limits_are_finite_and_positive(words, value, capsys):
    """Each command refuses a limit that limits nothing, with its value, in one sentence."""
    assert cli.main([*words, value]) == 2
    assert f"course {words[0]}: {words[-1]} is {value};" in sentence(capsys)


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
