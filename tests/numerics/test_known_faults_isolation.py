"""A reproducer that aborts, exits or hangs is an answer, and those behind it are asked all the same."""

import functools

import pytest
from support.paths import TESTS

from course_utils.numerics.known_faults import isolation
from course_utils.numerics.known_faults.asking import FaultState


@pytest.fixture
def ask_apart(monkeypatch):
    """Ask a process that does what it is asked for."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    return functools.partial(isolation.ask_apart, device="cpu", module="support.child_with_faults")


def test_an_ended_process_is_an_answer(ask_apart):
    """The signal, the last line of stderr and the exit code are said; the others are asked in a new process."""
    answers = list(ask_apart(["first", "aborts", "second", "exits", "third"]))

    assert [answer.issue for answer in answers] == ["first", "aborts", "second", "exits", "third"]
    right, ended = FaultState.RIGHT, FaultState.ENDED
    assert [answer.state for answer in answers] == [right, ended, right, ended, right]
    assert answers[1].detail == "SIGABRT: MPSNDArray.mm:850: failed assertion"
    assert answers[3].detail == "exit code 3"


def test_a_hanging_process_is_an_answer(ask_apart):
    """A reproducer that does not come back is given up, and those behind it are asked."""
    answers = list(ask_apart(["hangs", "second"], patience_s=0.5))

    assert [answer.state for answer in answers] == [FaultState.NO_ANSWER, FaultState.RIGHT]


def test_a_process_that_does_not_start_is_an_error(ask_apart):
    """That is no answer about the device: the text says what the process said."""
    with pytest.raises(RuntimeError, match="no module named torch"):
        list(ask_apart(["does not start", "second"]))


def test_the_device_answers_and_no_fallback(ask_apart, monkeypatch):
    """PYTORCH_ENABLE_MPS_FALLBACK is not passed on: with it the CPU would answer."""
    monkeypatch.setenv("PYTORCH_ENABLE_MPS_FALLBACK", "1")

    assert [answer.detail for answer in ask_apart(["first"])] == ["unset"]


def test_a_planted_fault_is_found_through_the_process(ask_apart):
    """What the process finds arrives with its measurement: one fault is planted into its CPU, the other is not."""
    planted, absent = "pytorch#190052", "pytorch#98266"
    answers = {answer.issue: answer for answer in ask_apart([planted, absent], module="support.child_with_a_fault")}

    assert answers[planted].state is FaultState.PRESENT
    assert answers[planted].detail.endswith("the first is 16777216 instead of 16777217")
    assert answers[absent].state is FaultState.RIGHT


def test_nothing_to_ask(ask_apart):
    """Without issues no process is started."""
    assert list(ask_apart([])) == []
