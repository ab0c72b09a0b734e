"""formgrader shows what was written: scores, who waits for a person, the student's code and the verdicts."""

import json
import shutil

import pytest
from support.formgrader import TOKEN, formgrader, get, get_json
from support.graded_results import HIDDEN_EXPECTED, HOSTILE_TEXTS, NAME, SOURCE, WORTH, not_graded, partly, solved
from support.paths import ROOT

from course_utils.grading.assignment import read_assignment
from course_utils.grading.books.autograded import write_autograded
from course_utils.grading.books.gradebook import write_results

BOOK = read_assignment(json.dumps(SOURCE).encode(), NAME)
HOSTILE_CODE = "def summarise(times_s):\n    return '''" + "\n".join(HOSTILE_TEXTS) + "'''\n"
HANDED_IN = "2026-03-01 12:00:00 UTC"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Grade a small class into a course, and start formgrader on it."""
    course = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copytree(ROOT / "solutions" / NAME, course / "solutions" / NAME)
    results = [solved("ada"), partly("grace", text=HOSTILE_TEXTS[0]), not_graded("alan")]
    for result in results:
        handed_in = course / "submitted" / result.student / NAME
        handed_in.mkdir(parents=True)
        (handed_in / "timestamp.txt").write_text(HANDED_IN, encoding="utf-8")
        code = {"ex04-task1": HOSTILE_CODE} if result.graded else {}
        write_autograded(course, BOOK, code, result)
    url = f"sqlite:///{course}/gradebook.db"
    write_results(url, BOOK, results, handed_in={result.student: HANDED_IN for result in results})
    with formgrader(course, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def pages(server):
    """Return the number under which formgrader knows each student's notebook."""
    rows = get_json(server, f"/formgrader/api/submitted_notebooks/{NAME}/{NAME}")
    return {row["student"]: row["id"] for row in rows}


def test_submissions_have_their_scores(server):
    """The list of submissions has points, maximum, and who waits for a person."""
    rows = {row["student"]: row for row in get_json(server, f"/formgrader/api/submissions/{NAME}")}

    assert {name: (row["score"], row["max_score"]) for name, row in rows.items()} == {
        "ada": (18, 18),
        "grace": (10, 18),
        "alan": (0, 18),
    }
    assert {name: row["needs_manual_grade"] for name, row in rows.items()} == {
        "ada": False,
        "grace": False,
        "alan": True,
    }
    assert all(row["autograded"] and row["submitted"] for row in rows.values())


def test_assignment_and_students_are_listed(server):
    """The pages of assignments and students have the class's numbers."""
    (assignment,) = get_json(server, "/formgrader/api/assignments")
    students = {row["id"]: row["score"] for row in get_json(server, "/formgrader/api/students")}

    assert (assignment["name"], assignment["max_score"], assignment["num_submissions"]) == (NAME, 18, 3)
    assert students == {"ada": 18, "grace": 10, "alan": 0}


def test_each_cell_has_its_score(server, pages):
    """The scores beside the check cells are those of the tasks."""
    rows = get_json(server, f"/formgrader/api/grades?submission_id={pages['grace']}")

    first, second, *others = WORTH
    assert {row["name"]: row["auto_score"] for row in rows} == {
        first: 1.0,
        second: 0.0,
        **{name: WORTH[name] for name in others},
    }


def test_submission_page_shows_code_and_verdicts(server, pages):
    """The page of a submission has the student's code and the verdicts, and nothing hidden."""
    page = get(server, f"/formgrader/submissions/{pages['grace']}/")

    assert "an even number of readings" in page
    assert "1 of 3 points: a check failed" in page
    assert "one reading (hidden)" in page
    assert HIDDEN_EXPECTED not in page
    assert "a long list with one outlier" not in page


def test_ungraded_submission_says_why(server, pages):
    """The page of a submission without a grade says what was wrong with it."""
    page = get(server, f"/formgrader/submissions/{pages['alan']}/")

    assert "Not graded." in page
    assert "line 3 is not JSON" in page


@pytest.mark.parametrize("path", ["", f"/{NAME}", f"/{NAME}/{NAME}"])
def test_gradebook_pages_open(server, path):
    """The gradebook's pages answer."""
    assert "formgrader" in get(server, f"/formgrader/gradebook{path}")


def test_student_s_text_runs_in_no_instructor_s_browser(server, pages, browser):
    """In a browser formgrader shows the score in its field, and no text of the student has become code."""
    context = browser.new_context(extra_http_headers={"Authorization": f"token {TOKEN}"})
    page = context.new_page()
    # whatever is not this machine (fonts, MathJax) is not fetched
    page.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
    page.goto(f"{server}/formgrader/submissions/{pages['grace']}/")
    page.wait_for_function("[...document.querySelectorAll('input.score')].some(one => one.placeholder === '1')")

    title, body = page.title(), page.inner_text("body")
    context.close()

    assert "owned" not in title
    assert "onerror=document.title='owned'" in body
