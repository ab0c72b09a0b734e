"""The gradebook has each submission whole or not at all, on SQLite and on PostgreSQL, read by nbgrader's own code."""

import copy
import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from urllib.parse import quote

import pytest
from support.gradebooks import auto_scores, enter_by_hand, gradebook, grades_of, structure_of
from support.graded_results import NAME, SOURCE, WORTH, a_class, not_graded, partly, solved
from support.nbgrader_command import nbgrader
from support.paths import ROOT
from support.postgres import PASSWORD, empty_tables

from course_utils.grading.assignment import read_assignment
from course_utils.grading.books.gradebook import GradebookError, write_results

BOOK = read_assignment(json.dumps(SOURCE).encode(), NAME)
NOTHING = dict.fromkeys(WORTH)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Make a course whose gradebook is from `nbgrader generate_assignment`."""
    course = tmp_path_factory.mktemp("generated")
    shutil.copytree(ROOT / "solutions", course / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    nbgrader(course, "generate_assignment", NAME, "--create")
    return course


@pytest.fixture(scope="module")
def empty_book(tmp_path_factory):
    """Make a gradebook without submissions once."""
    path = tmp_path_factory.mktemp("empty") / "gradebook.db"
    write_results(f"sqlite:///{path}", BOOK, [])
    return path


@pytest.fixture
def sqlite(tmp_path, empty_book):
    """Return the address of a gradebook without submissions."""
    shutil.copy(empty_book, tmp_path)
    return f"sqlite:///{tmp_path}/gradebook.db"


@pytest.fixture
def postgres(postgres_server):
    """Return the address of a gradebook on the server, without submissions."""
    empty_tables(postgres_server, keep=("alembic_version", "course"))
    return postgres_server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request):
    """Return the address of an empty gradebook, of each kind of database."""
    return request.getfixturevalue(request.param)


def changed(edit):
    """Return the instructor's notebook after an edit of its cells."""
    content = copy.deepcopy(SOURCE)
    edit(content["cells"])
    return read_assignment(json.dumps(content).encode(), NAME)


def comment_of(url, student, cell):
    """Return the comment on a student's cell."""
    with gradebook(url) as book:
        return book.find_comment(cell, NAME, NAME, student).manual_comment


def test_book_is_made_where_there_is_none(tmp_path):
    """The default gradebook of a course need not exist before the first grading."""
    url = f"sqlite:///{tmp_path}/gradebook.db"

    write_results(url, BOOK, [solved("ada")])

    assert auto_scores(url, NAME) == {"ada": WORTH}


def test_scores_are_written(url):
    """Each check cell of each student has the points of its task, and nothing waits for a person."""
    first, second, *others = WORTH

    write_results(url, BOOK, [solved("ada"), partly("grace")])

    assert auto_scores(url, NAME) == {
        "ada": WORTH,
        "grace": {first: 1.0, second: 0.0} | {name: WORTH[name] for name in others},
    }
    assert not any(row[2] for grades in grades_of(url, NAME).values() for row in grades.values())


def test_nbgrader_adds_up_the_same(url):
    """The sums that nbgrader's tables compute are the result's points and maximum."""
    write_results(url, BOOK, [partly("grace")])

    with gradebook(url) as book:
        submission = book.find_submission(NAME, "grace")
        assert (submission.score, submission.max_score) == (10.0, 18.0)
        assert not submission.needs_manual_grade


def test_structure_is_what_generate_assignment_stores(sqlite, generated):
    """Cells, points, sources, checksums, kernel and course are those of `nbgrader generate_assignment`."""
    assert structure_of(sqlite, NAME) == structure_of(f"sqlite:///{generated}/gradebook.db", NAME)


def test_writing_into_a_generated_book_changes_nothing_of_it(generated, tmp_path):
    """Where generate_assignment has run, its rows are used as they are."""
    shutil.copy(generated / "gradebook.db", tmp_path)
    url = f"sqlite:///{tmp_path}/gradebook.db"

    write_results(url, BOOK, [solved("ada")])

    assert structure_of(url, NAME) == structure_of(f"sqlite:///{generated}/gradebook.db", NAME)
    assert auto_scores(url, NAME)["ada"] == WORTH


