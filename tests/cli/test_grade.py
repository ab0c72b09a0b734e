"""`course grade` for real: a tiny course, real submissions, the real grader; exit codes, a sentence for bad input."""

import csv
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from support import two_tasks
from support.paths import ROOT
from support.small_class import has_ended
from support.two_tasks import NAME, SOLVED, submitted, submitted_bytes

from course_utils.cli import main as cli
from course_utils.grading.result import read_result
from course_utils.sandbox.process_tree import read_usage
from course_utils.sandbox.sandbox import SandboxError, choose_sandbox

try:
    choose_sandbox("", unsafe=False)
    SANDBOX = []
except SandboxError:  # a machine without bubblewrap still grades, with nothing but its own process
    SANDBOX = ["--unsafe"]
QUICK = [*SANDBOX, "--no-gradebook", "--workers", "1"]
LOOP = SOLVED | {"double": "def double(x):\n    while True:\n        pass"}
CODES = {"ada": SOLVED, "bob": SOLVED | {"halve": "def halve(x):\n    return 0"}, "cy": LOOP}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course of one exercise, and work in it."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    source = tmp_path / "solutions" / NAME / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(two_tasks.source_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def submit(course, student, content):
    """Hand in a file, or code, in nbgrader's layout."""
    path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else submitted_bytes(content))


def results(course):
    """Read the stored results, without what a clock decides."""
    found = [read_result(path.read_text(encoding="utf-8")) for path in (course / "graded" / NAME).glob("*.json")]
    still = [replace(one, seconds=0, tasks=tuple(replace(task, seconds=0) for task in one.tasks)) for one in found]
    return {one.student: one for one in still}


def sentence(capsys):
    """Return what was said on standard error: one line."""
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1, err
    return err


def start(course, *arguments, stderr=subprocess.PIPE):
    """Start the command as a process of its own; the parent may not load torch."""
    code = (
        "import sys; from course_utils.cli import main as cli\n"
        "if __name__ == '__main__':\n"
        "    code = cli.main(sys.argv[1:])\n"
        "    heavy = {'torch', 'nbformat', 'numpy'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
        "    sys.exit(code)\n"
    )
    script = course / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, str(script), "grade", "01", *arguments],
        cwd=course,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )


