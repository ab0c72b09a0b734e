"""Every reproducer of a public fault finds that fault when it is planted, and blames no honest device."""

from contextlib import contextmanager

import pytest
import torch
from support.other_rounding import Rounding
from support.planted_known_faults import PLANTED, planted

from course_utils.data.known_faults import all_known_faults, known_fault
from course_utils.emulation import emulated_mps
from course_utils.numerics.known_faults.asking import FaultState, ask, judge_values
from course_utils.numerics.known_faults.judging import difference
from course_utils.numerics.known_faults.reproducer import CPU
from course_utils.numerics.known_faults.suite import all_reproducers

REPRODUCERS = all_reproducers()
each_reproducer = pytest.mark.parametrize("issue", sorted(REPRODUCERS))
pytestmark = pytest.mark.filterwarnings("ignore:index_reduce", "ignore:Sparse invariant checks", "ignore:TF32")


def test_at_least_a_hundred_are_asked_on_any_machine():
    """A hundred faults are asked without large tensors; each has data, a reproducer and a plant."""
    asked = {fault.id for fault in all_known_faults() if fault.not_asked is None}
    small = {issue for issue in asked if known_fault(issue).needs_gib is None}

    assert len(small) >= 100
    assert asked == set(REPRODUCERS) == set(PLANTED)


@each_reproducer
def test_finds_the_planted_fault(issue):
    """With its fault planted in the CPU's kernels a reproducer says "present"; without it, "right"."""
    reproducer = REPRODUCERS[issue]
    right = reproducer.expected(small=True)
    honest = judge_values(reproducer, reproducer.observe(CPU, small=True), right)
    with planted(issue):
        got = reproducer.observe(CPU, small=True)
    faulty = judge_values(reproducer, got, right)

    assert honest.state is FaultState.RIGHT, honest.detail
    assert faulty.state is FaultState.PRESENT
    assert faulty.detail


HONEST = {
    "two threads": lambda: threads(2),
    "without oneDNN": lambda: torch.backends.mkldnn.flags(enabled=False),
    "other rounding": Rounding,
}


@contextmanager
def threads(number):
    """Compute with a number of threads for the length of the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("device", HONEST)
@each_reproducer
def test_blames_no_honest_device(issue, device):
    """More threads, other algorithms and other rounding are no fault."""
    reproducer = REPRODUCERS[issue]
    right = reproducer.expected(small=True)
    with HONEST[device]():
        got = reproducer.observe(CPU, small=True)
    answer = judge_values(reproducer, got, right)

    assert answer.state is FaultState.RIGHT, answer.detail


# sparse tensors are not emulated; copying to the CPU as float64 is refused on MPS since torch 2.13
NOT_EMULATED = {"pytorch#196190", "pytorch#197715"}
# a fault of torch's Python code, which the emulated device has as well (torch 2.14.1)
IN_PYTHON = {"pytorch#127676"}


@pytest.mark.slow
def test_runs_on_a_device_of_its_own():
    """On the emulated MPS, which refuses mixed devices and float64, every reproducer gets to its answer."""
    with emulated_mps(missing="record"):
        answers = {issue: ask(REPRODUCERS[issue], torch.device("mps"), small=True) for issue in sorted(REPRODUCERS)}
    by_state = {state: {i for i, answer in answers.items() if answer.state is state} for state in FaultState}

    assert by_state[FaultState.RAISES] == NOT_EMULATED
    assert by_state[FaultState.PRESENT] == IN_PYTHON
    assert len(by_state[FaultState.RIGHT]) == len(REPRODUCERS) - len(NOT_EMULATED | IN_PYTHON)


@pytest.mark.parametrize(
    ("got", "right", "tolerance", "agrees"),
    [
        ([1.0, float("nan")], [1.0, float("nan")], 0, True),
        ([1.0, 2.0], [1.0, float("nan")], 0, False),
        ([float("inf")], [float("inf")], 1e-3, True),
        ([float("inf")], [1.0], 1e-3, False),
        ([2**62 + 1], [2**62], 0, False),
        (torch.ones(2, 3), 1.0, 0, True),
        (torch.ones(2, 3), [1.0, 1.0], 0, False),
        (torch.tensor([1 + 1e-5j]), [[1.0, 0.0]], 1e-4, True),
        (torch.tensor([1 + 1e-3j]), [[1.0, 0.0]], 1e-4, False),
        ((torch.ones(2), True), (1.0, False), 0, False),
        ([torch.ones(2), torch.zeros(2)], [[1.0, 1.0], [0.0, 0.0]], 0, True),
        (torch.conj(torch.tensor([1j])).imag, [-1.0], 0, True),
    ],
)
def test_values_are_compared_as_they_stand(got, right, tolerance, agrees):
    """NaN equals NaN, infinity needs itself, large integers are not rounded, shapes have to agree."""
    assert (difference(got, right, tolerance) is None) == agrees
