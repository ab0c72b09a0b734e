"""A made-up Mac's report changes the sentences that carry a mark, and no others; a report that proves nothing, none."""

import json
import re
import shutil

import pytest
from support.described_machines import UNAVAILABLE
from support.found import found
from support.made_up_report import DATE, doctor, write_report
from support.paths import ROOT

from course_utils.doctor.anonymous import Sender
from course_utils.doctor.archive import write_archive
from scripts.apply_mac_report import DOCUMENTS, MARK, WIDTH, MarkError, main, with_evidence
from scripts.mac_evidence import evidence, read_report
from scripts.stamp_lessons import NOT_ON_A_MAC, read_row

MACHINE = "Apple M3 Pro, macOS 15.6.1, torch 2.14.1"


@pytest.fixture
def course(tmp_path):
    """Return a copy of what the script may change."""
    for pattern in (*DOCUMENTS, "notebooks/*.ipynb"):
        for path in ROOT.glob(pattern):
            target = tmp_path / "course" / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return tmp_path / "course"


def texts(course):
    """Return every file of a copy by its path."""
    return {str(path.relative_to(course)): path.read_text(encoding="utf-8") for path in found(course.rglob("*.*"))}


def proved(folder, **options):
    """Return what a made-up report proves."""
    return evidence(read_report(write_report(folder, **options)))


def test_the_whole_course(course, tmp_path, capsys):
    """After a whole report no mark and no card without a Mac is left, and a second time there is nothing to do."""
    before = texts(course)
    report = write_report(tmp_path / "made-up")
    assert main([str(report), "--dry-run"], course) == 0
    listed = capsys.readouterr().out
    assert texts(course) == before

    assert main([str(report)], course) == 0
    after = texts(course)
    assert capsys.readouterr().out.splitlines()[:-1] == listed.splitlines()[:-1]
    changed = [name for name in before if before[name] != after[name]]
    assert "README.md" in changed
    assert all(name in listed for name in changed)
    assert not any(MARK.search(text) or NOT_ON_A_MAC in text for name, text in after.items() if ".ipynb" in name)
    assert not any(MARK.search(after[name]) for name in changed)
    assert MACHINE in " ".join(after["README.md"].split())
    assert "1 of 2 got full points" in " ".join(after["docs/grading.md"].split())
    new = {line for name in changed if name.endswith(".md") for line in after[name].splitlines()}
    old = {line for text in before.values() for line in text.splitlines()}
    assert max(len(line) for line in found(new - old)) <= WIDTH

    assert main([str(report)], course) == 1
    assert texts(course) == after


def test_the_archive_says_the_same(course, tmp_path, capsys):
    """What a reader sends allows what the folder allows."""
    folder = write_report(tmp_path / "made-up")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_archive(files, tmp_path / "sent.zip", Sender("/Users/grete", "grete"))

    assert main([str(folder), "--dry-run"], course) == 0
    from_folder = capsys.readouterr().out
    assert main([str(tmp_path / "sent.zip"), "--dry-run"], course) == 0
    assert capsys.readouterr().out == from_folder


def test_only_what_ran(course, tmp_path):
    """A lesson that failed keeps its card; a step that was stopped or did not run keeps its sentences."""
    bad = "notebooks.04_measuring_time.ipynb"
    report = write_report(tmp_path / "part", steps=("doctor", "lessons", "tests"), timed_out=("tests",), failed=(bad,))
    assert main([str(report)], course) == 0

    rows = {path.name: read_row(json.loads(path.read_text())) for path in found((course / "notebooks").glob("*.ipynb"))}
    assert [name for name, row in rows.items() if NOT_ON_A_MAC in row] == ["04_measuring_time.ipynb"]
    assert f"torch 2.14.1 on macOS 15.6.1 (MPS), {DATE}" in rows["00_start_here.ipynb"]
    steps = [found["steps"].split(", ") for text in texts(course).values() for found in MARK.finditer(text)]
    assert steps
    assert all({"tests", "grading", "known"} & set(names) for names in steps)


