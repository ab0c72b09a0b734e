"""A class of two hundred, killed in the middle and resumed: no wrong entry anywhere, manual points included."""

import csv
import io
import shutil
import subprocess
import sys
import time

import pytest
from support import two_tasks
from support.gradebooks import enter_by_hand, grades_of
from support.paths import ROOT, TESTS
from support.small_class import ASSIGNMENT, has_ended
from support.two_tasks import NAME, SOLVED, submitted_bytes

from course_utils.cli import main as cli
from course_utils.grading.course import Course
from course_utils.grading.reading.collect import collect, read_all
from course_utils.grading.running.batch import BatchOptions, grade_batch
from course_utils.grading.sinks import Destinations, Sinks
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage

CLASS = 200
KINDS = {
    "solved": (submitted_bytes(SOLVED), 4.0),
    "half": (submitted_bytes(SOLVED | {"halve": "def halve(x):\n    return 0"}), 2.0),
    "untouched": (submitted_bytes(), 0.0),
    "broken": (b"{broken", None),
    "missing": (submitted_bytes({"double": SOLVED["double"]}).replace(b'"halve"', b'"gone"'), 2.0),
}
STUDENTS = {f"s{n:03}-{kind}": kind for n in range(CLASS) for kind in [list(KINDS)[n % len(KINDS)]]}
CODE = """
import sys
sys.path[:0] = [{tests!r}, {root!r}, {here!r}]
from pathlib import Path
if __name__ == "__main__":
    from test_resume import grade
    grade(Path({course!r}))
"""


def grade(course):
    """Grade the class as `course grade` does, with a stand-in for what happens inside the sandbox."""
    submissions = read_all(collect(course / "submitted", ASSIGNMENT, Limits()), ASSIGNMENT, Limits())
    folder = course / "graded" / NAME
    sinks = Sinks(Destinations(ASSIGNMENT, course, folder, submissions, f"sqlite:///{course}/gradebook.db"))
    options = BatchOptions(workers=2, grader_factory="support.stand_in_graders:StandIn")
    batch = grade_batch(Course(ASSIGNMENT, Limits(), "stand-in"), submissions, folder, options, sinks=sinks)
    assert sinks.failures == []
    return batch


def score_of(automatic, manual, needs_manual_grade):
    """Return the score that counts in nbgrader: a person's where there is one."""
    return float((automatic if manual is None else manual) or 0.0)


@pytest.mark.slow
def test_killed_and_resumed(tmp_path, monkeypatch):
    """SIGKILL after eighty results, points by hand, and another run: 200 right rows in four places."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    source = tmp_path / "solutions" / NAME / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(two_tasks.source_bytes())
    for student, kind in STUDENTS.items():
        path = tmp_path / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(KINDS[kind][0])
    script = tmp_path / "script.py"
    script.write_text(CODE.format(tests=str(TESTS), root=str(ROOT), here=str(TESTS / "grading"), course=str(tmp_path)))
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE)
    graded = tmp_path / "graded" / NAME
    while len(list(graded.glob("*.json"))) < 80:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    below = read_usage(process.pid).processes
    process.kill()
    process.communicate()
    # its workers notice that it is gone
    assert all(has_ended(pid) for pid in below)
    assert 80 <= len(list(graded.glob("*.json"))) < CLASS

    batch = grade(tmp_path)
    assert batch.reused >= 80
    assert not batch.waiting
    first = "double-check"
    by_hand = {"s000-solved": 0.5, "s003-broken": 1.5, "s001-half": 2.0}
    for student, points in by_hand.items():
        enter_by_hand(f"sqlite:///{tmp_path}/gradebook.db", student, first, points, name=NAME)
    batch = grade(tmp_path)

    right = {student: KINDS[kind][1] for student, kind in STUDENTS.items()}
    right |= {"s000-solved": 2.5, "s003-broken": 1.5, "s001-half": 2.0}
    assert {one.student: one.points if one.graded else None for one in batch.results} == right
    stored = grades_of(f"sqlite:///{tmp_path}/gradebook.db", NAME)
    assert {student: sum(score_of(*row) for row in cells.values()) for student, cells in stored.items()} == {
        student: points or 0.0 for student, points in right.items()
    }
    report = csv.DictReader(io.StringIO((graded / "report.csv").read_text(encoding="utf-8")))
    assert {row["student"]: float(row["total"]) if row["total"] else None for row in report} == right
    monkeypatch.chdir(tmp_path)
    cli.main(["canvas", "01", "--output", "canvas.csv"])
    rows = csv.DictReader(io.StringIO((tmp_path / "canvas.csv").read_text(encoding="utf-8")))
    canvas = {row["Student"]: float(row[NAME]) if row[NAME] else None for row in rows if row["SIS Login ID"]}
    assert canvas == right
    for student, points in right.items():
        page = (tmp_path / "feedback" / student / NAME / f"{NAME}.html").read_text(encoding="utf-8")
        assert ("not graded" if points is None else f"{points:g} of 4 points") in page, student
