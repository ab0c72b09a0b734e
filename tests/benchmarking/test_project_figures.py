"""Figures of errors, memory and runs: what they draw is what they say, and no colour is alone."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

from course_utils.benchmarking import project_figures as figures

PARTS = {"batch 1": {"weights": 3.0, "activations": 1.0}, "batch 8": {"weights": 3.0, "activations": 9.0}}
DRAWN = {
    "errors": lambda: figures.plot_errors(
        [16, 64], {"one": [1.0, 5.0]}, {"one": [2.0, 4.0]}, {"too simple": [0.5, 0.5]}
    ),
    "budgets": lambda: figures.plot_budgets(
        {
            "8 GB": {"recommended": 5, "RAM": 8, "hard limit": 9},
            "64 GB": {"recommended": 30, "RAM": 64, "hard limit": 51},
        }
    ),
    "parts": lambda: figures.plot_memory_parts(PARTS, title="parts"),
    "resumed": lambda: figures.plot_resumed([4.0, 3.0, 2.0, 1.0], {"all": [2.0, 1.0], "none": [2.5, 1.0]}, title="run"),
    "readings": lambda: figures.plot_readings({"before": [4.0, 5.0, 6.0], "after": [1.0, 2.0, 9.0]}, title="steps"),
    "images": lambda: figures.show_images(torch.zeros(2, 8, 8), [3, 4], title="digits"),
}


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen."""
    plt.switch_backend("agg")


def said(capsys):
    """Return what was printed, without its line breaks."""
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_faces_titles_and_sentences(draw, capsys):
    """Each figure has a white face of its own, a title and a sentence; pyplot keeps none open."""
    drawn = draw()

    assert to_hex(drawn.get_facecolor()) == "#ffffff"
    assert any([drawn.get_suptitle(), *(axes.get_title() for axes in drawn.axes)])
    assert said(capsys)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("errors", "1 of 2 honest errors lie above the line of the rule with both terms; 2 lie above the dotted line"),
        ("budgets", "above the RAM on 1 of these 2 Macs"),
        ("parts", "batch 1: 4 MiB, of which weights are 75 %. batch 8: 12 MiB, of which activations are 75 %."),
        ("resumed", "at most 0.000 from the run that was not interrupted. Resumed with none: at most 0.5"),
        ("readings", "before: median 5.00 ms of 3 readings, half of them from 4.00 to 6.00."),
        ("images", "2 images; their labels are 3, 4."),
    ],
)
def test_sentences_are_computed(name, sentence, capsys):
    """Each sentence says what this material shows."""
    DRAWN[name]()

    assert sentence in said(capsys)


def test_resumed_runs_begin_where_they_were_saved():
    """A resumed run of two steps is drawn over the last two of four."""
    (axes,) = DRAWN["resumed"]().axes
    drawn = {line.get_label(): list(line.get_xdata()) for line in axes.lines}

    assert drawn["resumed with all"] == [3, 4]
    assert drawn["not interrupted"] == [1, 2, 3, 4]


def test_bars_of_parts_end_at_a_hundred_per_cent():
    """The parts of each bar are shares of its own total."""
    (axes,) = DRAWN["parts"]().axes
    ends = sorted(patch.get_x() + patch.get_width() for patch in axes.patches)

    assert ends[-2:] == pytest.approx([100, 100])
    assert len({patch.get_hatch() for patch in axes.patches}) == 2


def test_parts_have_to_be_the_same():
    """A bar with other parts than the first is refused by a sentence."""
    with pytest.raises(ValueError, match="weights, activations"):
        figures.plot_memory_parts(PARTS | {"batch 9": {"weights": 1.0}}, title="parts")
