"""Drift: readings that moved one way are told from readings that merely scatter."""

import random

import pytest

from course_utils.benchmarking.trend import drift


def scattered(n, seed, *, spread=0.05, per_reading=0.0, heavy=False):
    """Draw readings around 1 s, some with the long upper tail that a busy machine gives."""
    draw = random.Random(seed)
    noise = [draw.paretovariate(3) * spread if heavy else draw.gauss(0, spread) for _ in range(n)]
    return [max(1 + per_reading * i + noise[i], 0.01) for i in range(n)]


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("n", [9, 12, 30, 100])
def test_scatter_is_rarely_called_drift(n, heavy):
    """Of 200 steady measurements at most one in fifty is said to drift."""
    found = sum(drift(scattered(n, seed, spread=0.1, heavy=heavy)) is not None for seed in range(200))

    assert found <= 4


@pytest.mark.parametrize(("n", "change"), [(9, 0.3), (30, 0.2), (100, 0.2), (100, -0.2)])
def test_steady_change_is_drift(n, change):
    """A change of a fifth or more over the measurement is found, with the times before and after."""
    found = [drift(scattered(n, seed, spread=0.01, per_reading=change / n)) for seed in range(50)]

    assert all(pair is not None and (pair[1] > pair[0]) == (change > 0) for pair in found)


@pytest.mark.parametrize("times_s", [(1.0,) * 50, (0.0,) * 50, (1.0, 2.0, 3.0), tuple(1 + i / 1000 for i in range(30))])
def test_nothing_to_say(times_s):
    """Equal readings, few readings and small changes are no drift."""
    assert drift(times_s) is None
