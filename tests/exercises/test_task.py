"""Checks: yours beside expected, shape and dtype first, nothing raises, and no trick of the result decides."""

import collections
import enum
import errno
import math

import numpy as np
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
        (None, 0.0, "None, which is no number"),
        (torch.tensor(2.0), torch.tensor(3.0), "2"),
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


class Way(enum.IntEnum):
    """An enum whose members are numbers."""

    TWO = 2


Pair = collections.namedtuple("Pair", "first second")
SAME = [
    (np.int64(512), 512),
    (np.float32(0.1), 0.1),
    (np.bool_(True), True),
    (np.str_("mps"), "mps"),
    (torch.tensor(3), 3),
    (torch.tensor(2.5), 2.5),
    (torch.tensor(True), True),
    (Way.TWO, 2),
    (collections.OrderedDict(a=1), {"a": 1}),
    (collections.defaultdict(int, a=np.int64(1)), {"a": 1}),
    (collections.Counter("aab"), {"a": 2, "b": 1}),
    ({np.str_("a"): [Way.TWO]}, {"a": [2]}),
    (Pair(1, 2.0), (1, 2)),
    ([torch.tensor(1.5), np.float64(2)], [1.5, 2.0]),
    (10**400, 10**400),
]
DIFFERENT = [
    (True, 1),
    (np.bool_(True), 1),
    (torch.tensor([3]), 3),
    ("3", 3),
    (10**400, 3),
    (10**5000, 3.5),
    (-(10**400), 0.0),
    (1 + 0j, 1),
    (torch.empty(2, device="meta"), torch.zeros(2)),
    (torch.tensor(math.nan), 1.0),
    (None, 0),
    ({1, 2}, [1, 2]),
]


@pytest.mark.parametrize(("yours", "expected"), SAME, ids=range(len(SAME)))
def test_what_means_the_same_is_the_same(yours, expected):
    """Kinds of dict, tuple and number that say nothing else are compared as what they mean."""
    assert find_difference(yours, expected) is None


@pytest.mark.parametrize(("yours", "expected"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_other_values_are_refused_without_an_error(yours, expected):
    """Whatever it is, a wrong answer fails its check, and the sentence names its type."""
    task = Task("t", points=1)
    task.check("x", yours=lambda: yours, expected=expected)
    task.check("y", yours=lambda: expected, expected=expected)

    assert [outcome.passed for outcome in task.outcomes] == [False, True]
    assert task.outcomes[0].yours
