"""A class in which everybody hands in something else, true, wrong, broken or hostile: one command, no intervention.

In the sandbox, with gradebook and pages. Two hundred submissions, killed and resumed, are in test_resume.
"""

import contextlib
import copy
import io
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import small_exercise
from support.paths import ROOT
from support.sandbox_here import needs_sandbox
from support.small_exercise import NAME, code_cell

from course_utils.cli import main as cli
from course_utils.grading.result import read_result

# graded twice: those whose end, time or memory could depend on luck
AGAIN = (
    *("right", "one-wrong", "kernel-dies-late", "kernel-dies-early", "kills-the-grader", "hangs", "floods"),
    *("eats-memory", "reads-files", "cell-deleted", "cell-twice", "own-torch"),
)
SECRET = "vault-" + "4711"
pytestmark = needs_sandbox


def released():
    """Return a right notebook as a student hands it in: the model solution, and checks without hidden tests."""
    content = small_exercise.notebook([])
    content["cells"].append(code_cell("ex90-setup", "from course_utils import Task"))
    for task_id, solution in small_exercise.SOLUTIONS.items():
        visible = small_exercise.check_source(task_id).split("### BEGIN")[0] + "task.score()"
        content["cells"].append(code_cell(task_id, solution, solution=True))
        content["cells"].append(code_cell(f"{task_id}-check", visible, grade=True, points=2))
    return content


def cell_of(content, cell_id):
    """Return a cell by its id."""
    return next(cell for cell in content["cells"] if cell["id"] == cell_id)


def changed(change):
    """Return a right notebook after a change."""
    content = copy.deepcopy(released())
    change(content)
    return json.dumps(content).encode()


def with_code(task, source):
    """Return a right notebook with other code in one task."""
    return changed(lambda content: cell_of(content, f"ex90-task{task}").update(source=source))


def every_cell(**metadata):
    """Return a right notebook with metadata added to every cell."""
    return changed(lambda content: [cell["metadata"].update(metadata) for cell in content["cells"]])


def unsolved(change):
    """Return an unsolved notebook after a change that is meant to earn points without work."""

    def both(content):
        for number, cell in enumerate(cell for cell in content["cells"] if cell["id"].count("-") == 1):
            if cell["metadata"]:
                cell["source"] = f"def nothing{number}():\n    pass"
        change(content)

    return changed(both)


def checks(content):
    """Return the check cells."""
    return [cell for cell in content["cells"] if cell["id"].endswith("-check")]


def drop(content, wanted):
    """Remove cells."""
    content["cells"] = [cell for cell in content["cells"] if not wanted(cell)]


@dataclass(frozen=True)
class Row:
    """One kind of submission: the file, the points that it deserves, and the reason."""

    data: bytes | None
    points: float
    reason: str
    filename: str = f"{NAME}.ipynb"


