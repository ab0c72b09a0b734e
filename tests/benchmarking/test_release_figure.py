"""The figure of torch and macOS: a mark for each pair, a sentence for each macOS."""

import pytest

from course_utils.benchmarking.release_figure import NO_WHEEL, OFF, WORKS, plot_releases


def test_each_macos_has_its_sentence(capsys):
    """Every pair has a mark; the sentence names what installs and does not work."""
    figure = plot_releases({"macOS 14": {"2.14": WORKS, "2.15": OFF}, "macOS 26": {"2.14": WORKS, "2.15": WORKS}})
    said = capsys.readouterr().out
    marks = [line for line in figure.axes[0].lines if len(line.get_xdata())]

    assert "macOS 14: torch 2.15 installs without" in said
    assert "macOS 26: no torch" in said
    assert len(marks) == 4


@pytest.mark.parametrize("table", [{}, {"macOS 14": {}}, {"macOS 14": {"2.14": "perhaps"}}])
def test_other_words_are_refused(table):
    """A word without a mark would be an empty place."""
    with pytest.raises(ValueError, match=NO_WHEEL):
        plot_releases(table)
