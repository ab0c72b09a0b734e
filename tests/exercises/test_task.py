"""Checks: yours beside expected, shape and dtype first, nothing raises, and no trick of the result decides."""

import errno
import math

import pytest
import torch

from course_utils.exercises import task as checks
from course_utils.exercises.task import Failure, Task, find_difference


class AlwaysEqual:
    """A result that claims to equal everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


@pytest.mark.parametrize(
    "value",
    [1, 2.5, True, None, "text", [1, [2, 3]], {"a": 1.0, "b": [None]}, torch.arange(3), math.nan, math.inf, ()],
)
def test_a_value_equals_itself(value):
    """The right answer has no difference, whatever its kind."""
    assert find_difference(value, value) is None


@pytest.mark.parametrize(
    ("yours", "expected", "word"),
    [
        (AlwaysEqual(), 4, "AlwaysEqual"),
        (AlwaysEqual(), "fine", "AlwaysEqual"),
        (AlwaysEqual(), [1], "AlwaysEqual"),
        (AlwaysEqual(), torch.ones(1), "AlwaysEqual"),
        (True, 1, "bool"),
        (1, True, "1"),
        ("1", 1, "str"),
        (None, 0.0, "NoneType"),
        ([1, 2], [1, 2, 3], "2 long"),
        ([1, 5], [1, 2], "[1]"),
        ({"a": 1}, {"a": 1, "b": 2}, "keys"),
        ({"a": 1}, {"a": 2}, "['a'] 1"),
        (1.01, 1.0, "1.01"),
        (math.nan, 1.0, "nan"),
        (torch.ones(1, 2), torch.ones(2), "shape (1, 2)"),
        (torch.ones(2, dtype=torch.int64), torch.ones(2), "torch.int64"),
        (torch.tensor([[1.0, 2.0], [3.0, 9.0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "9 at (1, 1)"),
        (torch.tensor([math.nan]), torch.tensor([1.0]), "nan"),
    ],
)
def test_a_wrong_value_is_shown(yours, expected, word):
    """A wrong answer is shown beside the right one, with what differs first."""
    difference = find_difference(yours, expected)

    assert difference is not None
    assert word in difference[0]


def test_score_is_the_share_of_checks_passed(capsys):
    """Three of four checks passed earn three quarters of the points, as a float."""
    task = Task("1", points=8)
    for value in (1, 2, 3, 99):
        task.check(f"value {value}", yours=lambda value=value: value, expected=min(value, 3))

    assert task.score() == 6.0
    assert "3 of 4 checks passed" in capsys.readouterr().out


def test_nothing_raises():
    """Whatever a student's code raises loses the check and lets the notebook go on."""

    def broken():
        raise KeyError("x")

    def unwritten():
        raise NotImplementedError("task 1: write it")

    task = Task("1", points=1)
    task.check("broken", yours=broken, expected=1)
    task.check("unwritten", yours=unwritten, raises=RuntimeError)

    assert task.score() == 0.0
    assert "KeyError" in task.outcomes[0].yours
    assert "not written yet" in task.outcomes[1].yours


def test_expected_exceptions():
    """A check may ask for an exception: the right one passes, another or none does not."""

    def raises(error):
        raise error

    task = Task("1", points=3)
    task.check("right", yours=lambda: raises(ValueError("no")), raises=ValueError)
    task.check("other", yours=lambda: raises(TypeError("no")), raises=ValueError)
    task.check("none", yours=lambda: 1, raises=ValueError)

    assert [outcome.passed for outcome in task.outcomes] == [True, False, False]
    assert task.outcomes[2].yours == "returned 1"


def test_zero_points_are_allowed():
    """A task worth nothing scores 0.0 of 0."""
    task = Task("practice", points=0)
    task.check("right", yours=lambda: 1, expected=1)

    assert task.score() == 0.0


def test_a_task_without_checks_has_no_score():
    """A task that checks nothing must not give points for silence."""
    with pytest.raises(ValueError, match="no checks"):
        Task("empty", points=1).score()


def test_negative_points_are_refused():
    """Points below zero are a mistake of the author."""
    with pytest.raises(ValueError, match="-1 points"):
        Task("1", points=-1)


def test_long_answers_are_cut():
    """A huge answer is shown in part."""
    difference = find_difference("x" * 10_000, "y")

    assert len(difference[0]) <= checks.LONGEST_SHOWN


def test_expected_values_must_be_plain():
    """An expected value that cannot be compared fairly is the author's mistake, said at once."""
    with pytest.raises(TypeError, match="cannot compare with a object"):
        find_difference(1, object())


def test_why_a_check_failed_is_decided_by_what_was_raised():
    """A text never decides: neither one that is returned nor one of an error."""

    def give(answer):
        if isinstance(answer, Exception):
            raise answer
        return answer

    answers = {
        "MPS backend out of memory: you tried to allocate 2 GiB": Failure.DIFFERENT,
        "not written yet (todo)": Failure.DIFFERENT,
        RuntimeError("you tried to allocate 2 GiB"): Failure.RAISED,
        NotImplementedError("todo"): Failure.NOT_WRITTEN,
        MemoryError(): Failure.OUT_OF_MEMORY,
        OSError(errno.ENOMEM, "no memory"): Failure.OUT_OF_MEMORY,
        torch.OutOfMemoryError("x"): Failure.OUT_OF_MEMORY,
        3: None,
    }
    task = Task("t", points=1)
    for answer in answers:
        task.check("x", yours=lambda answer=answer: give(answer), expected=3)

    assert [outcome.failure for outcome in task.outcomes] == list(answers.values())
