"""Plain nbgrader grades the exercises with the committed configuration, from a fresh copy of the course."""

import shutil

import pytest
from support import submissions
from support.nbgrader_command import nbgrader

pytestmark = pytest.mark.slow

NAME = "04_measuring_time"
TASKS = list(submissions.solution_cells(submissions.source_notebook(NAME)))
# each task is right beside wrong ones, and wrong beside right ones
HALVES = {"odd": set(TASKS[::2]), "even": set(TASKS[1::2])}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Grade a small class once: solved, every second task, and one whose checks ask to be skipped."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(submissions.ROOT / "solutions", root / "solutions")
    shutil.copy(submissions.ROOT / "nbgrader_config.py", root)
    submissions.submit(root, "solved", NAME, submissions.solved(NAME))
    for student, half in HALVES.items():
        submissions.submit(root, student, NAME, submissions.solved(NAME, only=half))
    skipping = submissions.released_notebook(NAME)
    for cell in submissions.check_cells(skipping).values():
        cell["metadata"]["tags"] = ["skip-execution"]
    submissions.submit(root, "skipping", NAME, skipping)
    nbgrader(root, "generate_assignment", NAME, "--create")
    nbgrader(root, "autograde", NAME, "--create")
    nbgrader(root, "generate_feedback", NAME)
    return root


@pytest.fixture(scope="module")
def scores(course):
    """Read the points of each student and check cell from nbgrader's gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                grade.cell.name: grade.auto_score for notebook in submission.notebooks for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(NAME)
        }


def worth():
    """Return what each check cell is worth."""
    cells = submissions.check_cells(submissions.source_notebook(NAME))
    return {grade_id: submissions.grading_of(cell)["points"] for grade_id, cell in cells.items()}


def test_solution_gets_full_points(scores):
    """The instructor's solution earns every point."""
    assert scores["solved"] == worth()


@pytest.mark.parametrize("student", HALVES)
def test_half_the_tasks_right_gets_exactly_their_points(scores, student):
    """A notebook with every second task right earns exactly the points of these tasks."""
    right = {f"{grade_id}-check" for grade_id in HALVES[student]}

    assert scores[student] == {check: points if check in right else 0 for check, points in worth().items()}


def test_skipped_checks_get_zero(scores):
    """The tag skip-execution on check cells earns nothing: the configuration switches it off."""
    assert scores["skipping"] == dict.fromkeys(worth(), 0)


def test_feedback_is_written(course):
    """Each student gets a feedback page that shows yours and expected."""
    pages = sorted((course / "feedback").rglob("*.html"))

    assert len(pages) == 2 + len(HALVES)
    odd = (course / "feedback" / "odd" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "not written yet" in odd
