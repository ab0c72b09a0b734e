"""The stopwatch: what it counts is what was called, also when the time ends in the middle."""

import gc
import time

import pytest

from course_utils.benchmarking.stopwatch import Stopwatch


def stopwatch(fn, *, limit_s=60.0):
    """Make a stopwatch for a callable without a device."""
    return Stopwatch(fn, (), wait=lambda: None, clock=time.perf_counter, limit_s=limit_s)


@pytest.mark.parametrize("last", [1, 2, 50, 1000])
def test_the_end_comes_after_the_running_call(last):
    """A measurement that ends during a call counts that call and makes no other."""
    calls = []

    def work():
        calls.append(1)
        if len(calls) == last:
            watch.end()

    with stopwatch(work) as watch:
        _, made = watch.run(1000)

        assert made == len(calls) == last
        assert watch.over
        assert watch.run(1000)[1] == 1


def test_readings_of_different_lengths():
    """Each reading makes the calls that it is asked for."""
    calls = []
    with stopwatch(lambda: calls.append(1)) as watch:
        for n in (1, 10, 3, 3):
            before = len(calls)
            assert watch.run(n)[1] == n == len(calls) - before


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_as_before(collecting):
    """It is off during the calls and afterwards as it was, also when the callable raises."""
    seen = []

    def work():
        seen.append(gc.isenabled())
        raise KeyError

    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(KeyError), stopwatch(work) as watch:
            watch.run(3)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False]
