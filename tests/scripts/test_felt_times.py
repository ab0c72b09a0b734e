"""The benchmark of what a student waits for: a new course each time, ratios to the reference, no time of a failure."""

import sys

import pytest

from benchmarks.felt_times import FELT, REFERENCE, Felt, Reading, measure, rows, time_once

LOOK = "import os, pathlib, sys; assert not os.listdir(pathlib.Path.home()); pathlib.Path('.course').mkdir()"


def test_each_run_has_a_new_course_and_an_empty_home():
    """What a run leaves behind is not there in the next one, and the round that warms up does not count."""
    felt = Felt("look", (sys.executable, "-c", LOOK))
    readings = measure(2, [felt])["look"]

    assert len(readings) == 2
    assert all(one.wall_s > 0 and one.processor_s > 0 for one in readings)


def test_a_command_that_fails_has_no_time():
    """Another exit code than those of its answers is an error with the command's own words."""
    felt = Felt("fails", (sys.executable, "-c", "raise SystemExit('no such lesson')"))

    with pytest.raises(RuntimeError, match=r"fails ended with exit code 1: no such lesson"):
        time_once(felt, {})


def test_ratios_are_those_of_medians():
    """One slow reading moves no ratio; the reference is 1, and stands without a bar."""
    readings = {each.name: [Reading(2.0, 1.0), Reading(2.0, 1.0), Reading(60.0, 9.0)] for each in FELT}
    readings[FELT[2].name] = [Reading(0.5, 0.1), Reading(9.0, 0.1), Reading(0.5, 4.0)]
    table = {row[0]: row for row in rows(readings)[1:]}

    assert table[REFERENCE][2] == table[REFERENCE][6] == "1.00"
    assert table[REFERENCE][-1] == "-"
    assert (table[FELT[2].name][2], table[FELT[2].name][6]) == ("0.25", "0.10")
