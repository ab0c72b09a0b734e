"""The smallest failing size, and the smallest failing inputs."""

import pytest
import torch

from course_utils.numerics import draw
from course_utils.numerics.questions.sizes import doubled, smallest_failing
from course_utils.numerics.report.shrink import shrink


@pytest.mark.parametrize("limit", [1, 2, 5, 63, 64, 99])
def test_smallest_failing_size(limit):
    """Whatever fails from a size on is found exactly, with its right neighbour."""
    found = smallest_failing(lambda size: size > limit, doubled(1, 100))

    assert (found.passed, found.failed) == (limit, limit + 1)


def test_all_right_and_all_wrong():
    """Without a failing size there is none; where all fail there is no right one."""
    assert smallest_failing(lambda size: False, doubled(1, 100)).failed is None
    always = smallest_failing(lambda size: True, doubled(1, 100))
    assert (always.passed, always.failed) == (None, 1)


def test_sizes_that_cannot_be_tried():
    """Sizes that the callable refuses are passed over."""
    found = smallest_failing(lambda size: None if size % 2 else size > 10, (1, 2, 4, 8, 16))

    assert found.failed is not None
    assert found.failed > 10


def test_search_takes_few_tries():
    """Ten thousand sizes need about thirty tries."""
    assert smallest_failing(lambda size: size > 7777, doubled(1, 10_000)).tried < 30


def test_doubled_ends_at_the_largest():
    """The sizes double and the last is the largest."""
    assert doubled(1, 10) == (1, 2, 4, 8, 10)
    assert doubled(1, 1) == (1,)


def test_shrink_finds_the_smallest_matrix():
    """Two dimensions are cut as far as the fault allows."""
    (small,) = shrink((draw(40, 30),), lambda inputs: inputs[0].shape[0] >= 3 and inputs[0].shape[1] >= 2)

    assert tuple(small.shape) == (3, 2)


def test_shrink_keeps_coupled_sizes_together():
    """A size that two inputs share is cut in both, or a product would not run."""

    def fails(inputs):
        left, right = inputs
        return left.shape[1] == right.shape[0] and left.shape[1] >= 2

    left, right = shrink((draw(6, 12), draw(12, 5)), fails)

    assert (left.shape[0], left.shape[1], right.shape[1]) == (1, 2, 1)


def test_shrink_leaves_other_values():
    """What is no tensor stays."""
    small, number = shrink((torch.ones(8), 3), lambda inputs: True)

    assert tuple(small.shape) == (1,)
    assert number == 3
