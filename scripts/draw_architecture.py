"""Draw docs/architecture.svg, the rooms of course_utils and which imports which, from the imports in the code.

    python -m scripts.draw_architecture            # after a change of imports
    python -m scripts.draw_architecture --check    # exit code 1 when the drawing is not that of the code

Floors come from the import contract in pyproject.toml, arrows from the code, imports inside functions included. What is
compared is the list of rooms and arrows, which the SVG keeps in its description: coordinates differ between versions
of matplotlib.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path

import grimp
import matplotlib as mpl
import networkx as nx
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "architecture.svg"
PACKAGE = "course_utils"
WIDTH, HEIGHT = 2.2, 0.7  # of a room's box, in units of the drawing


def floors(project: str) -> list[list[str]]:
    """Return the rooms of each floor of the import contract in a pyproject.toml, the lowest floor first."""
    (contract,) = tomllib.loads(project)["tool"]["importlinter"]["contracts"]
    return [[room.strip() for room in layer.split("|")] for layer in reversed(contract["layers"])]


def room_imports(package: str = PACKAGE) -> nx.DiGraph:
    """Return the graph of rooms: an arrow from each room to each that it imports."""
    code = grimp.build_graph(package, cache_dir=None)
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(child.removeprefix(f"{package}.") for child in code.find_children(package)))
    for importer in sorted(code.modules - {package}):
        for imported in sorted(code.find_modules_directly_imported_by(importer) - {package}):
            graph.add_edge(importer.split(".")[1], imported.split(".")[1])
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def description(graph: nx.DiGraph) -> str:
    """Return the rooms and arrows as text, such as "cli > grading; ..."; the same on every Python and matplotlib."""
    return "; ".join(f"{room} > {', '.join(sorted(graph[room])) or 'nothing'}" for room in sorted(graph))


def places(levels: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Return the middle of each room's box, floors below one another, each floor centred."""
    return {
        room: ((column - (len(level) - 1) / 2) * 2.8, 1.7 * row)
        for row, level in enumerate(levels)
        for column, room in enumerate(level)
    }


def draw(graph: nx.DiGraph, levels: list[list[str]], output: Path) -> None:
    """Write the picture; arrows that follow from others are left out, all are in the description."""
    middles = places(levels)
    figure = Figure(figsize=(11, 8))
    axes = figure.add_axes((0, 0, 1, 1))
    for start, end in nx.transitive_reduction(graph).edges:
        (x0, y0), (x1, y1) = middles[start], middles[end]
        arrow = {"arrowstyle": "->", "color": "#555555"}
        axes.annotate("", (x1, y1 + HEIGHT / 2), (x0, y0 - HEIGHT / 2), arrowprops=arrow, zorder=1)
    for room, (x, y) in middles.items():
        corner, size = (x - WIDTH / 2, y - HEIGHT / 2), (WIDTH, HEIGHT)
        axes.add_patch(Rectangle(corner, *size, facecolor="#f4f6f8", edgecolor="#222222", linewidth=1.2, zorder=2))
        axes.text(x, y, room, ha="center", va="center", fontsize=13, fontweight="bold", zorder=3)
    axes.set(xlim=(-5.8, 5.8), ylim=(-0.7, 1.7 * len(levels) - 0.9))
    axes.set_axis_off()
    with mpl.rc_context({"svg.hashsalt": PACKAGE, "svg.fonttype": "none"}):
        figure.savefig(output, metadata={"Date": None, "Creator": None, "Description": description(graph)})


def main(arguments: list[str] | None = None) -> int:
    """Draw, or compare the drawing with the code; exit code 1 when they differ."""
    parser = argparse.ArgumentParser(description="Draw docs/architecture.svg from the imports in the code.")
    parser.add_argument("--check", action="store_true", help="draw nothing; exit code 1 when the drawing is outdated")
    check = parser.parse_args(arguments).check
    graph = room_imports()
    if check:
        found = re.search(r"<dc:description>(.*?)</dc:description>", OUTPUT.read_text(encoding="utf-8"), re.DOTALL)
        current = found is not None and found[1].replace("&gt;", ">") == description(graph)
        print("docs/architecture.svg is " + ("that of the code" if current else "outdated; run `make format`"))
        return 0 if current else 1
    draw(graph, floors((ROOT / "pyproject.toml").read_text(encoding="utf-8")), OUTPUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
