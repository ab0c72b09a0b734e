"""An instructor's view of a graded class: formgrader in JupyterLab, a student's feedback page, the class overview."""

import subprocess
import sys

import pytest
from support.front_end import (
    STUDENTS_FOLDERS,
    copy_course,
    course_lab,
    decline_news,
    open_page,
    save_screenshot,
    surroundings,
)
from support.sandbox_here import needs_sandbox
from support.submissions import released_notebook, solved, submit, with_code, wrong_solutions

pytestmark = [needs_sandbox, pytest.mark.slow]

NAME = "04_measuring_time"
MEAN = wrong_solutions(NAME)["ex04-task1"]["mean instead of median"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Return the folder for screenshots."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def course(browser, tmp_path_factory):
    """Grade a class of four, as an instructor does, in a copy of the course."""
    folder = copy_course(tmp_path_factory.mktemp("course"), (*STUDENTS_FOLDERS, "solutions"))
    submit(folder, "ada", NAME, solved(NAME))
    submit(folder, "grace", NAME, with_code(solved(NAME, only={"ex04-task2", "ex04-task3"}), {"ex04-task1": MEAN}))
    submit(folder, "emmy", NAME, released_notebook(NAME))
    submit(folder, "alan", NAME, {"cells": "not a list"})
    graded = subprocess.run(
        [sys.executable, "-m", "course_utils.cli", "grade", "04"],
        cwd=folder,
        env=surroundings(folder, tmp_path_factory.mktemp("home")),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    # 1: one of the four has no grade
    assert graded.returncode == 1, graded.stdout + graded.stderr
    assert graded.stderr == ""
    return folder


@pytest.fixture(scope="module")
def formgrader(browser, course, tmp_path_factory):
    """Open formgrader from JupyterLab's menu; give the page and the frame in it."""
    with (
        course_lab(course, tmp_path_factory.mktemp("home"), "00") as (address, _),
        open_page(browser, address) as (page, _),
    ):
        page.goto(address)
        decline_news(page)
        page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        page.locator(".lm-Menu").get_by_text("Formgrader", exact=True).click()
        yield page, page.frame_locator("iframe[src*=formgrader]")


def test_formgrader_shows_scores_and_opens_a_submission(formgrader, pictures):
    """The exercise has its submissions and scores, and a submission opens with the student's code and the verdicts."""
    page, frame = formgrader
    row = frame.get_by_role("row").filter(has_text=NAME)
    row.get_by_text("4", exact=True).wait_for()
    save_screenshot(page, "instructor_1_assignments", pictures)
    frame.get_by_role("link", name="Manual Grading").first.click()
    frame.get_by_role("link", name=NAME).click()
    frame.get_by_role("link", name=NAME).click()
    frame.get_by_role("gridcell", name="18 / 18", exact=True).or_(
        frame.get_by_role("cell", name="18 / 18", exact=True)
    ).first.wait_for()
    scores = frame.locator("tbody tr td:nth-child(3)").all_inner_texts()
    save_screenshot(page, "instructor_2_scores", pictures)
    some = next(score for score in scores if score.split(" ")[0] not in ("0", "18"))
    frame.get_by_role("row").filter(has_text=some).get_by_role("link", name="Submission").click()
    frame.get_by_text("statistics.mean(times_s)").scroll_into_view_if_needed()
    said = frame.locator("body").inner_text()
    save_screenshot(page, "instructor_3_submission", pictures)

    assert sorted(scores)[:2] == ["0 / 18", "0 / 18"]
    assert len(scores) == 4
    assert "0 of 4 points" in said
    assert "BEGIN HIDDEN TESTS" not in said


def test_overview_leads_to_a_student_s_feedback(browser, course, pictures):
    """The class overview opens, and its link to a student opens the page with yours beside what was expected."""
    overview = course / "graded" / NAME / "overview.html"
    with open_page(browser, overview.as_uri()) as (page, refused):
        page.goto(overview.as_uri())
        totals = page.locator(".total").inner_text()
        save_screenshot(page, "instructor_4_overview", pictures)
        page.get_by_role("link", name="grace").click()
        page.get_by_role("heading", name=f"Feedback on {NAME}").wait_for()
        pairs = page.locator("table.pair").all_inner_texts()
        save_screenshot(page, "instructor_5_feedback", pictures)

    assert totals.startswith("3 graded")
    assert pairs
    assert all("yours" in pair and "expected" in pair for pair in pairs)
    assert refused == []
