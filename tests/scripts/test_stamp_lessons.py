"""Stamping lessons: a row says when, where and with which torch, and only a run to the end changes it."""

import datetime
import json

import pytest
import torch
from support.paths import ROOT

from scripts.stamp_lessons import NOT_ON_A_MAC, Entry, main, parse_row, read_row, stamp

LINUX = Entry("2.14.1", "Linux", "CPU", "2026-11-30")
MAC = Entry("2.15.0", "macOS 15.6", "MPS", "2026-12-05")
TODAY = datetime.date(2026, 12, 24)


@pytest.mark.parametrize(
    ("row", "entries"),
    [
        (f"{LINUX}; {NOT_ON_A_MAC}", (LINUX,)),
        (f"{LINUX}; {MAC}", (LINUX, MAC)),
        (str(MAC), (MAC,)),
    ],
)
def test_rows_in_form(row, entries):
    """A row is read back into the machines that it names."""
    assert parse_row(row).entries == entries
    assert str(parse_row(row)) == row


@pytest.mark.parametrize(
    "row",
    [
        "",
        NOT_ON_A_MAC,
        "yesterday",
        str(LINUX),  # says nothing of Macs
        f"{LINUX}; not yet run on CUDA",
        f"{NOT_ON_A_MAC}; {LINUX}",
        f"{MAC}; {NOT_ON_A_MAC}",
        f"{LINUX}; {LINUX}; {NOT_ON_A_MAC}",
        "torch 2.14 on Linux (CPU), 2026-11-30; not yet run on a Mac",
        "torch 2.14.1 on Linux (CPU), 2026-13-30; not yet run on a Mac",
    ],
)
def test_rows_that_are_not_in_form(row):
    """Anything else is refused."""
    with pytest.raises(ValueError):  # noqa: PT011  # three wordings, all of them about this row
        parse_row(row)


def test_a_mac_s_proof_stays():
    """A run on Linux replaces the entry of Linux and leaves the Mac's, and the other way round."""
    later = Entry("2.15.0", "Linux", "CPU", "2027-01-01")

    assert stamped(f"{LINUX}; {NOT_ON_A_MAC}", later) == f"{later}; {NOT_ON_A_MAC}"
    assert stamped(f"{LINUX}; {MAC}", later) == f"{later}; {MAC}"
    assert stamped(f"{LINUX}; {NOT_ON_A_MAC}", MAC) == f"{LINUX}; {MAC}"
    assert stamped(str(MAC), LINUX) == f"{LINUX}; {MAC}"


def test_what_a_lesson_says_itself_stays():
    """A lesson's own words about its devices and about CUDA outlast a stamp; a Mac takes only "Mac" away."""
    row = f"torch 2.14.1 on Linux (CPU, two processes), 2026-11-30; {NOT_ON_A_MAC}, nor on CUDA"

    assert stamped(row, Entry("2.15.0", "Linux", "CPU", "2027-01-01")) == (
        f"torch 2.15.0 on Linux (CPU, two processes), 2027-01-01; {NOT_ON_A_MAC}, nor on CUDA"
    )
    assert stamped(row, MAC) == f"torch 2.14.1 on Linux (CPU, two processes), 2026-11-30; {MAC}; not yet run on CUDA"


def stamped(row, entry):
    return str(parse_row(row).stamped(entry))


def lesson(folder, code, row=f"{LINUX}; {NOT_ON_A_MAC}"):
    """Write a small lesson."""
    card = f"# 42 Small\n\n| | |\n|---|---|\n| **Time** | 1 minute |\n| **Last verified** | {row} |\n\nText."
    cells = [
        {"cell_type": "markdown", "id": "l42-title", "metadata": {}, "source": card},
        {"cell_type": "code", "id": "l42-run", "metadata": {}, "source": code, "outputs": [], "execution_count": None},
    ]
    folder.mkdir(exist_ok=True)
    path = folder / "42_small.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return path


def test_a_lesson_that_runs_is_stamped(tmp_path):
    """After a run to the end the row has this torch, this system and the day; nothing else of the text changes."""
    path = lesson(tmp_path / "notebooks", "print(1 + 1)")
    new = stamp(path, TODAY)
    notebook = json.loads(path.read_text(encoding="utf-8"))

    assert read_row(notebook) == new
    assert f"torch {torch.__version__.partition('+')[0]} on " in new
    assert "2026-12-24" in new
    text = "".join(notebook["cells"][0]["source"])
    assert text.replace(new, "ROW").endswith("| **Last verified** | ROW |\n\nText.")
    assert notebook["cells"][1]["outputs"] == []


def test_a_lesson_that_fails_keeps_its_row(tmp_path, capsys):
    """A cell that raises leaves the file as it was, to the byte, and the exit code is 1."""
    path = lesson(tmp_path / "notebooks", "1 / 0")
    before = path.read_bytes()

    assert main([], root=tmp_path) == 1
    assert "42_small.ipynb: not stamped, ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_row_out_of_form_stops_before_the_run(tmp_path):
    """A row that could not be written is noticed before anything runs."""
    path = lesson(tmp_path / "notebooks", f"open({str(tmp_path / 'ran')!r}, 'w').close()", row="long ago")

    with pytest.raises(ValueError, match="not in form"):
        stamp(path, TODAY)
    assert not (tmp_path / "ran").exists()


def test_check_looks_at_the_form_only(tmp_path, capsys):
    """--check runs nothing: a failing lesson in form is fine, another one is named."""
    lesson(tmp_path / "notebooks", "1 / 0")
    assert main(["--check"], root=tmp_path) == 0
    lesson(tmp_path / "notebooks", "1", row="long ago")
    assert main(["--check"], root=tmp_path) == 1
    assert "'long ago' is not in form" in capsys.readouterr().err


def test_the_lessons_are_in_form():
    """Every lesson of the course has a row in form."""
    assert main(["--check"], root=ROOT) == 0


def test_an_unknown_lesson(tmp_path, capsys):
    """A lesson that does not exist is wrong usage, with those that do."""
    lesson(tmp_path / "notebooks", "1")
    with pytest.raises(SystemExit) as stopped:
        main(["07"], root=tmp_path)

    assert stopped.value.code == 2
    assert "no lesson 07; there are 42" in capsys.readouterr().err
