"""One parser of nbgrader's markers, which takes the same regions as nbgrader itself."""

from __future__ import annotations

import itertools
import random

import pytest
from support.paths import ROOT

from course_utils.exercises.markers import (
    Marker,
    all_regions,
    find_marker_faults,
    find_regions,
    hidden_lines,
    replace_regions,
)

PIECES = (
    "a = 1",
    "    b = 2",
    "### BEGIN SOLUTION",
    "### END SOLUTION",
    "### BEGIN HIDDEN TESTS",
    "    ### BEGIN HIDDEN TESTS",
    "c = 3  ### BEGIN HIDDEN TESTS",
    "### END HIDDEN TESTS",
    "\t### END HIDDEN TESTS",
    "## BEGIN HIDDEN TESTS",
    "",
)


def without_hidden_by_nbgrader(source: str) -> str | None:
    """Return what nbgrader leaves of a check cell, or None where it refuses the cell."""
    from nbformat.v4 import new_code_cell
    from nbgrader.preprocessors import ClearHiddenTests

    cell = new_code_cell(source)
    try:
        ClearHiddenTests()._remove_hidden_test_region(cell)
    except RuntimeError:
        return None
    return str(cell.source)


def test_regions_are_those_of_nbgrader() -> None:
    """What is left without hidden tests is what nbgrader leaves, for every cell that nbgrader takes."""
    rng = random.Random(4)
    sources = ["\n".join(rng.choices(PIECES, k=rng.randint(1, 9))) for _ in range(600)]
    compared = 0
    for source in sources:
        left = without_hidden_by_nbgrader(source)
        if left is not None:
            assert replace_regions(source, {Marker.HIDDEN_TESTS: ""}) == left, source
            compared += left != source
    assert compared > 50


def test_stub_stands_where_the_solution_stood() -> None:
    """A solution becomes its stub, at its indentation."""
    source = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n    raise Later"
    assert replace_regions(source, {Marker.SOLUTION: "# YOURS"}) == "def f():\n    # YOURS\n    raise Later"


def test_a_region_without_an_end_goes_to_the_end() -> None:
    """Nothing that is marked is left, closed or not, nested or crossed."""
    replaced = replace_regions("a\n  ### BEGIN HIDDEN TESTS\nb", {Marker.HIDDEN_TESTS: "# note"})
    assert replaced == "a\n  # note"
    pieces = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS", "secret")
    orders = list(itertools.permutations(pieces))
    assert len(orders) == 120
    for order in orders:
        source = "\n".join(order)
        covered = any(order.index("secret") + 1 in region.lines for region in all_regions(source))
        assert covered != ("secret" in replace_regions(source, dict.fromkeys(Marker, "")))


def test_hidden_lines_count_the_markers() -> None:
    """Lines are counted from 1; markers are hidden too."""
    source = "a\n    ### BEGIN HIDDEN TESTS\nb\n    ### END HIDDEN TESTS\nc"
    assert hidden_lines(source) == {2, 3, 4}
    (region,) = find_regions(source, Marker.HIDDEN_TESTS)
    assert region.text == "b\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("for n in x:\n    ### BEGIN HIDDEN TESTS\n    y\n    ### END HIDDEN TESTS", "column 0"),
        ("x = 1  ### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "alone in its line"),
        ("### BEGIN HIDDEN TESTS\nx", "never ended"),
        ("x\n### END HIDDEN TESTS", "nothing began"),
        ("### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "inside"),
        ("### BEGIN SOLUTION", "never ended"),
        ("## BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "alone in its line"),
        ("### BEGIN HIDDEN TESTS\r\nx\r\n### END HIDDEN TESTS\r", "alone in its line"),
    ],
)
def test_faults(source: str, said: str) -> None:
    """A marker that reads differently to Python, to nbgrader or to a person is refused."""
    assert any(said in fault for fault in find_marker_faults(source))


def test_the_course_has_no_fault() -> None:
    """Every cell of every solution has markers as they have to be; a solution's may be indented."""
    from course_utils.exercises.notebook import read_cells

    paths = sorted((ROOT / "solutions").glob("*/*.ipynb"))
    sources = [cell.source for path in paths for cell in read_cells(path)]
    assert sum(bool(all_regions(source)) for source in sources) > 50
    assert [fault for source in sources for fault in find_marker_faults(source)] == []
