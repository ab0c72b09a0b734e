"""Arrange the boxes of a graph without cycles in layers, so that every arrow points down and few of them cross.

After Sugiyama, Tagawa and Toda, 1981: layers by the longest path, places for arrows that pass a layer, then an order
within each layer by the mean position of the neighbours. The same graph always gives the same arrangement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Graph = Mapping[str, frozenset[str]]

SWEEPS = 24


@dataclass(frozen=True)
class Place:
    """A place in a layer: a box, or a point that an arrow passes.

    Args:
        box: the box's name; of a passing arrow, the box that it comes from.
        passes_to: the box that a passing arrow leads to; None for a box.
        layer: 0 is the uppermost, where the arrow is.
    """

    box: str
    passes_to: str | None
    layer: int


@dataclass(frozen=True)
class Layout:
    """An arrangement.

    Args:
        layers: the places of each layer from left to right, the uppermost layer first.
        arrows: for each (from, to), the places that the arrow touches, both boxes included.
    """

    layers: tuple[tuple[Place, ...], ...]
    arrows: Mapping[tuple[str, str], tuple[Place, ...]]


def find_cycle(graph: Graph) -> tuple[str, ...] | None:
    """Find a way that leads back to its beginning, such as ("a", "b", "a"); None where there is none."""
    done: set[str] = set()

    def follow(box: str, way: tuple[str, ...]) -> tuple[str, ...] | None:
        if box in way:
            return (*way[way.index(box) :], box)
        if box in done:
            return None
        for goal in sorted(graph[box]):
            cycle = follow(goal, (*way, box))
            if cycle:
                return cycle
        done.add(box)
        return None

    for box in sorted(graph):
        cycle = follow(box, ())
        if cycle:
            return cycle
    return None


def refuse_circles(graph: Graph) -> None:
    """Raise where arrows lead in a circle.

    Raises:
        ValueError: with the circle.
    """
    cycle = find_cycle(graph)
    if cycle:
        raise ValueError(f"arrows lead in a circle: {' -> '.join(cycle)}; one of them has to go")


def reachable(graph: Graph, start: str) -> set[str]:
    """List what can be reached from a box, itself left out."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        box = waiting.pop()
        if box not in found:
            found.add(box)
            waiting += graph[box]
    return found


def without_shortcuts(graph: Graph) -> dict[str, frozenset[str]]:
    """Leave out the arrows that follow from others: a -> c where a -> b -> c.

    Raises:
        ValueError: when arrows lead in a circle; the message names it.
    """
    refuse_circles(graph)
    below = {box: reachable(graph, box) for box in graph}
    return {
        box: frozenset(goal for goal in goals if not any(goal in below[other] for other in goals))
        for box, goals in graph.items()
    }


def layers_of(graph: Graph) -> dict[str, int]:
    """Give each box its layer: as high as its users allow, 0 where nobody uses it.

    Raises:
        ValueError: when arrows lead in a circle; the message names it.
    """
    refuse_circles(graph)
    users = {box: [other for other in graph if box in graph[other]] for box in graph}
    layer: dict[str, int] = {}

    def layer_of(box: str) -> int:
        if box not in layer:
            layer[box] = max((layer_of(user) + 1 for user in users[box]), default=0)
        return layer[box]

    return {box: layer_of(box) for box in sorted(graph)}


