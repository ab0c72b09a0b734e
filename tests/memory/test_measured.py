"""The yardstick: the profiler's records of what torch allocates on the CPU."""

import pytest
import torch

from course_utils.memory.measured import measure_cpu_peak


def test_the_peak_is_what_was_alive_together():
    """Two tensors alive together count both; a third after one was freed does not."""

    def work():
        first = torch.empty(2**20)
        second = torch.empty(2**20)
        del first
        return second, torch.empty(2**18)

    assert measure_cpu_peak(work) == 2 * 4 * 2**20


def test_nothing_allocated():
    """A callable that allocates nothing is refused: it was not measured on the CPU."""
    with pytest.raises(RuntimeError, match="no allocation"):
        measure_cpu_peak(lambda: None)