def test_a_class(course):
    """Right, partly right, looping, broken and absent: one row each, points kept, exit 1, and a second run is quick."""
    for student, code in CODES.items():
        submit(course, student, code)
    submit(course, "di", b"{broken")
    (course / "submitted" / "ed" / NAME).mkdir(parents=True)
    arguments = [*SANDBOX, "--no-gradebook", "--task-seconds", "1", "--workers", "2"]
    first = start(course, *arguments)
    out, errors = first.communicate(timeout=120)

    assert first.returncode == 1, errors
    assert {student: (one.points, one.reason.value) for student, one in results(course).items()} == {
        "ada": (4, "ok"),
        "bob": (2, "wrong"),
        "cy": (2, "timeout"),
        "di": (0, "unreadable"),
        "ed": (0, "missing"),
    }
    with open(course / "graded" / NAME / "report.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == ["ada", "bob", "cy", "di", "ed"]
    assert [row["total"] for row in rows] == ["4", "2", "2", "", ""]
    assert "3 of 5 graded, 5 in this run" in out
    assert "2 of 5 could not be graded" in out
    assert (course / "graded" / NAME / "ada.html").exists()
    assert (course / "graded" / NAME / "overview.html").exists()

    before = results(course)
    again = start(course, *arguments)
    out, errors = again.communicate(timeout=60)
    assert "0 in this run" in out, errors
    assert results(course) == before


def test_two_runs_agree(course, capsys):
    """Grading everything again gives the same results, but for the seconds; all graded is exit 0."""
    submit(course, "ada", CODES["ada"])
    submit(course, "bob", CODES["bob"])
    assert cli.main(["grade", "01", *QUICK]) == 0
    before = results(course)
    assert cli.main(["grade", "01", "--force", *QUICK]) == 0

    assert results(course) == before
    assert "2 in this run" in capsys.readouterr().out


def test_twenty_copies(course, capsys):
    """Twenty copies of one notebook with four workers get twenty identical scores."""
    for number in range(20):
        submit(course, f"s{number:02}", CODES["bob"])
    assert cli.main(["grade", "01", *SANDBOX, "--no-gradebook", "--workers", "4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert [one["student"] for one in report["results"]] == [f"s{number:02}" for number in range(20)]
    assert {json.dumps([task["points"] for task in one["tasks"]]) for one in report["results"]} == {"[2.0, 0.0]"}
    assert len({one["digest"] for one in report["results"]}) == 1


def test_ctrl_c(course):
    """Ctrl-C while a submission loops: exit 130, the report holds who is done, no process is left, sandbox included."""
    submit(course, "ada", SOLVED)
    submit(course, "bob", LOOP)
    parent = start(course, *QUICK, "--task-seconds", "600")
    stored = course / "graded" / NAME / "ada.json"
    # the student's process is the last that starts below the worker
    below = ()
    while not stored.exists() or len(below) < 4:
        assert parent.poll() is None, parent.communicate()
        below = read_usage(parent.pid).processes
        time.sleep(0.01)
    os.killpg(parent.pid, signal.SIGINT)
    out, errors = parent.communicate(timeout=60)

    assert parent.returncode == 130, errors
    assert "Traceback" not in errors
    assert "1 not graded yet" in out
    assert all(has_ended(pid) for pid in below)
    with open(stored.parent / "report.csv", encoding="utf-8", newline="") as file:
        assert [row["total"] for row in csv.DictReader(file)] == ["4", ""]


def test_formats_and_names(course, capsys):
    """A notebook renamed by a browser, in the old format, with a stripped kernel and a copied cell, is graded."""
    made = submitted(SOLVED) | {"nbformat_minor": 4, "metadata": {"kernelspec": {"name": "conda-env-dl"}}}
    made["cells"].append(two_tasks.cell(SOLVED["double"], "double"))
    path = course / "submitted" / "ada" / NAME / f"{NAME} (1).ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(made).encode())

    assert cli.main(["grade", "01", *QUICK]) == 0
    (result,) = results(course).values()
    assert (result.points, result.reason.value) == (4, "duplicate")
    assert len(result.notes) == 2
    assert "duplicate" in capsys.readouterr().out


@pytest.mark.slow
def test_gradebook(course, capsys):
    """The gradebook gets the points; one that cannot be written is a sentence and exit 1, and the grades stay."""
    pytest.importorskip("nbgrader", reason="needs nbgrader: pip install -e .[grading]")
    submit(course, "ada", SOLVED)
    (course / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
    assert cli.main(["grade", "01", *SANDBOX, "--workers", "1"]) == 0
    with sqlite3.connect(course / "gradebook.db") as database:
        assert database.execute("select sum(auto_score) from grade").fetchone() == (4.0,)
        assert database.execute("select timestamp from submitted_assignment").fetchone()[0].startswith("2026-03-01")
    database.close()
    capsys.readouterr()

    assert cli.main(["grade", "01", *SANDBOX, "--db", f"sqlite:///{course}/no/such/folder/x.db"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("course grade: the gradebook was not written: ")
    assert "1 of 1 graded" in captured.out


def test_one_student(course, capsys):
    """--student grades that one; the exit code is about that one."""
    submit(course, "ada", SOLVED)
    submit(course, "bob", b"broken")

    assert cli.main(["grade", "01", "--student", "ada", *QUICK]) == 0
    assert "1 not graded yet" in capsys.readouterr().out
    assert set(results(course)) == {"ada"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["77"], "no exercise is called '77'"),
        (["01", "--from", "gone"], "there is no gone; give a folder with one folder for each student"),
        (["01", "--from", "empty"], "empty holds no submission"),
        (["01", "--student", "adda"], "no student is called 'adda'; the nearest: ada"),
        (["01", "--workers", "0"], "--workers is 0"),
        (["01", "--task-seconds", "0"], "--task-seconds is 0"),
        (["01", "--task-seconds", "nan"], "--task-seconds is nan"),
        (["01", "--memory-gb", "-1"], "--memory-gb is -1"),
        (["01", "--db", "sqlite:///x", "--no-gradebook"], "contradict"),
    ],
)
def test_bad_usage(course, capsys, arguments, words):
    """Bad input is one sentence with the value, and exit code 2, before anything is graded or written."""
    submit(course, "ada", SOLVED)
    (course / "empty").mkdir()

    assert cli.main(["grade", *arguments]) == 2
    assert words in sentence(capsys)
    assert not (course / "graded").exists()


def test_progress_on_a_terminal(course):
    """Where standard error is a terminal, a bar counts the submissions and says how long it will take."""
    submit(course, "ada", SOLVED)
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, 80))
    process = start(course, *QUICK, stderr=its)
    os.close(its)
    shown = b""
    with suppress(OSError):  # how a terminal says that nobody writes any more
        while data := os.read(ours, 1000):
            shown += data
    os.close(ours)
    out, _ = process.communicate(timeout=60)

    assert process.returncode == 0
    assert b"| 0 of 1, ? left" in shown
    assert " of 1, " not in out


def test_nothing_submitted_yet(course, capsys):
    """Without submitted/ the sentence says what to give."""
    assert cli.main(["grade", "01"]) == 2
    assert "submitted; give a folder with one folder for each student, or a zip, after --from" in sentence(capsys)


def test_no_source(course, capsys):
    """Without the instructor's notebook there is nothing to grade against."""
    submit(course, "ada", SOLVED)
    (course / "solutions" / NAME / f"{NAME}.ipynb").unlink()

    assert cli.main(["grade", "01"]) == 2
    assert "grading needs solutions/" in sentence(capsys)


def test_no_sandbox(course, capsys, monkeypatch):
    """Where student code cannot be shut in, nothing is graded without --unsafe, and the sentence says what to do."""
    if sys.platform == "darwin":
        pytest.skip("a Mac has its sandbox built in")
    submit(course, "ada", SOLVED)
    monkeypatch.setattr("course_utils.sandbox.sandbox.find_bubblewrap", lambda: None)

    assert cli.main(["grade", "01"]) == 2
    assert "--unsafe" in sentence(capsys)
    assert cli.main(["grade", "01", "--unsafe", "--no-gradebook", "--workers", "1"]) == 0
    assert "graded without a sandbox (--unsafe)" in capsys.readouterr().out
    assert results(course)["ada"].sandbox == "none (--unsafe)"
