"""Whether the file is what the student sees: a server in Jupyter's form says when the kernel was last busy."""

import http.server
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from course_utils.cli.check import next_step
from course_utils.exercises.course import Exercise
from course_utils.exercises.notebook import Cell
from course_utils.exercises.outcome import Failure, Outcome, Report
from course_utils.exercises.runner import PracticeResult
from course_utils.exercises.saved import deleted_checks, newer_checkpoint, running_servers, unsaved_run

TOKEN = "secret"
SAVED_S = 1_750_000_000


class Sessions(http.server.BaseHTTPRequestHandler):
    """Answers /api/sessions as jupyter_server does, to who has the token."""

    rows: tuple = ()

    def do_GET(self):
        """Answer."""
        known = self.headers["Authorization"] == f"token {TOKEN}" and self.path == "/api/sessions"
        self.send_response(200 if known else 403)
        self.end_headers()
        self.wfile.write(json.dumps(self.rows if known else {"message": "Forbidden"}).encode())

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def server():
    """Start a server on the loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sessions) as started:
        thread = threading.Thread(target=started.serve_forever, daemon=True)
        thread.start()
        yield started
        started.shutdown()
        thread.join()


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook that was saved at a known time."""
    path = tmp_path / "course" / "exercises" / "04.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    os.utime(path, (SAVED_S, SAVED_S))
    return path


def list_server(folder, port, root, token=TOKEN, host="127.0.0.1"):
    """Write the file by which a server lists itself."""
    row = {"url": f"http://{host}:{port}/", "token": token, "root_dir": str(root)}
    (folder / f"jpserver-{port}{len(token)}.json").write_text(json.dumps(row))


def session(path, after_s):
    """Return the row of a notebook whose kernel was busy some seconds after the file was saved."""
    busy = datetime.fromtimestamp(SAVED_S + after_s, UTC).isoformat().replace("+00:00", "Z")
    return {"path": path, "kernel": {"last_activity": busy, "execution_state": "idle"}}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((session("exercises/04.ipynb", 60),), True),
        ((session("exercises/04.ipynb", -60),), False),
        ((session("exercises/04.ipynb", 1),), False),
        ((session("exercises/05.ipynb", 60),), False),
        (({"path": "exercises/04.ipynb", "kernel": None},), False),
        ((session("exercises/05.ipynb", -9), session("exercises/04.ipynb", 4000)), True),
        ((), False),
    ],
)
def test_a_run_after_the_last_save_is_said(server, notebook, tmp_path, monkeypatch, rows, said):
    """Only where this notebook's kernel was busy after the file was written."""
    monkeypatch.setattr(Sessions, "rows", rows)
    list_server(tmp_path, server.server_port, tmp_path / "course")

    assert bool(unsaved_run(notebook, tmp_path)) is said


def test_servers_that_cannot_be_asked_are_passed_over(server, notebook, tmp_path, monkeypatch):
    """One that has ended, one that refuses, half a file and one of another machine hide no other."""
    monkeypatch.setattr(Sessions, "rows", (session("exercises/04.ipynb", 60),))
    list_server(tmp_path, 1, tmp_path / "course")
    list_server(tmp_path, server.server_port, tmp_path / "course", token="wrong")
    list_server(tmp_path, 80, tmp_path / "course", host="192.0.2.1")
    (tmp_path / "jpserver-2.json").write_text('{"url": ')
    assert unsaved_run(notebook, tmp_path) == ""
    list_server(tmp_path, server.server_port, tmp_path / "course")

    assert "Ctrl+S" in unsaved_run(notebook, tmp_path)
    assert [one.url for one in running_servers(tmp_path) if "192" in one.url] == []


@pytest.mark.parametrize(("state", "said"), [("busy", True), ("idle", False), ("starting", False)])
def test_cells_that_run_now_are_said(server, notebook, tmp_path, monkeypatch, state, said):
    """A kernel that is busy now has something to save, whenever it last spoke; one of another session hides it not."""
    busy = session("exercises/04.ipynb", -60)
    busy["kernel"]["execution_state"] = state
    monkeypatch.setattr(Sessions, "rows", (session("exercises/04.ipynb", -50), busy))
    list_server(tmp_path, server.server_port, tmp_path / "course")

    assert bool(unsaved_run(notebook, tmp_path)) is said


@pytest.mark.parametrize(
    ("after_s", "content", "said"), [(600, "new", True), (600, "{}", False), (-600, "old", False), (1, "new", False)]
)
def test_a_checkpoint_that_is_newer_is_said(notebook, after_s, content, said):
    """An older copy in place of what was saved in JupyterLab; a checkpoint of before an autosave is none."""
    checkpoint = notebook.parent / ".ipynb_checkpoints" / "04-checkpoint.ipynb"
    checkpoint.parent.mkdir()
    checkpoint.write_text(content)
    os.utime(checkpoint, (SAVED_S + after_s, SAVED_S + after_s))

    assert bool(newer_checkpoint(notebook)) is said


def test_without_a_checkpoint_nothing_is_said(notebook):
    """A notebook that was never open in JupyterLab has none."""
    assert newer_checkpoint(notebook) == ""


def test_no_server_says_nothing(notebook, tmp_path):
    """Without Jupyter's folder nothing is known."""
    assert unsaved_run(notebook, tmp_path / "none") == ""


def test_a_deleted_check_is_named():
    """A task without its check cell is named; written answers and cells of the student's own are not tasks."""
    cells = (
        Cell(1, "code", "", grade_id="ex04-task1", solution=True),
        Cell(2, "code", "", grade_id="ex04-task1-check", graded=True, points=3),
        Cell(3, "code", "", grade_id="ex04-task2", solution=True),
        Cell(4, "markdown", "", grade_id="ex04-essay", solution=True, graded=True, points=1),
        Cell(5, "code", "mine"),
    )

    assert deleted_checks(cells) == ("ex04-task2-check",)
    assert deleted_checks(cells[:2]) == ()


def outcome(*, passed):
    """Return what a run of the checks says of one task."""
    check = Outcome("two readings", passed, failure=None if passed else Failure.DIFFERENT)
    return PracticeResult("04_measuring_time", (Report("4.1", 3.0 * passed, 3.0, (check,)),), (), None, ())


@pytest.mark.parametrize(
    ("result", "doubts", "named"),
    [
        (outcome(passed=True), [], ("course submit 04", "course lab 05")),
        (outcome(passed=False), [], ("two readings", "course check 04")),
        (outcome(passed=True), ["not saved"], ("save", "course check 04")),
    ],
)
def test_the_next_step_is_named(result, doubts, named):
    """After a check the student knows the next command: save, mend, or hand in and go on."""
    exercise = Exercise("04_measuring_time", Path("released.ipynb"), Path("source.ipynb"))
    said = next_step(exercise, result, doubts, ["03_devices", "04_measuring_time", "05_models_cpu_and_mps"])

    assert all(word in said for word in named), said
