"""A feedback page says why points were lost, shows nothing of hidden checks, and runs nothing of the student's."""

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise

import pytest
from support.browser import violations
from support.graded_results import (
    HIDDEN_EXPECTED,
    HIDDEN_YOURS,
    HOSTILE_STUDENTS,
    HOSTILE_TEXTS,
    WORTH,
    failed_checks,
    not_graded,
    partly,
    solved,
    task,
)

from course_utils.grading.pages.feedback import PAGE_BYTES, feedback_page, write_feedback
from course_utils.grading.pages.reason_words import WORDS
from course_utils.grading.result import CheckResult, Reason, SubmissionResult

ALL_HOSTILE = "\n".join(HOSTILE_TEXTS)


def text_of(result):
    """Return a page as text."""
    return feedback_page(result).decode()


def test_every_reason_is_explained():
    """No reason is without a label, a meaning, and, but for a full score, a next step."""
    assert set(WORDS) == set(Reason)
    for reason, words in WORDS.items():
        assert words.label
        assert words.meaning.endswith(".")
        assert words.next_step or reason is Reason.OK


def test_points_and_reasons_are_on_the_page():
    """The total, each task's points and each task's reason can be read."""
    page = text_of(partly())

    for said in (
        "10 of 18 points",
        "1 of 3",
        "0 of 6",
        "4.1 Median and spread",
        "a check failed",
        "too slow",
        "stopped after 60 s",
    ):
        assert said in page


def test_visible_checks_show_both_sides():
    """A failed visible check has what the code gave and what was expected."""
    page = unescape(text_of(partly(text="{'median_s': 0.5}")))

    assert "{'median_s': 0.5}" in page
    assert "{'median_s': 0.25}" in page
    assert "statistics has median." in page


@pytest.mark.parametrize(
    ("error", "advice"), [("SyntaxError", "could not read the cell"), ("Odd", "run the check cell")]
)
def test_a_cell_that_did_not_run_has_advice_of_its_own(error, advice):
    """A syntax error is told from a wrong answer: what to do about it is another thing."""
    first = replace(partly().tasks[0], error=error, message="your cell raised it (line 3: def f(x)")
    page = text_of(replace(partly(), tasks=(first,)))

    assert "(line 3: def f(x)" in page
    assert advice in page


def test_hints_are_rendered():
    """A hint's backticks are code on the page, and a single one stays what it is."""
    hinted = replace(partly().tasks[0], hint="use `statistics.median`, and <b>not</b> `a")
    page = text_of(replace(partly(), tasks=(hinted,)))

    assert "use <code>statistics.median</code>, and &lt;b&gt;not&lt;/b&gt; `a" in page


def test_nothing_ends_in_a_hash():
    """The page ends with the sandbox and the time; the content hash is the instructor's business."""
    assert solved().digest[:12] not in text_of(solved())


def test_a_comment_and_points_by_hand_are_on_the_page():
    """What a person wrote is shown as text, with its line ends, beside the points that the person gave."""
    first = replace(partly().tasks[0], manual_points=2.5, comment="good idea,\n<script>but late</script>")
    page = text_of(replace(partly(), tasks=(first,)))

    assert "2.5 of 3 points, changed by hand (checks: 1)" in page
    assert "good idea,\n&lt;script&gt;but late&lt;/script&gt;" in page


def test_hidden_checks_show_their_title_only():
    """Of a hidden check the page has its title and its verdict."""
    page = text_of(partly())

    assert "one reading" in page
    assert HIDDEN_YOURS not in page
    assert HIDDEN_EXPECTED not in page


def test_no_grade_is_not_zero_points():
    """A submission that could not be graded says why and what to do, and has no points."""
    page = text_of(not_graded(note="line 3 is not JSON"))

    assert "not graded (could not be read)" in page
    assert "save it there, and hand it in again" in page
    assert "line 3 is not JSON" in page
    assert "0 of" not in page


def test_warnings_are_on_the_page():
    """Grading without a sandbox is named, values counted in the student's process are marked, nobody is suspected."""
    page = text_of(partly(sandbox="none (--unsafe)"))

    assert "graded without a sandbox (--unsafe)" in page
    assert "measured in your process" in page
    assert "tamper" not in page
    assert "without a sandbox" not in text_of(solved())


def test_printed_text_keeps_its_end():
    """Of much printing the end is shown, where the error usually is."""
    long = replace(partly().tasks[0], printed="start " + "x" * 50_000 + " the end")
    page = text_of(replace(partly(), tasks=(long,)))

    assert "the end" in page
    assert "start x" not in page


