"""Results of a small class, and the texts that students might use against whoever reads them."""

from __future__ import annotations

from course_utils.grading.result import CheckResult, Reason, SubmissionResult, TaskResult
from support.submissions import check_cells, grading_of, source_notebook

NAME = "04_measuring_time"
SOURCE = source_notebook(NAME)
WORTH = {grade_id: float(grading_of(cell)["points"]) for grade_id, cell in check_cells(SOURCE).items()}
TITLES = dict(
    zip(
        WORTH,
        ("4.1 Median and spread", "4.2 Write the timer", "4.3 Spot the flawed benchmark", "4.4 Where the GPU wins"),
        strict=True,
    )
)

# what a hidden check gives and expects; no student and no mailed file may have them
HIDDEN_YOURS = "hidden-yours-9f31"
HIDDEN_EXPECTED = "hidden-expected-77ac"

HOSTILE_TEXTS = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "</style><script>document.title='owned'</script>",
    "</pre></td></table><svg onload=document.title='owned'>",
    "&#60;script&#62;document.title='owned'&#60;/script&#62;",
    "left \u202egnirts\u202c right",
    "nul \x00 bell \x07 escape \x1b[31m red",
    "half a pair \ud800",
    "\" onmouseover=\"document.title='owned'",
    '=HYPERLINK("http://127.0.0.1/","click")',
)

HOSTILE_STUDENTS = (
    "o'brien",
    'say "hi"',
    "comma, name",
    "größe-дом-学生",
    "../../etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "Ada",
    "ada",
    "overview",
    "nul",
    "new\nline",
    "nul\x00byte",
    "<b>bold</b>",
    "=1+1",
    "@sum",
    "x" * 300,
    "half\ud800",
    "\u202erevo",
)


def task(grade_id, points=None, reason=Reason.OK, **more):
    """Make the result of one task; full points where none are given."""
    worth = WORTH[grade_id]
    return TaskResult(grade_id, TITLES[grade_id], worth if points is None else points, worth, reason, **more)


def failed_checks(text="{'median_s': 0.5}"):
    """Return a visible check that passed, one that failed with a text, and a failed hidden one."""
    return (
        CheckResult("five readings", passed=True),
        CheckResult("an even number of readings", passed=False, yours=text, expected="{'median_s': 0.25}"),
        CheckResult("one reading", passed=False, yours=HIDDEN_YOURS, expected=HIDDEN_EXPECTED, hidden=True),
        CheckResult("no copy was made", passed=True, measured_inside=True),
    )


def solved(student="ada"):
    """Return a submission with every point."""
    tasks = tuple(task(grade_id) for grade_id in WORTH)
    return SubmissionResult(NAME, student, tasks, Reason.OK, digest="ab" * 32, sandbox="bubblewrap", seconds=1.2)


def partly(student="grace", text="{'median_s': 0.5}", **more):
    """Return a submission with one wrong task, one that ran too long, and a text wherever a student can put one."""
    first, second, *others = WORTH
    tasks = (
        task(first, 1.0, Reason.WRONG, checks=failed_checks(text), printed=text, hint="statistics has median."),
        task(second, 0.0, Reason.TIMEOUT, message="stopped after 60 s", printed="tick\n" * 3),
        *(task(grade_id) for grade_id in others),
    )
    defaults = {"reason": Reason.TIMEOUT, "sandbox": "bubblewrap", "notes": (text,)}
    return SubmissionResult(NAME, student, tasks, **(defaults | more))


def not_graded(student="alan", reason=Reason.UNREADABLE, note="line 3 is not JSON"):
    """Return a submission that could not be graded."""
    tasks = tuple(task(grade_id, 0.0, Reason.MISSING) for grade_id in WORTH)
    return SubmissionResult(NAME, student, tasks, reason, notes=(note,))


def a_class(size):
    """Return a class of the given size: every tenth without a grade, the others spread over the points."""
    made = []
    for n in range(size):
        student = f"student{n:03}"
        if n % 10 == 9:
            made.append(not_graded(student))
        elif n % 3 == 0:
            made.append(solved(student))
        else:
            keep = n % 7 / 7
            tasks = tuple(
                task(grade_id, round(worth * keep, 2), Reason.WRONG, checks=failed_checks())
                for grade_id, worth in WORTH.items()
            )
            made.append(SubmissionResult(NAME, student, tasks, Reason.WRONG, sandbox="bubblewrap"))
    return made