@pytest.mark.parametrize(
    "changes",
    [
        {"doctor.json": doctor(UNAVAILABLE)},
        {"doctor.json": doctor({"system": "Linux"})},
        {"doctor.json": doctor({"chip": "Apple M3 <b>Pro</b>"})},
        {"doctor.json": doctor({"torch": "2.14 (see http://x)"})},
        {"doctor.json": doctor({"os_version": "15 | x"})},
        {"doctor.json": None},
        {"doctor.json": "{"},
        {"state.json": "[]"},
        {"state.json": '{"doctor": {"code": 0, "seconds": 1, "answered": true, "date": "soon", "timed_out": false}}'},
    ],
)
def test_a_report_that_proves_nothing(course, tmp_path, capsys, changes):
    """No Mac, no MPS, an unknown chip, a version that is none, a broken file: exit code 2, a sentence, no change."""
    before = texts(course)

    assert main([str(write_report(tmp_path / "made-up", changes))], course) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert texts(course) == before


def test_no_archive(course, tmp_path, capsys):
    """Something else than a report is named."""
    (tmp_path / "x.zip").write_bytes(b"x")

    assert main([str(tmp_path / "x.zip")], course) == 2
    assert "x.zip" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["known.json", "lessons.xml", "grading.json", "tests.xml"])
def test_a_broken_part_is_left_out(course, tmp_path, capsys, name):
    """What one step left broken changes nothing, is said, and keeps nothing else from changing."""
    report = write_report(tmp_path / "made-up", {name: "broken"})

    assert main([str(report), "--dry-run"], course) == 0
    said = capsys.readouterr()
    assert name in said.err
    assert "README.md" in said.out


THEN = "<!-- after doctor on a Mac: It ran ({machine}). -->"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"Not yet.{THEN} More.", f"It ran ({MACHINE}). More."),
        (f"Before.\n\nNot\nyet.{THEN}\n\nAfter\nit.\n", f"Before.\n\nIt ran ({MACHINE}).\n\nAfter\nit.\n"),
        (f"Stays. <!-- from here -->Not yet.{THEN} More.", f"Stays. It ran ({MACHINE}). More."),
        (f"- One.\n- Not\n  yet.{THEN} More.\n- Three.\n", f"- One.\n- It ran ({MACHINE}). More.\n- Three.\n"),
        (f"1. One.\n2. Not yet.{THEN}\n", f"1. One.\n2. It ran ({MACHINE}).\n"),
        ("Not.<!-- after\n  doctor on\na Mac: It ran\n  ({machine}). -->\n", f"It ran ({MACHINE}).\n"),
        (f"One.{THEN}\n\nTwo.{THEN}\n", f"It ran ({MACHINE}).\n\nIt ran ({MACHINE}).\n"),
        ("Not.<!-- after tests on a Mac: Now. -->\n", None),
        ("Nothing has run on a Mac yet.\n", None),
    ],
)
def test_what_a_mark_replaces(tmp_path, before, after):
    """A mark replaces its paragraph or item up to itself, or what stands after the other mark; wording is not read."""
    text, changes = with_evidence(before, proved(tmp_path, steps=("doctor",)))

    assert text == (before if after is None else after)
    assert bool(changes) is (after is not None)


@pytest.mark.parametrize("mark", ["<!-- after test on a Mac: x -->", "<!-- after doctor on a Mac: {chip} -->"])
def test_a_mark_that_is_not_in_form(tmp_path, mark):
    """A step or a word that no report has is named, and not left to stand for ever."""
    with pytest.raises(MarkError, match=re.escape(mark)):
        with_evidence(f"Not yet.{mark}", proved(tmp_path))


def test_no_line_begins_with_a_mark():
    """Markdown takes a line that begins with a comment for HTML, and shows its text as it is."""
    for path in found(path for pattern in DOCUMENTS for path in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^[ \t]*<!--\s+(after|from\s+here)", text, re.MULTILINE), path.name
