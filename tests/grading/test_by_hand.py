"""A person's word counts: points and comments from formgrader are the grade in every file, page and report."""

import csv
import io
import json
import shutil
import sqlite3
import threading
import zipfile
from dataclasses import replace

import pytest
from support.gradebooks import enter_by_hand, grades_of
from support.graded_results import NAME, SOURCE, WORTH, not_graded, partly, solved
from support.paths import ROOT

from course_utils.cli import main as cli
from course_utils.grading.assignment import read_assignment
from course_utils.grading.books import gradebook
from course_utils.grading.books.gradebook import GradebookError, GradebookWriter, read_gradebook
from course_utils.grading.lateness import read_time
from course_utils.grading.reading.submission import Submission
from course_utils.grading.result import Reason
from course_utils.grading.running.report import report_rows
from course_utils.grading.running.store import store_result
from course_utils.grading.sinks import Destinations, Sinks

ASSIGNMENT = read_assignment(json.dumps(SOURCE).encode(), NAME)
FIRST, SECOND, *_ = WORTH


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course, and work in it."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions" / NAME, tmp_path / "solutions" / NAME)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def url_of(course):
    """Return the address of the course's own gradebook."""
    return f"sqlite:///{course}/gradebook.db"


def deliver(course, *results, code="1", replace_manual=(), **more):
    """Store results and give them to all sinks, as `course grade` does; return them as they count, and the sinks."""
    submissions = [Submission(one.student, {"ex04-task1": code}, **more) for one in results]
    folder = course / "graded" / NAME
    for result in results:
        store_result(folder, result)
    sinks = Sinks(Destinations(ASSIGNMENT, course, folder, submissions, url_of(course), replace_manual))
    sinks.open()
    counted = {one.student: one for one in map(sinks.write, results)}
    sinks.close()
    return counted, sinks


def canvas_points(course, *options):
    """Return what `course canvas` writes for each student."""
    cli.main(["canvas", "04", "--output", "canvas.csv", *options])
    with (course / "canvas.csv").open(encoding="utf-8") as file:
        return {row["Student"]: row[NAME] for row in csv.DictReader(file)}


def returned_page(course, student):
    """Return the page of a student that `course return` packs."""
    cli.main(["return", "04", "--output", "f.zip"])
    with zipfile.ZipFile(course / "f.zip") as archive:
        return archive.read(f"{student}/{NAME}.html").decode()


def test_points_and_comments_are_the_grade_everywhere(course, capsys):
    """4.1 set to 1 of 3 with a comment: 16 in results, report, pages, Canvas and return, with the comment."""
    deliver(course, solved("ada"), partly("grace"))
    enter_by_hand(url_of(course), "ada", FIRST, 1.0, "the median is <i>not</i> the mean")
    counted, sinks = deliver(course, solved("ada"), partly("grace"))

    assert sinks.failures == []
    assert (counted["ada"].points, counted["grace"].points) == (16.0, 10.0)
    head, ada, _ = report_rows(list(counted.values()))
    assert (ada[head.index(FIRST)], ada[head.index("total")]) == (1.0, 16.0)
    assert "changed by hand" in ada[head.index("message")]
    pages = [
        (course / "graded" / NAME / "ada.html").read_text(encoding="utf-8"),
        (course / "feedback" / "ada" / NAME / f"{NAME}.html").read_text(encoding="utf-8"),
        returned_page(course, "ada"),
    ]
    for page in pages:
        assert "16 of 18 points" in page
        assert "changed by hand" in page
        assert "the median is &lt;i&gt;not&lt;/i&gt; the mean" in page
    assert canvas_points(course)["ada"] == "16"
    assert canvas_points(course)["grace"] == "10"
    assert "points by hand count: ada, 4.1 Median and spread: 1 of 3 points" in capsys.readouterr().out
    assert "16 of 18" in (course / "graded" / NAME / "overview.html").read_text(encoding="utf-8")
    shown = (course / "autograded" / "ada" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "1 of 3 points, changed by hand" in shown


def test_what_was_entered_since_the_grading_counts_and_is_named(course, capsys):
    """A grade that a person entered after `course grade` is in Canvas's file and on the page, with a warning."""
    deliver(course, solved("ada"))
    enter_by_hand(url_of(course), "ada", FIRST, 0.0)

    assert cli.main(["canvas", "04"]) == 1
    assert "the gradebook changed since the report and the pages were written: ada" in capsys.readouterr().out
    assert canvas_points(course)["ada"] == "15"
    assert "15 of 18 points" in returned_page(course, "ada")
    deliver(course, solved("ada"))
    capsys.readouterr()
    assert cli.main(["canvas", "04"]) == 0
    assert "changed since" not in capsys.readouterr().out


def test_what_was_handed_in_since_the_grading_is_named(course, capsys):
    """`course canvas` and `course return` warn where another notebook lies in submitted/ than was graded."""
    deliver(course, solved("ada"))
    folder = course / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / NAME / f"{NAME}.ipynb", folder)

    assert cli.main(["canvas", "04"]) == 1
    assert "handed in again since the grading: ada; run `course grade` first" in capsys.readouterr().out
    assert cli.main(["return", "04"]) == 1