def huge():
    """Return a result with a megabyte wherever a student's process can put text."""
    text = "<&\x00\u202e" * 250_000
    checks = tuple(CheckResult(f"check {n}", passed=False, yours=text, expected=text) for n in range(10))
    tasks = tuple(
        replace(task(grade_id, 0.0, Reason.WRONG), message=text, checks=checks, printed=text, hint=text)
        for grade_id in list(WORTH) * 2
    )
    return SubmissionResult("04_measuring_time", text, tasks, Reason.WRONG, (text,) * 30, text, text)


def test_page_is_small_whatever_was_returned():
    """Megabytes of hostile text make a page of at most 64 KB; an ordinary one has a few."""
    assert len(feedback_page(huge())) <= PAGE_BYTES
    assert len(feedback_page(partly())) < 10_000


@pytest.mark.parametrize("student", HOSTILE_STUDENTS)
def test_page_is_written_below_the_folder(student, tmp_path):
    """The page of any student is one file of the folder."""
    path = write_feedback(tmp_path / "feedback", partly(student))

    assert path.parent == tmp_path / "feedback"
    assert [entry.name for entry in tmp_path.iterdir()] == ["feedback"]
    assert path.read_bytes().startswith(b"<!DOCTYPE html>")


def test_headings_are_in_order():
    """Headings start at one and skip no level, so that a screen reader can walk them."""
    levels = [int(level) for level in re.findall(r"<h(\d)", text_of(partly(sandbox="none (--unsafe)")))]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


RESULTS = {
    "solved": solved(),
    "partly": partly(text=ALL_HOSTILE, sandbox="none (--unsafe)"),
    "not_graded": not_graded(),
    "renamed": replace(solved(), reason=Reason.RENAMED, notes=("the file was called 'ps1 (1).ipynb'",)),
    "empty": SubmissionResult("04_measuring_time", "", (), Reason.MISSING),
    "tampered": replace(
        solved(), tasks=(replace(task("ex04-task1-check", 0.0, Reason.TAMPERED), checks=failed_checks()),)
    ),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", RESULTS)
def test_pages_are_accessible(browser, tmp_path, name, scheme):
    """axe-core finds nothing against WCAG 2.1 AA, in the light and in the dark."""
    path = write_feedback(tmp_path, RESULTS[name])
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(path.as_uri())

    found = violations(page)
    context.close()

    assert found == []


def test_rules_find_what_is_wrong(browser, tmp_path):
    """The accessibility rules see the page: grey text on white and a picture without words are found."""
    path = tmp_path / "bad.html"
    path.write_text("<html><body><p style='color:#bbb'>pale</p><img src=''></body></html>", encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())

    found = {line.split(":")[0] for line in violations(page)}
    page.close()

    assert {"color-contrast", "image-alt", "html-has-lang", "document-title"} <= found


def test_hostile_text_runs_in_no_browser(browser, tmp_path):
    """With everything hostile in every place, no script runs, no dialog opens, nothing is fetched, and it is text."""
    events = []
    # the policy is set aside, so that the escaping alone has to hold
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.on("dialog", lambda dialog: events.append(dialog.message))
    page.on("request", lambda request: events.append(request.url) if not request.url.startswith("file:") else None)
    path = write_feedback(tmp_path, partly(student=HOSTILE_TEXTS[0], text=ALL_HOSTILE))
    page.goto(path.as_uri())

    title, body = page.title(), page.inner_text("body")
    strange = page.locator("script, img, iframe, svg, link, a, form, input").count()
    context.close()

    assert events == []
    assert strange == 0
    assert title.startswith("04_measuring_time: feedback for <script>")
    assert "<img src=x onerror=document.title='owned'>" in body


def test_policy_of_the_page_is_obeyed(browser, tmp_path):
    """In a browser that obeys the page's policy its style applies, and a script put into the file does not run."""
    path = write_feedback(tmp_path, partly())
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<main>", "<script>document.title='owned'</script><main>"), encoding="utf-8")
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(path.as_uri())

    title = page.title()
    width = page.evaluate("getComputedStyle(document.body).maxWidth")
    context.close()

    assert "owned" not in title
    assert width == "928px"


@pytest.mark.parametrize("width", [320, 1280])
def test_page_fits_its_window(browser, tmp_path, width):
    """The page never scrolls sideways, down to 320 pixels (WCAG 1.4.10)."""
    context = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True)
    page = context.new_page()
    page.goto(write_feedback(tmp_path, partly(text=ALL_HOSTILE + "x" * 5000)).as_uri())

    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    context.close()

    assert overflow == 0