def test_writing_again_replaces(url):
    """A second grading of a student replaces the scores of the first, and adds no second submission."""
    write_results(url, BOOK, [solved("ada")])
    write_results(url, BOOK, [partly("ada")])

    assert auto_scores(url, NAME)["ada"][next(iter(WORTH))] == 1.0
    with gradebook(url) as book:
        assert len(book.assignment_submissions(NAME)) == 1


def test_what_a_person_entered_is_kept(url):
    """Manual scores and comments outlive a new grading, which asks the person to look again, as nbgrader does."""
    first, second, *_ = WORTH
    write_results(url, BOOK, [partly("grace")])
    enter_by_hand(url, "grace", first, 2.5, "nearly")

    write_results(url, BOOK, [solved("grace")])

    grades = grades_of(url, NAME)["grace"]
    assert grades[first] == (WORTH[first], 2.5, True)
    assert grades[second] == (WORTH[second], None, False)
    assert comment_of(url, "grace", first.removesuffix("-check")) == "nearly"


def test_no_old_score_stands_in_for_an_unknown_one(url):
    """A submission that could not be graded loses its automatic scores and waits for a person."""
    write_results(url, BOOK, [solved("alan")])
    write_results(url, BOOK, [not_graded("alan")])

    assert grades_of(url, NAME)["alan"] == dict.fromkeys(WORTH, (None, None, True))
    with gradebook(url) as book:
        submission = book.find_submission(NAME, "alan")
        assert submission.score == 0
        assert submission.needs_manual_grade


def test_manual_score_of_an_ungraded_submission_counts(url):
    """What a person gave a submission that the grader cannot read is its score."""
    first = next(iter(WORTH))
    write_results(url, BOOK, [not_graded("alan")])
    enter_by_hand(url, "alan", first, 2.0, "read on paper")

    write_results(url, BOOK, [not_graded("alan")])

    with gradebook(url) as book:
        assert book.find_submission(NAME, "alan").score == 2.0


def test_changed_points_and_sources_are_taken_over(url):
    """A check that is worth more and reads differently is stored anew; scores of others stay."""
    first, second, *_ = WORTH

    def edit(cells):
        for cell in cells:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == first:
                cell["metadata"]["nbgrader"]["points"] = 7
                cell["source"] = "task.score()  # new"

    write_results(url, BOOK, [solved("ada")])
    write_results(url, changed(edit), [])

    stored = structure_of(url, NAME)
    assert stored["graded"][first] == (7.0, "code")
    assert stored["sources"][first][2] == "task.score()  # new"
    assert auto_scores(url, NAME)["ada"][second] == WORTH[second]


def test_a_new_cell_is_open_for_earlier_submissions(url):
    """A check that is added later has no score for those graded before, and says so."""
    first = next(iter(WORTH))

    def without_first(cells):
        cells[:] = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") != first]

    graded_then = replace(solved("ada"), tasks=solved("ada").tasks[1:])
    write_results(url, changed(without_first), [graded_then])
    write_results(url, BOOK, [])

    assert grades_of(url, NAME)["ada"][first] == (None, None, True)


def test_a_cell_that_is_gone_counts_no_more(url):
    """Points of a check that the notebook no longer has are not part of anybody's maximum."""
    first = next(iter(WORTH))

    def without_first(cells):
        cells[:] = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") != first]

    write_results(url, BOOK, [solved("ada")])
    write_results(url, changed(without_first), [])

    with gradebook(url) as book:
        assert book.find_assignment(NAME).max_score == sum(WORTH.values()) - WORTH[first]
        assert first not in {grade.name for grade in book.find_submission(NAME, "ada").notebooks[0].grades}


def test_a_person_s_score_is_not_removed_with_its_cell(url):
    """A cell that a person gave points for is not dropped silently: nothing changes, and the sentence names it."""
    first = next(iter(WORTH))

    def without_first(cells):
        cells[:] = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") != first]

    write_results(url, BOOK, [solved("ada")])
    enter_by_hand(url, "ada", first, 2.5, "nearly")
    before = grades_of(url, NAME)

    with pytest.raises(GradebookError, match=f"no cell '{first}' any more"):
        write_results(url, changed(without_first), [])
    assert grades_of(url, NAME) == before