def arrange(graph: Graph) -> Layout:
    """Arrange a graph.

    Args:
        graph: box -> the boxes that its arrows lead to; all of them are keys.

    Raises:
        ValueError: when arrows lead in a circle.
    """
    layer = layers_of(graph)
    arrows: dict[tuple[str, str], tuple[Place, ...]] = {}
    rows: list[list[Place]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for box in sorted(graph):
        rows[layer[box]].append(Place(box, None, layer[box]))
    for box in sorted(graph):
        for goal in sorted(graph[box]):
            passing = [Place(box, goal, between) for between in range(layer[box] + 1, layer[goal])]
            for place in passing:
                rows[place.layer].append(place)
            arrows[box, goal] = (Place(box, None, layer[box]), *passing, Place(goal, None, layer[goal]))
    ordered = _fewest_crossings(rows, list(arrows.values()))
    return Layout(tuple(tuple(row) for row in ordered), arrows)


def crossings(rows: Sequence[Sequence[Place]], arrows: Sequence[Sequence[Place]]) -> int:
    """Count the pairs of arrows that cross between neighbouring layers."""
    position = {place: index for row in rows for index, place in enumerate(row)}
    count = 0
    steps = sorted({(start, end) for arrow in arrows for start, end in pairwise(arrow)}, key=str)
    for index, (start, end) in enumerate(steps):
        for other_start, other_end in steps[index + 1 :]:
            if start.layer == other_start.layer:
                left = position[start] - position[other_start]
                right = position[end] - position[other_end]
                count += left * right < 0
    return count


def _fewest_crossings(rows: list[list[Place]], arrows: Sequence[Sequence[Place]]) -> list[list[Place]]:
    """Order each layer by its neighbours, downwards and upwards in turns, and keep the best order seen."""
    above: dict[Place, list[Place]] = {}
    below: dict[Place, list[Place]] = {}
    for arrow in arrows:
        for start, end in pairwise(arrow):
            above.setdefault(end, []).append(start)
            below.setdefault(start, []).append(end)
    best, fewest = [list(row) for row in rows], crossings(rows, arrows)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for index in range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1):
            fixed = rows[index - 1] if downwards else rows[index + 1]
            where = {place: (number + 0.5) / len(fixed) for number, place in enumerate(fixed)}
            _sort_by_neighbours(rows[index], where, neighbours)
        count = crossings(rows, arrows)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    return best


def _sort_by_neighbours(
    row: list[Place], where: Mapping[Place, float], neighbours: Mapping[Place, Sequence[Place]]
) -> None:
    """Sort one layer by the mean position of each place's neighbours; places without any keep theirs."""
    wanted = {}
    for index, place in enumerate(row):
        near = [where[other] for other in neighbours.get(place, ()) if other in where]
        wanted[place] = sum(near) / len(near) if near else (index + 0.5) / len(row)
    row.sort(key=lambda place: wanted[place])


def positions(layout: Layout, width_of: Mapping[str, float], *, gap: float, passing_width: float) -> dict[Place, float]:
    """Give each place its middle, from left to right: near those of its neighbours, in the order of its layer.

    Args:
        layout: the arrangement.
        width_of: the width of each box.
        gap: the room between two places.
        passing_width: the width that an arrow needs where it passes a layer.

    Returns:
        The x of each place's middle; the leftmost edge is at 0.
    """

    def width(place: Place) -> float:
        return width_of[place.box] if place.passes_to is None else passing_width

    near: dict[Place, list[Place]] = {place: [] for row in layout.layers for place in row}
    for arrow in layout.arrows.values():
        for start, end in pairwise(arrow):
            near[start].append(end)
            near[end].append(start)
    x: dict[Place, float] = {}
    for row in layout.layers:
        full = sum(width(place) + gap for place in row)
        offset = -full / 2
        for place in row:
            x[place] = offset + width(place) / 2
            offset += width(place) + gap
    for sweep in range(SWEEPS):
        for row in layout.layers if sweep % 2 == 0 else reversed(layout.layers):
            wanted = [sum(x[other] for other in near[place]) / len(near[place]) if near[place] else 0 for place in row]
            apart = [(width(left) + width(right)) / 2 + gap for left, right in pairwise(row)]
            x |= dict(zip(row, spread(wanted, apart), strict=True))
    left = min((x[place] - width(place) / 2 for place in x), default=0.0)
    return {place: value - left for place, value in x.items()}


def spread(wanted: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Place points as near to their wanted places as their order and distances allow (least squares).

    Args:
        wanted: where each point would like to be.
        apart: the least distance between each point and the next; one fewer than points.
    """
    shift = [0.0]
    for distance in apart:
        shift.append(shift[-1] + distance)
    # pool neighbours whose order is violated: isotonic regression of wanted - shift
    pools: list[tuple[float, int]] = []
    for place, moved in zip(wanted, shift, strict=False):
        mean, count = place - moved, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, count = (other * others + mean * count) / (others + count), others + count
        pools.append((mean, count))
    flat = [mean for mean, count in pools for _ in range(count)]
    return [value + moved for value, moved in zip(flat, shift, strict=False)]