def test_notes_are_no_other_work():
    """What was noticed about a file, such as its name or another person's of the same name, is not handing in again."""
    plain = Submission("ada", {"a": "x = 1"})
    noted = replace(plain, notes=("somebody else is called ada too",), reason=Reason.RENAMED)

    assert noted.work_digest == plain.work_digest
    assert replace(plain, code={"a": "x = 2"}).work_digest != plain.work_digest


def test_a_regrade_keeps_manual_points_and_names_them(course):
    """Her notebook changes: the manual grade stays, she is named, formgrader asks to look again, until somebody has."""
    deliver(course, solved("ada"))
    enter_by_hand(url_of(course), "ada", FIRST, 1.0)
    counted, _ = deliver(course, solved("ada"))
    assert not counted["ada"].remarks

    counted, _ = deliver(course, solved("ada"), code="2")
    assert counted["ada"].points == 16.0
    (remark,) = counted["ada"].remarks
    assert remark.startswith(
        "4.1 Median and spread: the submission or its checks changed after a person gave the points"
    )
    assert grades_of(url_of(course), NAME)["ada"][FIRST] == (3.0, 1.0, True)
    counted, _ = deliver(course, solved("ada"), code="2")
    assert counted["ada"].remarks == (remark,)

    enter_by_hand(url_of(course), "ada", FIRST, 2.0)
    counted, _ = deliver(course, solved("ada"), code="2")
    assert (counted["ada"].points, counted["ada"].remarks) == (17.0, ())


def test_force_replaces_and_names_what_it_replaced(course):
    """--force gives the checks' points back, for those who were asked for, and says which points are gone."""
    deliver(course, solved("ada"), solved("bob"))
    for student in ("ada", "bob"):
        enter_by_hand(url_of(course), student, FIRST, 1.0, "see me")
    counted, sinks = deliver(course, solved("ada"), solved("bob"), replace_manual={"ada"})

    assert (counted["ada"].points, counted["bob"].points) == (18.0, 16.0)
    assert sinks.replaced == ["ada: 4.1 Median and spread: 1 points by hand were replaced (--force)"]
    assert grades_of(url_of(course), NAME)["ada"][FIRST] == (3.0, None, False)
    assert counted["ada"].tasks[0].comment == "see me"


def test_a_person_can_grade_what_the_grader_cannot_read(course):
    """A submission without a grade to which a person gave points has a grade; the others stay without."""
    deliver(course, not_graded("alan"), not_graded("joan"))
    enter_by_hand(url_of(course), "alan", SECOND, 4.0)
    counted, _ = deliver(course, not_graded("alan"), not_graded("joan"))

    assert (counted["alan"].graded, counted["alan"].points) == (True, 4.0)
    assert not counted["joan"].graded
    assert canvas_points(course) == {"    Points Possible": "18", "alan": "4", "joan": ""}


