"""The report of a Mac: it resumes, names what failed, changes no sentence without MPS, and packs nothing private."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.described_machines import UNAVAILABLE
from support.found import found
from support.made_up_report import doctor, write_report
from support.paths import ROOT

from course_utils.reporting.steps import Step
from scripts.mac_report import STEPS, main, may_change, pack

COUNTING = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.open('a').write('x')"


def steps(folder, *, code=0):
    """Two steps: one counts how often it ran, one ends with a code."""
    count = (sys.executable, "-c", COUNTING, str(folder / "count"))
    return (Step("doctor", "counts", count, output="doctor.json"), Step("bench", "ends", ("sh", "-c", f"exit {code}")))


def test_what_has_ended_does_not_run_again(tmp_path):
    """A second run goes on from the first; --again runs a step once more."""
    folder = tmp_path / "report"
    plan = steps(tmp_path)

    assert main([], folder, plan) == 0
    assert main([], folder, plan) == 0
    assert (tmp_path / "count").read_text() == "x"
    assert main(["--again", "doctor"], folder, plan) == 0
    assert (tmp_path / "count").read_text() == "xx"


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
# a step that says that it runs and stays, but not the second time; a signal before the wait for it is not lost
STAYING = """
import signal, sys
from pathlib import Path

again, pipe = Path(sys.argv[1], "again"), Path(sys.argv[1], "pipe")
if not again.exists():
    again.touch()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    pipe.write_text("runs")
    signal.sigwait([signal.SIGINT])
    sys.exit(2)
"""
RUN = """
import sys
from pathlib import Path
from course_utils.reporting.steps import Step
from scripts.mac_report import main, stop_like_ctrl_c

there, counting, staying = sys.argv[1:]
count = (sys.executable, "-c", counting, f"{there}/count")
stop_like_ctrl_c()
steps = (Step("doctor", "counts", count), Step("bench", "stays", (sys.executable, "-c", staying, there)))
sys.exit(main([], Path(there, "report"), steps))
"""


@pytest.mark.parametrize("how", STOPS, ids=[how.name for how in STOPS])
def test_an_interrupted_run_goes_on(tmp_path, how):
    """What is done is packed when a run is stopped, and kept when it is killed; the next run takes up the rest."""
    os.mkfifo(tmp_path / "pipe")
    words = [sys.executable, "-c", RUN, str(tmp_path), COUNTING, STAYING]
    with subprocess.Popen(words, cwd=ROOT, start_new_session=True) as stopped:
        (tmp_path / "pipe").read_text()
        os.killpg(stopped.pid, how)
    if how == signal.SIGKILL:
        assert stopped.returncode == -how
    else:
        assert stopped.returncode == 130
        assert "| bench | stays | not run |" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
        assert (tmp_path / "report.zip").exists()

    assert subprocess.run(words, cwd=ROOT, check=False).returncode == 0
    assert (tmp_path / "count").read_text() == "x"


def test_two_runs_do_not_share_a_folder(tmp_path, capsys):
    """While one run writes into the folder, another ends with a sentence."""
    folder = tmp_path / "report"
    folder.mkdir()
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    assert main([], folder, steps(tmp_path)) == 2
    assert "another run" in capsys.readouterr().err
    os.close(held)
    assert main([], folder, steps(tmp_path)) == 0


def test_a_step_that_failed_is_named(tmp_path):
    """Its exit code stands in the report, and is the report's own failure."""
    folder = tmp_path / "report"

    assert main([], folder, steps(tmp_path, code=3)) == 1
    assert "failed (exit code 3)" in (folder / "report.md").read_text(encoding="utf-8")


def test_the_page_lists_what_may_be_changed(tmp_path):
    """A made-up Mac's report allows marked sentences and cards; one whose MPS did not compute allows nothing."""
    lines = found(may_change(write_report(tmp_path / "made-up"), ROOT))
    assert any(line.startswith("README.md:") for line in lines)
    assert any("00_start_here.ipynb:0" in line for line in lines)

    without = {"doctor.json": doctor(UNAVAILABLE)}
    (reason,) = may_change(write_report(tmp_path / "without", without), ROOT)
    assert "MPS did not compute" in reason


def test_the_archive_names_nobody(tmp_path):
    """Home folders and the user's name are cut out of every file."""
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "tests.txt").write_text(f"{Path.home()}/course and /Users/somebody/x", encoding="utf-8")

    assert pack(folder, tmp_path / "report.zip") == 1
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        text = archive.read("report/tests.txt").decode()
    assert "somebody" not in text
    assert "~/" in text
    assert "course" not in text


@pytest.mark.parametrize(
    "state",
    [
        "",
        "[]",
        "{",
        '{"doctor": 1}',
        '{"doctor": {"code": 0}}',
        '{"doctor": {"code": "0", "seconds": 1, "answered": true}}',
        '{"doctor": {"code": 0, "seconds": "long", "answered": true}}',
        "\x00",
    ],
)
def test_a_broken_state_ends_in_a_sentence(tmp_path, capsys, state):
    """What is not this script's own record is named with what to do, and nothing runs."""
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "state.json").write_text(state, encoding="utf-8")

    assert main([], folder, steps(tmp_path)) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert "state.json" in said
    assert "remove it" in said
    assert not (tmp_path / "count").exists()


@pytest.mark.parametrize("spoil", ["folder is a file", "parent is a file", "state is a folder", "archive is a folder"])
def test_a_bad_place_ends_in_a_sentence(tmp_path, capsys, spoil):
    """A place that cannot be written, or is something else, is said in one sentence with its path."""
    folder = tmp_path / "place" / "report"
    if spoil == "parent is a file":
        folder.parent.write_text("", encoding="utf-8")
    else:
        folder.parent.mkdir()
    if spoil == "folder is a file":
        folder.write_text("", encoding="utf-8")
    if spoil == "state is a folder":
        (folder / "state.json").mkdir(parents=True)
    if spoil == "archive is a folder":
        folder.with_suffix(".zip").mkdir()

    assert main([], folder, steps(tmp_path)) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert str(folder) in said


@pytest.mark.parametrize("step", [step for step in STEPS if step.name == "doctor"], ids=lambda step: step.name)
def test_the_real_doctor_answers(tmp_path, step):
    """The first real step runs here as it does on a Mac, and says that MPS is not usable."""
    assert main(["--only", step.name], tmp_path / "report") == 0

    report = json.loads((tmp_path / "report" / "doctor.json").read_text(encoding="utf-8"))
    assert "mps_usable" in report
    assert "- nothing: " in (tmp_path / "report" / "report.md").read_text(encoding="utf-8") or report["mps_usable"]
