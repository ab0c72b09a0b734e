"""Draw docs/architecture.svg, the course's rooms and who uses whom, from the imports in the code.

    python -m scripts.draw_architecture            # after a change of imports
    python -m scripts.draw_architecture --check    # exit code 1 when the drawing is not that of the code

The drawing depends on the code alone, so a test compares it. It fails where arrows lead in a circle.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from scripts.layered_layout import Layout, Place, arrange, positions, without_shortcuts
from scripts.read_imports import EXERCISES, LESSONS, OUTSIDE, House, Room, read_house

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "architecture.svg"

# Okabe-Ito; what a colour says, a letter says too
MARKS = {LESSONS: ("L", "#0072B2"), EXERCISES: ("E", "#D55E00"), "torch": ("T", "#444444")}
MARK_WORDS = {
    LESSONS: "used by a lesson",
    EXERCISES: "used by an exercise",
    "torch": "imports torch or torchvision itself",
}
FONT = "system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif"
INK, ARROW, PAPER, FRAME = "#222222", "#555555", "#ffffff", "#222222"
BOX_HEIGHT, LAYER_HEIGHT, GAP, PASSING_WIDTH, MARGIN = 48, 96, 14, 6, 16
TOP = 112  # the row of lessons, exercises and the legend


def marks_of(room: Room, house: House) -> list[str]:
    """List the marks of a room: who of the notebooks uses it, and whether it imports torch."""
    marks = [name for name in (LESSONS, EXERCISES) if name in house.rooms and room.name in house.rooms[name].uses]
    return marks + (["torch"] if room.outside & {"torch", "torchvision"} else [])


def size_words(room: Room) -> str:
    """Say how many files a room has."""
    kind = "notebook" if room.name in (LESSONS, EXERCISES) else "file"
    return f"{room.files} {kind}{'s' if room.files > 1 else ''}"


def box_width(room: Room, marks: Sequence[str]) -> float:
    """Estimate how wide a room's box has to be, in units of the drawing, for its name, size and marks."""
    return max(10.2 * len(room.name), 6.8 * len(size_words(room)) + 17 * len(marks)) + 20


def text(x: float, y: float, words: str, *, size: int = 12, bold: bool = False, anchor: str = "start") -> str:
    """Write a line of text."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def mark(x: float, y: float, name: str) -> str:
    """Draw a mark, a letter in a coloured square, with its left upper corner at (x, y)."""
    letter, colour = MARKS[name]
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="14" height="14" rx="2" fill="{colour}"/>'
        f'<text x="{x + 7:.1f}" y="{y + 11:.1f}" font-size="11" font-weight="600" text-anchor="middle" '
        f'fill="#ffffff">{letter}</text>'
    )


def box(x: float, y: float, room: Room, marks: Sequence[str]) -> list[str]:
    """Draw a room whose upper edge is at y and whose middle is at x."""
    width = box_width(room, marks)
    left = x - width / 2
    package = ' stroke-width="2.4"' if room.files > 1 else ' stroke-width="1.2"'
    return [
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="6" fill="#f4f6f8" '
        f'stroke="{FRAME}"{package}/>',
        text(left + 10, y + 19, room.name, size=14, bold=True),
        text(left + 10, y + 38, size_words(room), size=11),
        *(mark(left + width - 9 - 17 * (len(marks) - index), y + 28, name) for index, name in enumerate(marks)),
    ]


def arrow(points: Sequence[tuple[float, float]]) -> str:
    """Draw an arrow down through points, vertical at each of them."""
    (x, y), *rest = points
    path = f"M{x:.1f},{y:.1f}"
    for next_x, next_y in rest:
        middle = (y + next_y) / 2
        path += f" C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{next_y:.1f}"
        x, y = next_x, next_y
    tip = f"M{x - 4:.1f},{y - 1:.1f} L{x + 4:.1f},{y - 1:.1f} L{x:.1f},{y + 7:.1f} Z"
    return f'<path d="{path}" fill="none" stroke="{ARROW}" stroke-width="1.3"/><path d="{tip}" fill="{ARROW}"/>'


def arrow_points(
    places: Sequence[Place], x: dict[Place, float], layout: Layout, widths: dict[str, float]
) -> list[tuple[float, float]]:
    """List the points that an arrow goes through: out of a box, along each layer that it passes, into a box.

    Arrows leave and enter a box side by side, in the order of where they come from and lead to.
    """
    start, end = places[0], places[-1]
    out = sorted((p for p in layout.arrows.values() if p[0] == start), key=lambda p: (x[p[1]], p[-1].box))
    into = sorted((p for p in layout.arrows.values() if p[-1] == end), key=lambda p: (x[p[-2]], p[0].box))

    def port(place: Place, arrows: Sequence[Sequence[Place]]) -> float:
        share = (list(arrows).index(places) + 1) / (len(arrows) + 1) - 0.5
        return x[place] + share * (widths[place.box] - 16)

    points = [(port(start, out), top_of(start.layer) + BOX_HEIGHT)]
    for place in places[1:-1]:
        points += [(x[place], top_of(place.layer)), (x[place], top_of(place.layer) + BOX_HEIGHT)]
    return [*points, (port(end, into), top_of(end.layer) - 8)]


def top_of(layer: int) -> float:
    """Give the upper edge of a layer's boxes."""
    return TOP + layer * LAYER_HEIGHT


