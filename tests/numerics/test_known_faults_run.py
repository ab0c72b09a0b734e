"""`ask_known_faults` and `course compare --known`: which device is asked, what is shown, exit codes."""

import json

import pytest

from course_utils.cli import main as cli
from course_utils.data.known_faults import all_known_faults, known_fault
from course_utils.devices import probe
from course_utils.emulation import emulated_mps
from course_utils.numerics.known_faults import FaultAnswer, FaultState, KnownFaultsReport, ask_known_faults, run

FEW = ("pytorch#197636", "pytorch#190052", "pytorch#193571", "pytorch#98266")
LARGE, ASKED, NEVER, OLD = FEW


@pytest.fixture(autouse=True)
def few_faults(monkeypatch):
    """Ask for four of the faults, on a machine without MPS and CUDA."""
    monkeypatch.setattr(run, "all_known_faults", lambda: tuple(known_fault(issue) for issue in FEW))
    monkeypatch.setattr(probe, "probe_mps", lambda: probe.Probe("mps", "absent", "no Metal here"))
    monkeypatch.setattr(probe, "probe_cuda", lambda: probe.Probe("cuda", "absent", "no GPU"))
    monkeypatch.delenv("COURSE_DEVICE", raising=False)


def answering(monkeypatch, **states):
    """Have the process that asks answer as told."""
    answers = {f"pytorch#{issue[1:]}": state for issue, state in states.items()}
    monkeypatch.setattr(
        run, "ask_apart", lambda issues, device: [FaultAnswer(i, answers.get(i, FaultState.RIGHT), "d") for i in issues]
    )


def test_the_cpu_is_asked_and_said_to_be(capsys):
    """Without MPS the CPU is asked, in another process, and the report says what that is worth."""
    assert cli.main(["compare", "--known", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["device"] == "cpu"
    assert any("says nothing about MPS" in warning for warning in report["warnings"])
    assert {fault["id"]: fault["state"] for fault in report["faults"]} == {
        LARGE: "not asked",
        ASKED: "right",
        NEVER: "not asked",
        OLD: "right",
    }
    assert all(fault["link"].startswith("https://github.com/") for fault in report["faults"])


def test_a_present_fault_is_exit_code_1(capsys, monkeypatch):
    """A fault that is present is shown with what it measured, the link and the way around."""
    answering(monkeypatch, i190052=FaultState.PRESENT)

    assert cli.main(["compare", "--known"]) == 1
    out = capsys.readouterr().out
    fault = known_fault(ASKED)
    assert all(text in out for text in (fault.title, fault.link, fault.way_around))


@pytest.mark.parametrize(
    ("state", "code"),
    [(FaultState.RAISES, 0), (FaultState.ENDED, 1), (FaultState.NO_ANSWER, 1), (FaultState.RIGHT, 0)],
)
def test_exit_codes(monkeypatch, state, code):
    """An error is not silent; a process that ended or hung is a finding."""
    answering(monkeypatch, i190052=state)

    assert cli.main(["compare", "--known"]) == code


def test_large_ones_are_asked_on_demand(monkeypatch):
    """With `large` only what has no reproducer is left out."""
    answering(monkeypatch)

    assert [answer.issue for answer in ask_known_faults(large=True).of(FaultState.NOT_ASKED)] == [NEVER]
    assert [answer.issue for answer in ask_known_faults().of(FaultState.NOT_ASKED)] == [LARGE, NEVER]


def test_the_emulated_device_is_not_asked(monkeypatch):
    """It computes on the CPU, so the CPU is asked and the report says so."""
    answering(monkeypatch)
    monkeypatch.setattr(probe, "probe_mps", lambda: probe.Probe("mps", "usable", "emulated"))
    with emulated_mps():
        report = ask_known_faults("mps")

    assert report.device == "cpu"
    assert any("emulated" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    "words",
    [["--large"], ["--known", "model.py:make"], ["--known", "--input", "3"], ["--known", "--device", "mps"], []],
)
def test_wrong_usage_is_one_sentence(capsys, words):
    """What does not go together is exit code 2 with a sentence."""
    assert cli.main(["compare", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_notebook_shows_links_and_no_markup_of_the_data():
    """Every answer is in the table with its link, and text from outside is escaped."""
    answers = tuple(FaultAnswer(fault.id, FaultState.PRESENT, "<b>x</b>") for fault in all_known_faults())
    page = KnownFaultsReport("mps", "torch <2.14>", answers, 1.0)._repr_html_()

    assert page.count("<a href=") == len(answers) > 100
    assert "<b>x</b>" not in page
    assert "torch <2.14>" not in page