def test_written_answers_wait_for_a_person(url):
    """A cell that a person grades gets no automatic score, as in nbgrader."""
    essay = {
        "cell_type": "markdown",
        "id": "essay",
        "source": "Why?",
        "metadata": {
            "nbgrader": {
                "schema_version": 3,
                "grade": True,
                "solution": True,
                "locked": False,
                "task": False,
                "grade_id": "essay",
                "points": 2,
            }
        },
    }

    write_results(url, changed(lambda cells: cells.append(essay)), [solved("ada")])

    assert grades_of(url, NAME)["ada"]["essay"] == (None, None, True)
    assert structure_of(url, NAME)["sources"]["essay"][2] == "YOUR ANSWER HERE"


def test_results_that_do_not_fit_are_named_and_the_others_written(url):
    """An unknown cell, another exercise and an impossible id stop nobody else, and nothing of them is written."""
    strange = replace(solved("strange"), tasks=(replace(solved().tasks[0], grade_id="ex04-task9-check"),))
    other = replace(solved("other"), assignment="05_other")
    bad = [strange, other, solved("x" * 200), solved("b\0b")]

    with pytest.raises(GradebookError) as caught:
        write_results(url, BOOK, [solved("ada"), *bad, partly("grace")])

    assert set(auto_scores(url, NAME)) == {"ada", "grace"}
    assert str(caught.value).startswith("4 of 6 results were not written")
    assert "ex04-task9-check" in str(caught.value)
    with gradebook(url) as book:
        assert {student.id for student in book.students} == {"ada", "grace"}


@pytest.mark.parametrize(
    "student", ["o'brien", 'say "hi"', "comma, name", "größe-дом-学生", "a/b", "'; DROP TABLE grade; --"]
)
def test_odd_ids_are_stored_as_they_are(url, student):
    """An id is data, whatever characters it has."""
    write_results(url, BOOK, [solved(student)])

    assert auto_scores(url, NAME) == {student: WORTH}


def test_a_submission_is_written_whole_or_not_at_all(sqlite, tmp_path):
    """A database that fails in the middle of a student leaves nothing of that student, and all of those before."""
    write_results(sqlite, BOOK, [])
    with sqlite3.connect(tmp_path / "gradebook.db") as database:
        database.execute(
            "CREATE TRIGGER stop BEFORE INSERT ON comment WHEN EXISTS (SELECT 1 FROM submitted_notebook n JOIN "
            "submitted_assignment a ON n.assignment_id = a.id WHERE n.id = NEW.notebook_id AND a.student_id = 'grace') "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
    database.close()

    with pytest.raises(GradebookError, match=r"the disk is full.*results written before: 1"):
        write_results(sqlite, BOOK, [solved("ada"), solved("grace"), solved("alan")])

    assert auto_scores(sqlite, NAME) == {"ada": WORTH}
    with gradebook(sqlite) as book:
        assert {student.id for student in book.students} == {"ada"}


def test_locked_sqlite(sqlite, tmp_path):
    """A gradebook that another program holds is named, with what to do."""
    write_results(sqlite, BOOK, [solved("ada")])
    holder = sqlite3.connect(tmp_path / "gradebook.db")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(GradebookError, match="is locked by another program; close formgrader"):
            write_results(sqlite + "?timeout=0.1", BOOK, [partly("ada")])
    finally:
        holder.close()
    assert auto_scores(sqlite, NAME)["ada"] == WORTH


@pytest.mark.parametrize(
    ("version", "said"),
    [("ffffffffffff", "newer than .*; install that nbgrader"), ("724cde206c17", "nbgrader db upgrade")],
)
def test_other_schema_versions(sqlite, tmp_path, version, said):
    """Tables of a newer or an older nbgrader are left alone."""
    write_results(sqlite, BOOK, [solved("ada")])
    with sqlite3.connect(tmp_path / "gradebook.db") as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (version,))
    database.close()

    with pytest.raises(GradebookError, match=said):
        write_results(sqlite, BOOK, [partly("ada")])
    assert auto_scores(sqlite, NAME)["ada"] == WORTH


def test_database_of_somebody_else(tmp_path):
    """The gradebook's tables are not put among others."""
    with sqlite3.connect(tmp_path / "gradebook.db") as database:
        database.execute("CREATE TABLE invoices (id INTEGER)")
    database.close()

    with pytest.raises(GradebookError, match="give the gradebook one of its own"):
        write_results(f"sqlite:///{tmp_path}/gradebook.db", BOOK, [])


