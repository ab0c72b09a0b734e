"""The overview shows a class: first who has no grade, then points, tasks, reasons and everybody's page."""

import re
from collections import Counter
from urllib.parse import unquote

import pytest
from support.browser import violations
from support.graded_results import HOSTILE_STUDENTS, HOSTILE_TEXTS, NAME, WORTH, a_class, not_graded, partly, solved

from course_utils.grading.pages.feedback import write_feedback
from course_utils.grading.pages.overview import hardest_first, histogram, overview_page, write_overview
from course_utils.grading.result import Reason, SubmissionResult


def hostile_class():
    """Return a class in which every student has a hostile id, and hostile text."""
    texts = HOSTILE_TEXTS * 3
    return [partly(student, text) for student, text in zip(HOSTILE_STUDENTS, texts, strict=False)]


def test_histogram_counts_everybody_once():
    """Each graded submission is in one bar, full points in the last one."""
    graded = [one for one in a_class(200) if one.graded]

    bins = histogram(graded)

    assert sum(one.count for one in bins) == len(graded)
    assert bins[-1].count == sum(one.points >= 17 for one in graded)
    assert len(bins) == 18


@pytest.mark.parametrize("worth", [0, 0.5, 3, 19, 20, 21, 100, 1000])
def test_histogram_has_few_bars(worth):
    """Whatever an exercise is worth, there are at most 20 bars, and they reach the maximum."""
    task = solved().tasks[0]
    full = SubmissionResult(NAME, "ada", (type(task)("a", "a", worth, worth, Reason.OK),), Reason.OK)

    bins = histogram([full])

    assert 1 <= len(bins) <= 20
    assert bins[-1].high >= worth
    assert bins[-1].count == 1


def test_hardest_task_is_first():
    """Tasks are ordered by the share of their points that the class earned."""
    first, second, *_ = (one.name for one in hardest_first([partly("a"), partly("b"), solved("c")]))

    assert first == "4.2 Write the timer"
    assert second == "4.1 Median and spread"


def test_task_counts():
    """A task's row has the mean, and how many earned all and nothing of it."""
    counts = {one.name: one for one in hardest_first([partly("a"), solved("b")])}

    timer = counts["4.2 Write the timer"]
    assert (timer.mean_points, timer.full, timer.none, timer.graded) == (3.0, 1, 1, 2)
    assert len(counts) == len(WORTH)


def test_ungraded_come_first_and_have_no_points():
    """Who could not be graded is at the top, with the reason, and not among the points."""
    page = overview_page(NAME, [solved("ada"), not_graded("zoe")]).decode()

    assert page.index("zoe") < page.index("ada")
    assert "could not be read" in page
    assert "1 graded, median 18 of 18 points; 1 not graded" in page


def test_reasons_are_counted():
    """The reasons' table counts submissions by their reason and tasks by theirs."""
    results = a_class(40)
    page = overview_page(NAME, results).decode()
    wanted = Counter(one.reason for one in results)

    rows = re.findall(r'<tr><th scope="row">([^<]*)</th><td>(\d+)</td><td>(\d+)</td><td>', page)
    counted = {label: int(submissions) for label, submissions, _ in rows}
    assert counted == {
        "all passed": wanted[Reason.OK],
        "a check failed": wanted[Reason.WRONG],
        "could not be read": wanted[Reason.UNREADABLE],
    }


@pytest.mark.parametrize("results", [a_class(30), hostile_class()], ids=["a class", "hostile"])
def test_every_link_leads_to_a_page(results, tmp_path):
    """Each student's link is the page that write_feedback wrote, and each page is linked once."""
    pages = {write_feedback(tmp_path, result).name for result in results}
    overview = write_overview(tmp_path, results).read_text(encoding="utf-8")

    links = [unquote(link) for link in re.findall(r'href="([^"]*)"', overview)]
    assert Counter(links) == Counter(pages)
    assert len(pages) == len(results)


def test_page_of_two_hundred_is_small():
    """A class of 200 makes a page of less than 60 KB, and of 200 hostile ones less than 300."""
    assert len(overview_page(NAME, a_class(200))) < 60_000
    hostile = [partly(f"{n}" + "\x00<" * 1000, "<\x00" * 500_000, notes=("<\x00" * 500_000,) * 50) for n in range(200)]
    assert len(overview_page(NAME, hostile)) < 300_000


@pytest.mark.parametrize("results", [[], [not_graded("alan")], [solved("ada")]], ids=["nobody", "none graded", "one"])
def test_small_classes(results, tmp_path):
    """A class of nobody, of nobody with a grade, and of one has an overview."""
    assert write_overview(tmp_path, results).read_bytes().endswith(b"</html>\n")


def test_two_exercises_are_refused(tmp_path):
    """An overview is of one exercise."""
    other = SubmissionResult("05_other", "ada", (), Reason.OK)

    with pytest.raises(ValueError, match="04_measuring_time, 05_other"):
        write_overview(tmp_path, [solved("ada"), other])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("results", [a_class(30), hostile_class(), []], ids=["a class", "hostile", "nobody"])
def test_overview_is_accessible(browser, tmp_path, results, scheme):
    """axe-core finds nothing against WCAG 2.1 AA, in the light and in the dark, with the histogram's table open."""
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(write_overview(tmp_path, results).as_uri())
    if results:
        page.locator("summary").click()

    found = violations(page)
    context.close()

    assert found == []


@pytest.mark.parametrize("width", [320, 1280])
def test_overview_fits_its_window(browser, tmp_path, width):
    """The overview never scrolls sideways, down to 320 pixels (WCAG 1.4.10)."""
    context = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True)
    page = context.new_page()
    page.goto(write_overview(tmp_path, a_class(30) + hostile_class()).as_uri())

    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    context.close()

    assert overflow == 0
