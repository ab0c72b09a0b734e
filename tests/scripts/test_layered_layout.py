"""The layout: layers follow the arrows, shortcuts go, few arrows cross, boxes do not overlap."""

from itertools import pairwise

import pytest

from scripts.layered_layout import arrange, crossings, find_cycle, layers_of, positions, spread, without_shortcuts


def graph(**arrows):
    """Write a graph as a="b c"."""
    return {box: frozenset(goals.split()) for box, goals in arrows.items()}


def test_layers_follow_the_longest_path():
    """A box stands below all that use it."""
    assert layers_of(graph(a="b c", b="c", c="", d="c")) == {"a": 0, "b": 1, "c": 2, "d": 0}


def test_a_circle_is_refused_by_name():
    """Arrows in a circle are an error that names the way."""
    circle = graph(a="b", b="c", c="b")

    assert find_cycle(circle) == ("b", "c", "b")
    for use in (layers_of, without_shortcuts, arrange):
        with pytest.raises(ValueError, match="b -> c -> b"):
            use(circle)


def test_shortcuts_are_left_out():
    """An arrow that follows from others goes; what can be reached stays the same."""
    assert without_shortcuts(graph(a="b c d", b="c", c="d", d="")) == graph(a="b", b="c", c="d", d="")


def test_arrows_touch_each_layer_once():
    """A long arrow has a place in every layer that it passes, each below the one before."""
    layout = arrange(graph(a="b d", b="c", c="d", d=""))

    assert [place.layer for place in layout.arrows["a", "d"]] == [0, 1, 2, 3]


def test_crossings_are_undone():
    """Two arrows that would cross in alphabetical order do not in the layout."""
    crossed = graph(a="z", b="y", y="", z="")
    layout = arrange(crossed)

    assert crossings(layout.layers, list(layout.arrows.values())) == 0


def test_spread_keeps_order_and_distance():
    """Points get their wish where it is free, and share the pain where it is not."""
    assert spread([0.0, 10.0], [2.0]) == [0.0, 10.0]
    assert spread([5.0, 5.0], [2.0]) == [4.0, 6.0]
    assert spread([9.0, 1.0, 20.0], [1.0, 1.0]) == [4.5, 5.5, 20.0]


def test_boxes_do_not_overlap():
    """Neighbours in a layer keep the gap, and the leftmost edge is at 0."""
    layout = arrange(graph(a="c d e", b="c", c="", d="", e=""))
    x = positions(layout, dict.fromkeys("abcde", 10.0), gap=2.0, passing_width=1.0)

    for row in layout.layers:
        middles = [x[place] for place in row]
        assert all(right - left >= 12 - 1e-9 for left, right in pairwise(middles))
    assert min(x.values()) == pytest.approx(5.0)