def test_files_that_are_no_database(tmp_path):
    """A text file and a folder that is not there are named."""
    (tmp_path / "notes.db").write_text("not a database, but longer than a header" * 30, encoding="utf-8")

    with pytest.raises(GradebookError, match="is no SQLite database"):
        write_results(f"sqlite:///{tmp_path}/notes.db", BOOK, [])
    with pytest.raises(GradebookError, match="cannot be opened; its folder has to exist"):
        write_results(f"sqlite:///{tmp_path}/nowhere/gradebook.db", BOOK, [])


def test_wrong_password_is_not_printed(postgres):
    """A refused password appears nowhere: not in the sentence, not in the errors behind it."""
    wrong = "wr0ng-secret"
    url = postgres.replace(quote(PASSWORD, safe=""), wrong)
    assert wrong in url

    with pytest.raises(GradebookError, match="refuses the user or the password") as caught:
        write_results(url, BOOK, [])

    assert wrong not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_server_that_is_not_there(tmp_path):
    """A server that does not answer is named by its address, without the password."""
    pytest.importorskip("psycopg")
    url = "postgresql://instructor:s%40cret@127.0.0.1:1/grades"

    with pytest.raises(
        GradebookError, match=r"postgresql\+psycopg://instructor:\*\*\*@127.0.0.1:1/grades cannot be reached"
    ):
        write_results(url, BOOK, [])


def test_handed_in_time_is_formgrader_s(url):
    """The time of a submission's timestamp.txt is stored as nbgrader reads it; one that is no time is not."""
    write_results(
        url, BOOK, [solved("ada"), solved("grace")], handed_in={"ada": "2026-03-01 12:00:00 UTC", "grace": "?"}
    )

    with gradebook(url) as book:
        assert book.find_submission(NAME, "ada").timestamp.isoformat() == "2026-03-01T12:00:00"
        assert book.find_submission(NAME, "grace").timestamp is None


def test_export_has_the_scores(tmp_path):
    """`nbgrader export` writes the scores of the class into its CSV."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    write_results(f"sqlite:///{tmp_path}/gradebook.db", BOOK, [solved("ada"), partly("grace"), not_graded("alan")])

    nbgrader(tmp_path, "export", "--to", "grades.csv")

    head, *rows = (line.split(",") for line in (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines())
    scores = {row[head.index("student_id")]: row[head.index("score")] for row in rows}
    assert scores == {"ada": "18.0", "grace": "10.0", "alan": "0.0"}


def test_plain_nbgrader_can_go_on(tmp_path):
    """`nbgrader autograde` grades into a book that this made, without generate_assignment."""
    from support.submissions import solved as solved_notebook
    from support.submissions import submit

    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    url = f"sqlite:///{tmp_path}/gradebook.db"
    write_results(url, BOOK, [not_graded("ada")])
    submit(tmp_path, "ada", NAME, solved_notebook(NAME))

    nbgrader(tmp_path, "autograde", NAME)

    assert auto_scores(url, NAME)["ada"] == WORTH


def test_a_class_is_in_the_book(url):
    """Two hundred results are written by one call."""
    results = a_class(200)

    write_results(url, BOOK, results)

    stored = auto_scores(url, NAME)
    assert stored == {
        one.student: {task.grade_id: task.points for task in one.tasks} if one.graded else NOTHING for one in results
    }


def test_quick_import_leaves_no_trace():
    """Loading nbgrader quickly leaves what it set aside importable, and whole."""
    code = (
        "import sys\n"
        "from course_utils.grading.books.nbgrader_api import load_api\n"
        "load_api()\n"
        "assert 'jsonschema' not in sys.modules and 'nbformat' not in sys.modules\n"
        "assert 'nbgrader' not in sys.modules and 'nbconvert' not in sys.modules\n"
        "import nbgrader\n"
        "from nbgrader.apps import NbGraderAPI\n"
        "assert nbgrader.__version__ and nbgrader.api is sys.modules['nbgrader.api']\n"
        "import jsonschema, nbformat, setuptools.archive_util\n"
        "assert 'date' in jsonschema.FormatChecker.checkers and nbformat.NotebookNode is not object\n"
        "assert setuptools.archive_util.unpack_zipfile is not object\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