def drawn(house: House) -> dict[str, frozenset[str]]:
    """List the arrows that are drawn: between rooms of course_utils, without those that follow from others."""
    graph = {name: room.uses for name, room in house.rooms.items() if name not in (LESSONS, EXERCISES)}
    return without_shortcuts(graph)


def description(house: House) -> str:
    """Say in words what the drawing shows, for readers who cannot see it."""
    arrows = [f"{name} uses {', '.join(sorted(goals))}" for name, goals in sorted(drawn(house).items()) if goals]
    return "Rooms of the course in layers; every arrow points down. " + "; ".join(arrows) + "."


def draw(house: House) -> str:
    """Draw a house as SVG.

    Raises:
        ValueError: when arrows lead in a circle.
    """
    layout = arrange(drawn(house))
    widths = {name: box_width(room, marks_of(room, house)) for name, room in house.rooms.items()}
    x = {
        place: value + MARGIN
        for place, value in positions(layout, widths, gap=GAP, passing_width=PASSING_WIDTH).items()
    }
    parts = _top_row(house)
    for places in layout.arrows.values():
        parts.append(arrow(arrow_points(places, x, layout, widths)))
    for row in layout.layers:
        for place in row:
            if place.passes_to is None:
                room = house.rooms[place.box]
                parts += box(x[place], top_of(place.layer), room, marks_of(room, house))
    right = max(x[place] + (widths[place.box] / 2 if place.passes_to is None else 0) for place in x) + MARGIN
    width = max(right, 860)
    bottom = top_of(len(layout.layers) - 1) + BOX_HEIGHT + 30
    notes = _notes(house)
    height = bottom + 18 * len(notes) + 10
    parts += [text(MARGIN, bottom + 18 * index, note) for index, note in enumerate(notes)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-labelledby="title description" font-family="{FONT}" fill="{INK}">',
            '<title id="title">The rooms of the course, and who uses whom</title>',
            f'<desc id="description">{escape(description(house))}</desc>',
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _top_row(house: House) -> list[str]:
    """Draw the notebooks, which use rooms by marks and not by arrows, and the legend."""
    parts: list[str] = []
    left: float = MARGIN
    for name in (LESSONS, EXERCISES):
        room = house.rooms[name]
        parts += box(left + box_width(room, [name]) / 2, 22, room, [name])
        left += box_width(room, [name]) + GAP
    for index, (name, words) in enumerate(MARK_WORDS.items()):
        parts += [mark(left + 6, 20 + 18 * index, name), text(left + 28, 31 + 18 * index, words)]
    right = left + 28 + 250
    parts += [
        text(right, 31, "An arrow points to what is used."),
        text(right, 49, "Left out: arrows that follow from others."),
        text(right, 67, "A heavy frame is a package."),
    ]
    return parts


def _notes(house: House) -> list[str]:
    """Write the lines below the drawing."""
    outside = sorted({package for room in house.rooms.values() for package in room.outside}, key=OUTSIDE.index)
    notes = [f"Below all of it: {', '.join(outside)}, and Python's own library."]
    notes += [
        f"{package} passes on a name of {room} (loaded on first use); it works without it, so this is no arrow."
        for package, room in sorted(house.passed_on)
    ]
    return notes


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, or compare.

    Returns:
        0 when the drawing is (now) that of the code, 1 when --check found another one, or arrows lead in a circle.
    """
    parser = argparse.ArgumentParser(description="Draw the course's rooms from its imports.")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if the drawing is out of date")
    checking = parser.parse_args(arguments).check
    try:
        svg = draw(read_house(ROOT))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if OUTPUT.exists() and OUTPUT.read_text(encoding="utf-8") == svg:
        return 0
    if checking:
        print(f"{OUTPUT.name} is not what the code says; run: python -m scripts.draw_architecture", file=sys.stderr)
        return 1
    OUTPUT.write_text(svg, encoding="utf-8")
    print(f"drawn: {OUTPUT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
