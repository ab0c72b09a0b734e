"""Figures of attention: what they draw is what they say."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

from course_utils.benchmarking import attention_figures as figures

MIB = 2**20


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen."""
    plt.switch_backend("agg")


def said(capsys):
    """Return what was printed, without its line breaks."""
    return " ".join(capsys.readouterr().out.split())


def test_where_the_last_token_looks(capsys):
    """The image has a row for each token; the sentence names the place that the last one looks at most."""
    weights = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [0.25, 0.6, 0.15]])

    drawn = figures.plot_attention(weights, "a b", title="one head")

    image = drawn.axes[0].images[0]
    assert torch.equal(torch.tensor(image.get_array().tolist()), weights)
    assert [tick.get_text() for tick in drawn.axes[0].get_yticklabels()] == ["a", "\u2423", "b"]
    assert "'b', gives 60% to '\u2423', 1 place before. Above the diagonal" in said(capsys)
    assert to_hex(drawn.get_facecolor()) == "#ffffff"
    assert plt.get_fignums() == []


def test_a_future_that_is_seen_is_said(capsys):
    """Weights above the diagonal are not called 0."""
    figures.plot_attention(torch.full((2, 2), 0.5), "ab", title="no mask")

    assert "are 0" not in said(capsys)


def test_weights_need_a_row_for_each_token():
    """Another shape is refused, with both numbers."""
    with pytest.raises(ValueError, match=r"3 tokens .* \(2, 2\)"):
        figures.plot_attention(torch.eye(2), "abc", title="one head")


def test_bytes_over_length(capsys):
    """Measured bytes are marks, predicted ones lines; the sentence says how much each measured series grew."""
    drawn = figures.plot_bytes_over_length(
        [64, 128, 256], {"kept": [MIB, 4 * MIB, 16 * MIB]}, {"formula": [MIB, 4 * MIB, 16 * MIB]}, title="kept"
    )

    styles = [(line.get_linestyle(), line.get_marker()) for line in drawn.axes[0].lines]
    assert styles == [("-", "None"), ("None", "o")]
    assert [list(line.get_ydata()) for line in drawn.axes[0].lines] == [[1, 4, 16], [1, 4, 16]]
    assert "From 64 to 256 tokens, 4 times as many: kept: 1.00 to 16.00 MiB, 16 times." in said(capsys)
