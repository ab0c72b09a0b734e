"""Tables of text fit the terminal, and progress bars do."""

import io

import pytest
from tqdm import tqdm

from course_utils.reporting.progress_bar import BAR
from course_utils.reporting.tables import text_table

ROWS = [["exercise", "next"], ["04_measuring_time", "task 4.1 Median and spread: the list itself is not changed"]]


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_table_ends_where_the_terminal_does(columns, monkeypatch):
    """The last column is cut where the terminal is narrower, and only there."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = text_table(ROWS, indent="", fit=True)
    whole = text_table(ROWS, indent="")

    assert max(map(len, lines)) == min(columns, max(map(len, whole)))
    assert (lines == whole) == (columns == 100)
    assert lines[0] == whole[0]


def test_a_bar_has_room_in_a_narrow_terminal():
    """At 60 columns, a third of the line is left for the bar, beside a long name."""
    written = io.StringIO()
    with tqdm(total=15, desc="13_profile_and_kernels", bar_format=BAR, file=written, ncols=60, ascii=" #") as bar:
        bar.update(15)
    line = written.getvalue().split("\r")[-1].rstrip()

    assert len(line) <= 60
    assert line.count("#") >= 20
    assert "15 of 15" in line
