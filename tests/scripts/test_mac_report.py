"""The report of a Mac: it resumes, names what failed, changes no sentence without MPS, and packs nothing private."""

import json
import sys
import zipfile
from pathlib import Path

import pytest
from support.found import found
from support.paths import ROOT

from course_utils.reporting.steps import Step, StepEnd
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


def test_an_interruption_keeps_what_is_done(tmp_path, monkeypatch):
    """After Ctrl-C the report is written, and the next run takes up the step that was stopped."""
    folder = tmp_path / "report"
    plan = steps(tmp_path)
    run = sys.modules["scripts.mac_report"].run_step

    def stopped(step, folder, at):
        if step.name == "bench":
            raise KeyboardInterrupt
        return run(step, folder, at=at)

    monkeypatch.setattr("scripts.mac_report.run_step", stopped)
    assert main([], folder, plan) == 130
    assert "not run" in (folder / "report.md").read_text(encoding="utf-8")
    monkeypatch.undo()
    assert main([], folder, plan) == 0
    assert (tmp_path / "count").read_text() == "x"


def test_a_step_that_failed_is_named(tmp_path):
    """Its exit code stands in the report, and is the report's own failure."""
    folder = tmp_path / "report"

    assert main([], folder, steps(tmp_path, code=3)) == 1
    assert "failed (exit code 3)" in (folder / "report.md").read_text(encoding="utf-8")


def test_sentences_change_only_where_mps_computed():
    """Without MPS nothing may be changed; with it the cards of lessons, once the lessons ran."""
    ended = {"lessons": StepEnd(0, 1.0, answered=True), "tests": StepEnd(1, 1.0, answered=False)}

    assert may_change(ended, {"mps_usable": False}, ROOT) == []
    allowed = found(may_change(ended, {"mps_usable": True}, ROOT))
    assert any("00_start_here" in line for line in allowed)
    assert not any("README" in line for line in allowed)
    assert may_change({}, {"mps_usable": True}, ROOT) == []


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
    assert (
        "nothing: MPS did not compute" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
        or report["mps_usable"]
    )