def test_written_answers_count_when_a_person_has_read_them(course):
    """A cell that a person grades alone waits, and its points are part of the total once they are entered."""
    grading = {"grade": True, "solution": True, "locked": False, "task": False, "grade_id": "essay", "points": 2}
    essay = {"cell_type": "markdown", "id": "essay", "source": "Why?", "metadata": {"nbgrader": grading}}
    content = SOURCE | {"cells": [*SOURCE["cells"], essay]}
    assignment = read_assignment(json.dumps(content).encode(), NAME)
    sinks = [
        Sinks(Destinations(assignment, course, course / "graded" / NAME, [Submission("ada", {})], url_of(course)))
        for _ in range(2)
    ]
    sinks[0].open()
    waiting = sinks[0].write(solved("ada"))
    sinks[0].close()
    enter_by_hand(url_of(course), "ada", "essay", 1.5)
    sinks[1].open()
    read = sinks[1].write(solved("ada"))
    sinks[1].close()

    assert (waiting.points, waiting.max_points, waiting.tasks[-1].reason) == (18.0, 20.0, Reason.WAITING)
    assert (read.points, read.max_points) == (19.5, 20.0)


def test_an_odd_cell_of_the_instructor_stops_no_grading_without_a_gradebook(course):
    """A locked cell without an id, which nbgrader cannot store, matters to the gradebook alone."""
    odd = {"cell_type": "code", "source": "1", "metadata": {"nbgrader": {"locked": True}}}
    assignment = read_assignment(json.dumps(SOURCE | {"cells": [*SOURCE["cells"], odd]}).encode(), NAME)
    folder = course / "graded" / NAME
    for url, failures in ((None, 0), (url_of(course), 1)):
        sinks = Sinks(Destinations(assignment, course, folder, [Submission("ada", {})], url))
        sinks.open()
        assert sinks.write(solved("ada")).points == 18.0
        sinks.close()
        assert len(sinks.failures) == failures


def test_a_gradebook_that_fails_leaves_the_known_manual_grades(course):
    """Where the gradebook cannot be written, the pages keep the manual grades of the delivery before."""
    deliver(course, solved("ada"))
    enter_by_hand(url_of(course), "ada", FIRST, 1.0)
    deliver(course, solved("ada"))
    (course / "gradebook.db").write_bytes(b"no database at all, but more than a header" * 50)
    counted, sinks = deliver(course, solved("ada"))

    assert len(sinks.failures) == 1
    assert counted["ada"].points == 16.0


def test_a_locked_gradebook_is_waited_for(course):
    """A lock that does not end is a sentence; the wait is 20 seconds where nothing is said."""
    deliver(course, solved("ada"))
    holder = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(GradebookError, match="is locked by another program"):
            GradebookWriter(url_of(course) + "?timeout=0.2", ASSIGNMENT)
    finally:
        holder.close()
    assert gradebook.LOCK_S == 20.0
    assert gradebook._patient(gradebook.read_address(url_of(course))).query["timeout"] == "20"


