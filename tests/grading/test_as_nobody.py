"""Grading as a user without rights: bubblewrap as that user, many workers at once, and neighbours that take much."""

import csv
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import small_exercise
from support.paths import ROOT
from support.sandbox_here import needs_sandbox
from support.small_exercise import NAME, code_cell

pytestmark = needs_sandbox

POOLS = 22
POOL = """
from concurrent.futures import ThreadPoolExecutor
def add(a, b):
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(int, (a, b)))
"""
SLEEPERS = """
import os, time
for _ in range(49):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
def add(a, b):
    return a + b
"""
FORK_BOMB = "import os\ndef add(a, b):\n    while True:\n        os.fork()"
PROBE = """
import os, subprocess, sys
from course_utils.sandbox.sandbox import choose_sandbox
assert os.geteuid()
sys.exit(subprocess.run([*choose_sandbox("", unsafe=False).prefix, sys.executable, "-I", "-c", "pass"]).returncode)
"""
CLASS = {f"pool{n:02}": POOL for n in range(POOLS)} | {"sleepers": SLEEPERS, "bomb": FORK_BOMB}


def prefix():
    """Return the words by which a command runs as nobody; none where this user has no rights anyway."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv (util-linux) to grade as another user")
    nobody = pwd.getpwnam("nobody")
    return ("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--inh-caps=-all")


@pytest.fixture(scope="module")
def course():
    """Make a course that anybody may write to; pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory(prefix="course-nobody-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        (root / "notebooks").mkdir()
        shutil.copy(ROOT / "nbgrader_config.py", root)
        source = root / "solutions" / NAME / f"{NAME}.ipynb"
        source.parent.mkdir(parents=True)
        source.write_text(json.dumps(small_exercise.source_notebook()))
        for student, code in CLASS.items():
            content = small_exercise.notebook([])
            for task_id, solution in (small_exercise.SOLUTIONS | {"ex90-task1": code}).items():
                content["cells"].append(code_cell(task_id, solution, solution=True))
            path = root / "submitted" / student / NAME / f"{NAME}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(content))
        root.chmod(0o777)
        yield root


def run(course, *words):
    """Run Python as nobody in the course."""
    environment = os.environ | {"HOME": str(course), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*prefix(), sys.executable, *words]
    return subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def test_many_at_once_and_greedy_neighbours(course):
    """Twenty-two thread pools at once, beside 49 sleeping processes and a fork bomb: each has its own limit."""
    probe = run(course, "-c", PROBE)
    if probe.returncode != 0:
        pytest.skip(f"bubblewrap does not start this Python for another user: {probe.stderr.strip()[-200:]}")
    done = run(course, "-m", "course_utils.cli", "grade", "90", "--workers", str(len(CLASS)), "--no-gradebook")
    report = course / "graded" / NAME / "report.csv"
    assert report.exists(), done.stdout + done.stderr
    with report.open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    totals = {student: row["total"] for student, row in rows.items()}

    assert totals == dict.fromkeys(CLASS, "10") | {"bomb": "8"}, done.stdout
    # whichever comes first: the grader sees too many processes, or the system gives no more
    assert rows["bomb"]["reason"] in ("crashed", "wrong"), rows["bomb"]