EXIT = "import os\ndef shout(text):\n    os._exit(0)"
LINE_2 = '{"cells": [\n<<<<<<< HEAD\n]}'
RIGHT = json.dumps(released())
OTHER_NAME = "ex90-task9"
HIDDEN_FILES = f"""
import os
def shout(text):
    for folder, below, names in os.walk("/"):
        below[:] = [name for name in below if name not in ("usr", "lib", "site-packages", "sys", "dev")]
        for name in names:
            try:
                with open(os.path.join(folder, name), errors="replace") as file:
                    if {SECRET[:5]!r} + {SECRET[5:]!r} in file.read(100_000): return "found in " + name
            except OSError: pass
            if name.endswith((".db", ".ipynb")): return "found " + name
    return text.upper()
"""
ROWS = {
    "right": Row(RIGHT.encode(), 10, "ok"),
    "untouched": Row(unsolved(lambda content: None), 0, "raised"),
    "one-wrong": Row(with_code(2, "def square(x):\n    return 9"), 9, "wrong"),
    "kernel-dies-late": Row(with_code(5, EXIT), 8, "crashed"),
    "kernel-dies-early": Row(with_code(1, "import os\nos._exit(0)"), 8, "crashed"),
    "kills-the-grader": Row(
        with_code(1, "import os\nos.kill(os.getppid(), 9)\ndef add(a, b):\n    return a + b"), 10, "ok"
    ),
    "hangs": Row(with_code(3, "def longest(words):\n    while True:\n        pass"), 8, "timeout"),
    "floods": Row(
        with_code(3, "def longest(words):\n    print('x' * 10**8)\n    return max(words, key=len)"), 8, "output"
    ),
    "eats-memory": Row(with_code(4, "def count(fails):\n    return len(bytearray(10**10))"), 8, "memory"),
    "stderr": Row(
        with_code(1, "import sys\ndef add(a, b):\n    print('!', file=sys.stderr)\n    return a + b"), 10, "ok"
    ),
    "reads-files": Row(with_code(5, HIDDEN_FILES), 10, "ok"),
    "skip-execution": Row(
        unsolved(lambda c: [x["metadata"].update(tags=["skip-execution"]) for x in checks(c)]), 0, "raised"
    ),
    "raises-exception": Row(every_cell(tags=["raises-exception", "skip-execution"]), 10, "ok"),
    "checks-deleted": Row(changed(lambda c: drop(c, lambda cell: cell["id"].endswith("-check"))), 10, "ok"),
    "one-check-deleted": Row(changed(lambda c: drop(c, lambda cell: cell["id"] == "ex90-task2-check")), 10, "ok"),
    "checks-rewritten": Row(unsolved(lambda c: [x.update(source="2.0") for x in checks(c)]), 0, "raised"),
    "points-raised": Row(
        unsolved(lambda c: [x["metadata"]["nbgrader"].update(points=100) for x in checks(c)]), 0, "raised"
    ),
    "checks-to-text": Row(changed(lambda c: [x.update(cell_type="markdown") for x in checks(c)]), 10, "ok"),
    "check-duplicated": Row(changed(lambda c: c["cells"].insert(3, copy.deepcopy(checks(c)[0]))), 10, "ok"),
    "schema-2": Row(
        changed(lambda c: [x["metadata"]["nbgrader"].update(schema_version=2) for x in checks(c)]), 10, "ok"
    ),
    "extra-points": Row(changed(lambda c: c["cells"].append(code_cell("mine", "50", grade=True, points=50))), 10, "ok"),
    "flags-swapped": Row(
        changed(lambda c: [x["metadata"]["nbgrader"].update(grade=False, solution=True) for x in checks(c)]), 10, "ok"
    ),
    "cell-deleted": Row(changed(lambda c: drop(c, lambda cell: cell["id"] == "ex90-task2")), 8, "missing"),
    "cell-twice": Row(changed(lambda c: c["cells"].append(copy.deepcopy(cell_of(c, "ex90-task2")))), 10, "duplicate"),
    "other-kernel": Row(changed(lambda c: c["metadata"].update(kernelspec={"name": "conda-env-dl"})), 10, "ok"),
    "minor-4-with-ids": Row(changed(lambda c: c.update(nbformat_minor=4)), 10, "ok"),
    "no-ids": Row(changed(lambda c: [cell.pop("id") for cell in c["cells"]]), 10, "ok"),
    "bom": Row(b"\xef\xbb\xbf" + RIGHT.encode(), 10, "ok"),
    "latin-1": Row(
        with_code(5, "def shout(text):  # gr\u00fc\u00dfe\n    return text.upper()").replace(b"\\u00fc", b"\xfc"),
        10,
        "ok",
    ),
    "renamed": Row(RIGHT.encode(), 10, "renamed", f"{NAME} (1).ipynb"),
    "metadata-stripped": Row(changed(lambda c: [cell.update(metadata={}) for cell in c["cells"]]), 10, "ok"),
    "empty-file": Row(b"", 0, "unreadable"),
    "half-a-file": Row(RIGHT.encode()[:300], 0, "unreadable"),
    "conflict": Row(LINE_2.encode(), 0, "unreadable"),
    "not-json": Row(b"\x00\xff" * 50, 0, "unreadable"),
    "no-cells": Row(b'{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', 0, "missing"),
    "nothing": Row(None, 0, "missing"),
    "own-torch": Row(RIGHT.encode(), 10, "ok"),
    "link": Row(RIGHT.encode(), 10, "ok"),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Make a course with a submission of each kind."""
    root = tmp_path_factory.mktemp("course")
    (root / "notebooks").mkdir()
    (root / "secret.txt").write_text(SECRET)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    source = root / "solutions" / NAME / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps(small_exercise.source_notebook()))
    for student, row in ROWS.items():
        folder = root / "submitted" / student / NAME
        folder.mkdir(parents=True)
        if row.data is not None:
            (folder / row.filename).write_bytes(row.data)
        if student == "own-torch":
            for name in ("torch.py", "math.py", "course_utils.py"):
                (folder / name).write_text("raise SystemExit")
        if student == "link":
            (folder / "loot.txt").symlink_to(root / "secret.txt")
    return root


def grade(root, *options):
    """Run the command; return its exit code, its results and what it printed."""
    printed = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(printed):
        code = cli.main(["grade", "90", "--task-seconds", "3", "--memory-gb", "1", *options])
    found = [read_result(path.read_text(encoding="utf-8")) for path in sorted((root / "graded" / NAME).glob("*.json"))]
    return code, {result.student: result for result in found}, printed.getvalue()


@pytest.fixture(scope="module")
def graded(course):
    """Grade the class once, gradebook and pages included."""
    return grade(course)


def facts(result):
    """Return what two runs have to agree on."""
    return [(task.grade_id, task.points, task.reason, task.message, task.checks) for task in result.tasks]


def test_everybody_gets_what_is_deserved(graded):
    """The points and the reason deserved, in one command."""
    code, results, printed = graded

    assert code == 1  # some could not be graded, and every one has a row
    assert len(results) == len(ROWS)
    got = {student: (result.points, str(result.reason)) for student, result in results.items()}
    deserved = {student: (row.points, row.reason) for student, row in ROWS.items()}
    assert {student: row for student, row in got.items() if row != deserved[student]} == {}
    assert all(student in printed for student in ROWS)


def test_a_second_run_agrees(course, graded):
    """Graded once more, they have the same points, reasons and checks."""
    _, again, printed = grade(course, "--force", "--no-gradebook", *(f"--student={name}" for name in AGAIN))

    assert f"{len(AGAIN)} in this run" in printed
    assert {student: facts(graded[1][student]) for student in AGAIN} == {
        student: facts(again[student]) for student in AGAIN
    }


def test_the_gradebook_has_them_all(course, graded):
    """Scores stand in nbgrader's gradebook; who could not be graded has none."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        scores = {
            one.student.id: [n.auto_score for book in one.notebooks for n in book.grades]
            for one in gradebook.assignment_submissions(NAME)
        }

    assert sum(scores["right"]) == 10
    assert scores["half-a-file"] == [None] * 5
    assert set(scores) == set(ROWS)


def test_no_secret_left_the_course(course, graded):
    """Neither a hidden test nor a linked file nor a script is in anything that a student gets to see."""
    root = course
    pages = [path for path in (root / "graded" / NAME).iterdir() if path.suffix == ".html" and path.stem != "overview"]

    assert len(pages) == len(ROWS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "pelican" not in text, page.name  # the input of a hidden test
        assert "QUIET, PLEASE" not in text, page.name  # the value that a hidden test expects
        assert SECRET not in text, page.name
        assert "<script" not in text, page.name


def test_nothing_was_written_outside(course, graded):
    """What students handed in is as it was, and nothing but results and the gradebook is new."""
    root = course
    new = {path.name for path in root.iterdir()} - {
        "notebooks",
        "secret.txt",
        "nbgrader_config.py",
        "solutions",
        "submitted",
    }

    assert new <= {"graded", "gradebook.db", "autograded", "feedback"}
    assert not Path("/evil").exists()
    assert (root / "submitted" / "link" / NAME / "loot.txt").is_symlink()
    copies = [path for path in root.rglob("loot.txt") if not path.is_relative_to(root / "submitted")]
    assert copies == []
    assert os.listdir(root / "notebooks") == []
