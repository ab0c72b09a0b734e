"""Late work is found by the school's own timestamps alone, whatever zone they are in, and takes no points."""

from datetime import UTC, datetime

import pytest
from support.paths import ROOT

from course_utils.cli import main as cli
from course_utils.cli.grade import unknown_times
from course_utils.grading.lateness import lateness, read_time
from course_utils.grading.reading.submission import Submission

DUE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "late"),
    [
        ("2026-03-01 11:59:59 UTC", False),
        ("2026-03-01 12:00:00 UTC", False),
        ("2026-03-01 12:00:01 UTC", True),
        ("2026-03-01 12:00:01.123456 UTC", True),
        ("2026-03-01 12:30:00 +0100", False),
        ("2026-03-01 13:30:00 +0100", True),
        ("2026-03-01T12:30:00+01:00", False),
        ("2026-03-01 12:00:01", True),  # nbgrader means UTC
        ("yesterday", False),
        ("2026-02-31 12:00:00 UTC", False),
    ],
)
def test_nbgrader_s_timestamp(text, late):
    """A timestamp.txt is read in its zone; what is not a time says nothing."""
    assert bool(lateness(Submission("ada", {}, handed_in=text), DUE)) == late


def test_a_platform_s_zip():
    """The time in a learning platform's zip counts where no timestamp.txt is."""
    after = Submission("ada", {}, submitted_s=DUE.timestamp() + 1)

    assert lateness(after, DUE).startswith("late: handed in 2026-0")
    assert lateness(Submission("ada", {}, submitted_s=DUE.timestamp()), DUE) == ""
    assert lateness(after, None) == ""
    both = Submission("ada", {}, handed_in="2026-03-01 11:00:00 UTC", submitted_s=after.submitted_s)
    assert lateness(both, DUE) == ""


def test_nobody_is_late_without_a_time():
    """Where the time is not known nobody is late, and a sentence says of whom."""
    unknown = [Submission(f"s{n}", {}) for n in range(7)]

    assert {lateness(one, DUE) for one in unknown} == {""}
    (told,) = unknown_times([*unknown, Submission("ada", {}, handed_in="2026-03-01 11:00:00 UTC")], DUE)
    assert "7 submissions" in told
    assert told.endswith("s0, s1, s2, s3, s4 and 2 more")
    assert unknown_times(unknown, None) == []


@pytest.mark.parametrize("text", ["2026-03-01", "2026-03-01 23:59", "2026-03-01T23:59:30", "2026-03-01 23:59 +0100"])
def test_due_dates(text):
    """A date alone means its end; a time may have a zone."""
    due = read_time(text)

    assert due is not None
    assert due.tzinfo is not None
    assert (due.minute, read_time("2026-03-01").hour) == (59, read_time("2026-03-01 23:59").hour)


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "01.03.2026", "2026-03-01 25:00", ""])
def test_a_due_date_that_is_none(text, capsys, tmp_path, monkeypatch):
    """What is not a time is one sentence with the value and exit code 2."""
    monkeypatch.chdir(ROOT)
    assert cli.main(["grade", "04", "--from", str(tmp_path), "--due", text]) == 2
    assert f"--due is {text!r}" in capsys.readouterr().err