def test_a_lock_that_ends_costs_nothing(course):
    """Formgrader holds the lock for a moment: the results are written when it lets go."""
    deliver(course, solved("ada"))
    holder = sqlite3.connect(course / "gradebook.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(0.3, holder.close)
    release.start()
    deliver(course, solved("ada"), solved("bob"))
    release.join()

    assert set(grades_of(url_of(course), NAME)) == {"ada", "bob"}


def test_another_gradebook_has_to_be_named(course, capsys):
    """What was graded with --db is not looked for in the course's own gradebook."""
    submissions = [Submission("ada", {})]
    folder = course / "graded" / NAME
    store_result(folder, solved("ada"))
    other = f"sqlite:///{course}/other.db"
    sinks = Sinks(Destinations(ASSIGNMENT, course, folder, submissions, other))
    sinks.open()
    sinks.write(solved("ada"))
    sinks.close()
    enter_by_hand(other, "ada", FIRST, 1.0)

    assert cli.main(["canvas", "04"]) == 2
    assert "give it with --db" in capsys.readouterr().err
    assert canvas_points(course, "--db", other)["ada"] == "16"


def test_a_broken_gradebook_is_a_sentence(course, capsys):
    """A gradebook that cannot be read is no reason to hand on the checks' points as the grade."""
    deliver(course, solved("ada"))
    (course / "gradebook.db").write_bytes(b"no database at all, but more than a header" * 50)

    assert cli.main(["canvas", "04"]) == 2
    assert "is no SQLite database" in capsys.readouterr().err
    assert not (course / "canvas.csv").exists()


def test_no_gradebook_is_no_manual_grades(tmp_path):
    """Where no gradebook is, nothing is made by looking."""
    assert read_gradebook(f"sqlite:///{tmp_path}/gradebook.db", NAME) == {}
    assert not list(tmp_path.iterdir())


def test_moodle_s_class_has_no_canvas_ids(course, capsys):
    """After a Moodle zip `course canvas` says that it has no Canvas ids, unless Canvas's export is given."""
    deliver(course, solved("ada"), feedback_folder="ada_7_assignsubmission_file_")

    assert cli.main(["canvas", "04"]) == 2
    assert "Moodle's zip, which has no Canvas ids" in capsys.readouterr().err
    (course / "export.csv").write_text("Student,ID,SIS User ID,SIS Login ID,Section\nL,1,,ada,A\n", encoding="utf-8")
    assert cli.main(["canvas", "04", "--export", "export.csv"]) == 0


def test_canvas_s_own_numbers_are_used(course):
    """After Canvas's zip the file has Canvas's numbers in the column ID."""
    deliver(course, solved("lovelaceada_101"), canvas_id="101")
    cli.main(["canvas", "04", "--output", "canvas.csv"])

    _, ada = csv.DictReader(io.StringIO((course / "canvas.csv").read_text(encoding="utf-8")))
    assert (ada["Student"], ada["ID"], ada["SIS Login ID"], ada[NAME]) == ("lovelaceada", "101", "", "18")


@pytest.mark.parametrize("command", ["return", "canvas"])
def test_a_full_disk_is_a_sentence(course, capsys, monkeypatch, command):
    """A file that cannot be written is one sentence with exit code 2, and the file of before is still there."""
    deliver(course, solved("ada"))
    name = {"return": "feedback.zip", "canvas": "canvas.csv"}[command]
    assert cli.main([command, "04"]) == 0
    before = (course / "graded" / NAME / name).read_bytes()
    monkeypatch.setattr("os.replace", full_disk)
    monkeypatch.setattr("pathlib.Path.replace", full_disk)

    assert cli.main([command, "04"]) == 2
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert (course / "graded" / NAME / name).read_bytes() == before


def full_disk(*arguments, **named):
    """Fail as a write to a full disk does."""
    raise OSError(28, "No space left on device")


def test_late_is_kept_for_later_commands(course):
    """Who was late is marked in what `course return` makes anew."""
    folder = course / "graded" / NAME
    store_result(folder, solved("ada"))
    submissions = [Submission("ada", {}, handed_in="2026-03-02 00:00:01 UTC")]
    due = read_time("2026-03-01 23:59 +0000")
    sinks = Sinks(Destinations(ASSIGNMENT, course, folder, submissions, None, due=due))
    sinks.open()
    late = sinks.write(solved("ada"))
    sinks.close()

    assert late.late.startswith("late: handed in 2026-03-0")
    assert late.points == 18.0
    assert "late: handed in" in returned_page(course, "ada")
    assert replace(late, late="") == solved("ada")
