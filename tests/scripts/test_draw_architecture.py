"""The picture of the house is that of the code, and its floors are those of the import contract."""

import networkx as nx
import pytest
from support.paths import ROOT

from scripts import draw_architecture

LEVELS = draw_architecture.floors((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def graph():
    """Read the course's own rooms."""
    return draw_architecture.room_imports()


def test_the_picture_is_that_of_the_code():
    """The committed picture shows the rooms and arrows of today's imports."""
    assert draw_architecture.main(["--check"]) == 0, "run: make format"


def test_a_new_import_makes_the_picture_outdated(graph, monkeypatch):
    """One more arrow is noticed."""
    changed = graph.copy()
    changed.add_edge("cli", "a_new_room")
    monkeypatch.setattr(draw_architecture, "room_imports", lambda: changed)

    assert draw_architecture.main(["--check"]) == 1


def test_every_room_has_a_floor(graph):
    """The contract places each package once, and every arrow ends on a lower floor, those of lazy imports too."""
    floor = {room: number for number, level in enumerate(LEVELS) for room in level}

    assert sorted(floor) == sorted(graph)
    assert sum(map(len, LEVELS)) == len(floor)
    assert len(LEVELS) <= 6
    assert graph.edges
    assert [(start, end) for start, end in graph.edges if floor[start] <= floor[end]] == []
    assert nx.is_directed_acyclic_graph(graph)


def test_the_drawing_has_all_rooms(graph, tmp_path):
    """Each room's name stands in the drawing as text, and two drawings are the same, byte for byte."""
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        draw_architecture.draw(graph, LEVELS, file)
    text = files[0].read_text(encoding="utf-8")

    assert [room for room in graph if f">{room}</text>" not in text] == []
    assert files[1].read_text(encoding="utf-8") == text
