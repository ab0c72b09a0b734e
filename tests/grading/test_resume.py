"""A class that is killed in the middle and resumed: no wrong entry anywhere, points by hand included.

Two hundred submissions with worker processes and SQLite; small classes with PostgreSQL and on a Dask cluster.
"""

import csv
import io
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import two_tasks
from support.dask_here import LocalCluster
from support.gradebooks import enter_by_hand, grades_of
from support.paths import ROOT, TESTS
from support.postgres import empty_tables
from support.small_class import ASSIGNMENT, has_ended
from support.two_tasks import NAME, SOLVED, submitted_bytes

from course_utils.cli import main as cli
from course_utils.grading.course import Course
from course_utils.grading.reading.collect import collect, read_all
from course_utils.grading.running.batch import BatchOptions, grade_batch
from course_utils.grading.running.cluster import Cluster
from course_utils.grading.sinks import Destinations, Sinks
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage

pytestmark = pytest.mark.slow

CLASS, SMALL_CLASS = 200, 25
STAND_IN = "support.stand_in_graders:StandIn"
KINDS = {
    "solved": (submitted_bytes(SOLVED), 4.0),
    "half": (submitted_bytes(SOLVED | {"halve": "def halve(x):\n    return 0"}), 2.0),
    "untouched": (submitted_bytes(), 0.0),
    "broken": (b"{broken", None),
    "missing": (submitted_bytes({"double": SOLVED["double"]}).replace(b'"halve"', b'"gone"'), 2.0),
}
BY_HAND = {"s000-solved": 0.5, "s003-broken": 1.5, "s001-half": 2.0}
DESERVED_BY_HAND = {"s000-solved": 2.5, "s003-broken": 1.5, "s001-half": 2.0}
CODE = """
import sys
sys.path[:0] = [{tests!r}, {root!r}, {here!r}]
from pathlib import Path
if __name__ == "__main__":
    from test_resume import grade
    grade(Path({course!r}), {url!r}, {address!r})
"""


def students(number):
    """Return a class, kinds in turn."""
    return {f"s{n:03}-{kind}": kind for n in range(number) for kind in [list(KINDS)[n % len(KINDS)]]}


@contextmanager
def executor_at(address):
    """Connect to a cluster; None where there is none."""
    if not address:
        yield None
        return
    with Cluster(address, unsafe=True, factory=STAND_IN) as cluster:
        yield cluster


def grade(course, url, address=""):
    """Grade the class as `course grade` does, with a stand-in for what happens inside the sandbox."""
    submissions = read_all(collect(course / "submitted", ASSIGNMENT, Limits()), ASSIGNMENT, Limits())
    folder = course / "graded" / NAME
    sinks = Sinks(Destinations(ASSIGNMENT, course, folder, submissions, url))
    options = BatchOptions(workers=2, grader_factory=STAND_IN)
    whole = Course(ASSIGNMENT, Limits(), "stand-in")
    with executor_at(address) as executor:
        batch = grade_batch(whole, submissions, folder, options, sinks=sinks, executor=executor)
    assert sinks.failures == []
    return batch


def score_of(automatic, manual, needs_manual_grade):
    """Return the score that counts in nbgrader: a person's where there is one."""
    return float((automatic if manual is None else manual) or 0.0)


def make_course(folder, members):
    """Write a course and what its class handed in."""
    (folder / "notebooks").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    source = folder / "solutions" / NAME / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(two_tasks.source_bytes())
    for student, kind in members.items():
        path = folder / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(KINDS[kind][0])


def grade_and_kill(course, url, address, least):
    """Grade in another process, and kill it as soon as so many results are there."""
    script = course / "script.py"
    here = str(TESTS / "grading")
    values = {"tests": str(TESTS), "root": str(ROOT), "here": here, "course": str(course)}
    script.write_text(CODE.format(url=url, address=address, **values))
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE)
    graded = course / "graded" / NAME
    while len(list(graded.glob("*.json"))) < least:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)
    below = read_usage(process.pid).processes
    process.kill()
    process.communicate()
    # its workers notice that it is gone
    assert all(has_ended(pid) for pid in below)


def check_everything(course, url, members, batch, *, db_option):
    """Compare what each student deserves with batch, gradebook, report, Canvas' file and feedback pages."""
    graded = course / "graded" / NAME
    right = {student: KINDS[kind][1] for student, kind in members.items()} | DESERVED_BY_HAND
    assert {one.student: one.points if one.graded else None for one in batch.results} == right
    stored = grades_of(url, NAME)
    assert {student: sum(score_of(*row) for row in cells.values()) for student, cells in stored.items()} == {
        student: points or 0.0 for student, points in right.items()
    }
    report = csv.DictReader(io.StringIO((graded / "report.csv").read_text(encoding="utf-8")))
    assert {row["student"]: float(row["total"]) if row["total"] else None for row in report} == right
    assert cli.main(["canvas", "01", "--output", "canvas.csv", *db_option]) in (0, 1)
    rows = csv.DictReader(io.StringIO((course / "canvas.csv").read_text(encoding="utf-8")))
    canvas = {row["Student"]: float(row[NAME]) if row[NAME] else None for row in rows if row["SIS Login ID"]}
    assert canvas == right
    for student, points in right.items():
        page = (course / "feedback" / student / NAME / f"{NAME}.html").read_text(encoding="utf-8")
        assert ("not graded" if points is None else f"{points:g} of 4 points") in page, student


@pytest.fixture
def dask(tmp_path):
    """Start a cluster of two workers on the loopback; return its address."""
    if os.environ.get("COURSE_CI") != "1":
        pytest.importorskip("distributed", reason="needs Dask: pip install -e .[cluster]")
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = LocalCluster(folder)
    try:
        cluster.start_scheduler()
        cluster.start_workers(2)
        yield cluster.address
    finally:
        cluster.stop()


@pytest.mark.parametrize("where", ["two hundred", "PostgreSQL", "Dask"])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_killed_and_resumed(tmp_path, monkeypatch, request, where):
    """SIGKILL in the middle, points by hand, and another run: right rows in five places."""
    course = Path(tmp_path, "course")
    course.mkdir()
    members = students(CLASS if where == "two hundred" else SMALL_CLASS)
    make_course(course, members)
    monkeypatch.chdir(course)
    url, address, db_option = f"sqlite:///{course}/gradebook.db", "", ()
    if where == "PostgreSQL":
        url = request.getfixturevalue("postgres_server")
        empty_tables(url, keep=("alembic_version", "course"))
        db_option = ("--db", url)
    elif where == "Dask":
        address = request.getfixturevalue("dask")
    least = len(members) * 2 // 5
    grade_and_kill(course, url, address, least)
    assert least <= len(list((course / "graded" / NAME).glob("*.json"))) < len(members)

    batch = grade(course, url, address)
    assert batch.reused >= least
    assert not batch.waiting
    for student, points in BY_HAND.items():
        enter_by_hand(url, student, "double-check", points, name=NAME)
    check_everything(course, url, members, grade(course, url, address), db_option=db_option)
