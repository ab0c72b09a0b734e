"""Tables of text fit the terminal, and progress bars do."""

import io
import sys

import pytest
from tqdm import tqdm

from course_utils.reporting.progress_bar import BAR
from course_utils.reporting.tables import text_table

ROWS = [["exercise", "next"], ["04_measuring_time", "task 4.1 Median and spread: the list itself is not changed"]]


class Terminal(io.StringIO):
    """Takes text, as a terminal does."""

    def isatty(self):
        """Be one."""
        return True


@pytest.mark.parametrize("columns", [45, 60, 100])
def test_a_table_ends_where_the_terminal_does(columns, monkeypatch):
    """The last column goes on in the next line where the terminal is narrower, and only there; no word is lost."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", Terminal())
    lines = text_table(ROWS, indent="", fit=True)
    whole = text_table(ROWS, indent="")

    assert max(map(len, lines)) <= columns
    assert (lines == whole) == (columns == 100)
    assert lines[0] == whole[0]
    assert " ".join(lines).split() == " ".join(whole).split()


def test_without_a_terminal_a_table_is_as_wide_as_it_is(monkeypatch):
    """What goes into a file or a pipe has one line for each row."""
    monkeypatch.setenv("COLUMNS", "45")
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    assert text_table(ROWS, indent="", fit=True) == text_table(ROWS, indent="")


def test_a_bar_has_room_in_a_narrow_terminal():
    """At 60 columns, a quarter of the line is left for the bar, beside a long name."""
    written = io.StringIO()
    with tqdm(total=15, desc="13_profile_and_kernels", bar_format=BAR, file=written, ncols=60, ascii=" #") as bar:
        bar.update(15)
    line = written.getvalue().split("\r")[-1].rstrip()

    assert len(line) <= 60
    assert line.count("#") >= 13
    assert "15 of 15" in line
