"""The one parser of nbgrader's markers: regions of a cell that are for instructors only.

A marker is a piece of a line, as in nbgrader 0.9.6 (`ClearSolutions`, `ClearHiddenTests`, `ClearMarkScheme`): every
line that contains "BEGIN SOLUTION" begins a region, wherever it stands in the line, and the next line that contains
"END SOLUTION" ends it. The course asks for more than nbgrader does: see `find_marker_faults`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Marker(Enum):
    """A kind of region; its value has the words that nbgrader looks for, and the line as the course writes it."""

    SOLUTION = ("SOLUTION", "### {} SOLUTION")
    HIDDEN_TESTS = ("HIDDEN TESTS", "### {} HIDDEN TESTS")
    MARK_SCHEME = ("MARK SCHEME", "=== {} MARK SCHEME ===")

    @property
    def begin(self) -> str:
        """The words that begin a region."""
        return f"BEGIN {self.value[0]}"

    @property
    def end(self) -> str:
        """The words that end a region."""
        return f"END {self.value[0]}"

    def line(self, word: str) -> str:
        """Return a marker as the course writes it; the word is BEGIN or END."""
        return self.value[1].format(word)


@dataclass(frozen=True)
class Region:
    """A marked part of a cell.

    Args:
        marker: what it is.
        first: the number of the line that begins it, from 1.
        last: the number of the line that ends it; of the cell's last line where nothing ends it.
        text: the lines between, each with its line feed.
        closed: whether a line ends it.
    """

    marker: Marker
    first: int
    last: int
    text: str
    closed: bool = True

    @property
    def lines(self) -> range:
        """The numbers of its lines, markers included."""
        return range(self.first, self.last + 1)


def find_regions(source: str, marker: Marker) -> tuple[Region, ...]:
    r"""Return the regions of one kind, in order.

    >>> [region.text for region in find_regions("a\n### BEGIN SOLUTION\nb\n### END SOLUTION", Marker.SOLUTION)]
    ['b\n']
    """
    lines = source.split("\n")
    found: list[Region] = []
    first = 0
    for number, line in enumerate(lines, start=1):
        if marker.begin in line:
            first = first or number
        elif marker.end in line and first:
            found.append(_region(marker, lines, first, number, closed=True))
            first = 0
    if first:
        found.append(_region(marker, lines, first, len(lines), closed=False))
    return tuple(found)


def _region(marker: Marker, lines: list[str], first: int, last: int, *, closed: bool) -> Region:
    inside = lines[first : last - 1 if closed else last]
    return Region(marker, first, last, "".join(f"{line}\n" for line in inside), closed)


def all_regions(source: str) -> tuple[Region, ...]:
    """Return the regions of every kind, in the order of their first lines."""
    found = [region for marker in Marker for region in find_regions(source, marker)]
    return tuple(sorted(found, key=lambda region: region.first))


def hidden_lines(source: str) -> frozenset[int]:
    """Return the numbers of the lines of hidden tests, from 1, markers included."""
    return frozenset(number for region in find_regions(source, Marker.HIDDEN_TESTS) for number in region.lines)


def replace_regions(source: str, replacements: dict[Marker, str]) -> str:
    """Return a cell's text without some kinds of regions; a stub stands at the indentation of each first line.

    A region that nothing ends goes to the cell's last line: nothing that is marked is ever left.

    Args:
        source: the cell's text.
        replacements: for each kind that goes, the stub; an empty text for none.
    """
    lines = source.split("\n")
    regions = [region for region in all_regions(source) if region.marker in replacements]
    marked = {number for region in regions for number in region.lines}
    begins = {region.first: region for region in reversed(regions)}
    kept: list[str] = []
    covered = 0
    for number, line in enumerate(lines, start=1):
        region = begins.get(number)
        if region is not None and number > covered and replacements[region.marker]:
            kept.append(line[: len(line) - len(line.lstrip())] + replacements[region.marker])
        covered = max(covered, region.last if region is not None else 0)
        # nbgrader takes away a line that ends what nothing began
        if number not in marked and not any(marker.end in line for marker in replacements):
            kept.append(line)
    return "\n".join(kept)


def find_marker_faults(source: str) -> Iterator[str]:
    """Yield what is wrong with a cell's markers, one sentence for each.

    Every marker has a line of its own and a partner. Markers of hidden tests and mark schemes begin in column 0, so
    that no statement of Python is hidden in part.
    """
    for marker in Marker:
        open_line = 0
        for number, line in enumerate(source.split("\n"), start=1):
            word = "BEGIN" if marker.begin in line else "END" if marker.end in line else ""
            if not word:
                continue
            written = marker.line(word)
            if line.strip(" \t") != written:
                yield f"line {number} is a marker to nbgrader and is not written {written!r}, alone in its line"
            elif marker is not Marker.SOLUTION and line != written:
                yield f"the marker {written!r} in line {number} is indented; it has to begin in column 0"
            if word == "BEGIN" and open_line:
                yield f"the marker {written!r} in line {number} stands inside the region of line {open_line}"
            elif word == "END" and not open_line:
                yield f"the marker {written!r} in line {number} ends what nothing began"
            open_line = number if word == "BEGIN" else 0
        if open_line:
            yield f"the marker {marker.line('BEGIN')!r} in line {open_line} is never ended; add {marker.line('END')!r}"
