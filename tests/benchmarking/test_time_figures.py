"""Figures of times: what they draw is what they say."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from course_utils.benchmarking import time_figures as figures


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen."""
    plt.switch_backend("agg")


def said(capsys):
    """Return what was printed, without its line breaks."""
    return " ".join(capsys.readouterr().out.split())


def test_lines_meet_at_the_break_even(capsys):
    """Eager and compiled calls have taken the same time in the middle of the figure, where the sentence says."""
    drawn = figures.plot_break_even(1.03, 0.01, 0.03, title="one function")

    eager, compiled = (line.get_data() for line in drawn.axes[0].lines)
    assert list(eager[0]) == list(compiled[0]) == pytest.approx([1, 102])
    assert list(eager[1]) == pytest.approx([0.03, 102 * 0.03])
    assert list(compiled[1]) == pytest.approx([1.03, 1.03 + 101 * 0.01])
    assert "starts at 1.03 s" in (sentence := said(capsys))
    assert "at about 51 calls" in sentence
    assert plt.get_fignums() == []


@pytest.mark.parametrize("later_s", [0.03, 0.05])
def test_lines_that_do_not_meet(capsys, later_s):
    """Where a compiled call takes as long as an eager one, no number of calls is named."""
    figures.plot_break_even(1.0, later_s, 0.03, title="one function")

    assert "do not meet" in said(capsys)


def test_times_side_by_side(capsys):
    """Each time is a bar with its number."""
    drawn = figures.plot_times({"slow": 0.002, "fast": 0.0005}, title="two", what="for one call")

    assert [bar.get_width() for bar in drawn.axes[0].patches] == [2.0, 0.5]
    assert said(capsys) == "slow: 2 ms. fast: 0.5 ms."
    assert to_hex(drawn.get_facecolor()) == "#ffffff"


def test_waiting_and_working(capsys):
    """The parts of an epoch lie one behind the other."""
    drawn = figures.plot_waiting({"no workers": (0.03, 0.01)}, title="an epoch", what="for 10 pictures")

    waiting, working = drawn.axes[0].patches
    assert (waiting.get_width(), working.get_x(), working.get_width()) == (30, 30, 10)
    assert said(capsys) == "no workers: 40 ms, of which the steps waited 75%."
