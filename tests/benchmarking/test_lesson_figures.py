"""Figures of toy timelines, counts, rates and formats: what they draw is what they say, and no colour is alone."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex
from support.described_timings import sweep

from course_utils.benchmarking import figure, lesson_figures
from course_utils.benchmarking.toy_device import ToyDevice
from course_utils.data.published import published_times
from course_utils.reporting.wrapped import SENTENCE_WIDTH


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen."""
    plt.switch_backend("agg")


def said(capsys):
    """Return what was printed, without its line breaks."""
    return " ".join(capsys.readouterr().out.split())


def toy(steps):
    made = ToyDevice(launch_s=0.002)
    for _ in range(steps):
        made.load(0.001)
        made.launch(work_s=0.004)
    made.synchronize()
    return made


COUNTS = {"as it was": {"reads": 12, "copies": 3}, "repaired": {"reads": 0, "copies": 2}}
FIGURES = {
    "timeline": lambda: lesson_figures.plot_timeline({"one": toy(2), "other": toy(3)}, title="toys"),
    "counts": lambda: lesson_figures.plot_counts(COUNTS, title="counts", what="host waits"),
    "rates": lambda: lesson_figures.plot_rates({"forward": sweep([1, 2], [2, 1])}, things="images", title="rates"),
    "formats": lambda: lesson_figures.plot_number_formats([torch.float16, torch.bfloat16], title="formats"),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_faces_titles_and_sentences(draw, capsys):
    """Each figure has white faces of its own, a title and a sentence; pyplot keeps none open."""
    drawn = draw()
    titles = [drawn.get_suptitle(), *(axes.get_title() for axes in drawn.axes)]

    assert to_hex(drawn.get_facecolor()) == "#ffffff"
    assert {to_hex(axes.get_facecolor()) for axes in drawn.axes} == {"#ffffff"}
    assert any(titles)
    assert said(capsys)
    assert plt.get_fignums() == []


def test_timeline_says_when_each_ended(capsys):
    """Two pieces of 4 ms after 1 ms of preparing and 2 ms of queueing end after 11 ms."""
    lesson_figures.plot_timeline({"two pieces": toy(2)}, title="a toy")

    assert "two pieces: all done after 11 toy ms, of which the device worked 8." in said(capsys)


def test_counts_are_drawn_and_said(capsys):
    """The bars of a row add up to its counts, and no two kinds share colour and hatch."""
    axes = lesson_figures.plot_counts(COUNTS, title="counted", what="host waits").axes[0]
    drawn = [[bar.get_width() for bar in kind] for kind in axes.containers]
    looks = {(to_hex(kind[0].get_facecolor()), kind[0].get_hatch()) for kind in axes.containers}

    assert drawn == [[12, 0], [3, 2]]
    assert len(looks) == len({look[0] for look in looks}) == len({look[1] for look in looks}) == 2
    assert "as it was: 15 host waits (reads: 12, copies: 3)." in said(capsys)


@pytest.mark.parametrize("rows", [{}, {"a": {}}, {"a": {"reads": 1}, "b": {"copies": 1}}])
def test_counts_that_do_not_fit_together(rows):
    """Nothing to draw, or rows of other kinds, is one clear sentence."""
    with pytest.raises(ValueError, match=r"nothing to draw|same kinds"):
        lesson_figures.plot_counts(rows, title="counted", what="host waits")


def test_rates_divide_sizes_by_times(capsys):
    """A line holds size / time at each size; published lines are hollow and name their source."""
    published = published_times("resnet50-batches-m1")
    axes = lesson_figures.plot_rates(
        {"forward": sweep([0.5, 0.5], None, sizes=[1, 4])}, things="images", title="rates", published=published
    ).axes[0]
    measured, *others = axes.lines

    assert list(measured.get_ydata()) == [2, 8]
    assert others
    assert {to_hex(line.get_markerfacecolor()) for line in others} == {"#ffffff"}
    assert to_hex(measured.get_markerfacecolor()) != "#ffffff"
    assert "torch-mps-benchmark" in said(capsys)
    assert axes.get_ylim()[0] == 0


def test_formats_show_where_digits_are_lost():
    """float16's steps stop shrinking below its smallest normal number, 2**-14, and begin with 2**-24."""
    axes = lesson_figures.plot_number_formats([torch.float16], title="float16").axes[0]
    sizes, steps = (list(values) for values in axes.lines[0].get_data())

    assert sizes[:2] == [2**-24, 2**-14]
    assert steps[:2] == [2**-24, 2**-24]
    assert sizes[2] == 65504


def test_a_sentence_waits_for_the_end_of_the_cell(monkeypatch, capsys):
    """In a notebook the sentence is printed after the cell, once, and no word is broken."""
    callbacks = []

    class Events:
        def register(self, event, callback):
            callbacks.append((event, callback))

        def unregister(self, event, callback):
            callbacks.remove((event, callback))

    class Shell:
        events = Events()

    monkeypatch.setattr(figure, "_running_shell", Shell)
    figure.say_below("word " * 60 + "github.com/a/rather/long/address/that/is/one/word")
    assert capsys.readouterr().out == ""
    ((event, callback),) = callbacks
    callback(None)
    printed = capsys.readouterr().out

    assert event == "post_run_cell"
    assert callbacks == []
    assert max(map(len, printed.splitlines())) <= SENTENCE_WIDTH
    assert printed.split() == ["word"] * 60 + ["github.com/a/rather/long/address/that/is/one/word"]
