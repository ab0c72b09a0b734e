"""A batch never stops: each student has a result and a row, only what changed is graded, and Ctrl-C keeps the rest."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from support import stand_in_graders, two_tasks
from support.paths import TESTS
from support.small_class import ASSIGNMENT, hand_in, has_ended, wait_for
from support.two_tasks import NAME, SOLVED, submitted, submitted_bytes

from course_utils.data.package import VERSION
from course_utils.exercises.versions import course_version, runtime_versions
from course_utils.grading import assignment
from course_utils.grading.course import Course
from course_utils.grading.pages.feedback import write_feedback
from course_utils.grading.reading import submission
from course_utils.grading.reading.collect import collect, read_all
from course_utils.grading.reading.handed_in import HandedIn
from course_utils.grading.reading.submission import Submission, read_submission
from course_utils.grading.reading.submitted import SubmittedFolder
from course_utils.grading.result import Reason, SubmissionResult, TaskResult, read_result
from course_utils.grading.running import pool
from course_utils.grading.running.batch import BatchOptions, grade_batch
from course_utils.grading.running.job import Job, read_job
from course_utils.grading.running.report import csv_text, short_rows
from course_utils.grading.running.store import load_result, result_path
from course_utils.grading.sinks import Destinations, Sinks
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import read_usage


def grade(root, grader="StandIn", **options):
    """Grade what was handed in, with a stand-in for the grader; return the batch and its results by student."""
    course = Course(ASSIGNMENT, options.pop("limits", Limits()), "stand-in")
    course = replace(course, versions=options.pop("versions", course.versions))
    submissions = read_all(collect(root, ASSIGNMENT, course.limits), ASSIGNMENT, course.limits)
    executor, sinks = options.pop("executor", None), options.pop("sinks", None)
    chosen = BatchOptions(grader_factory=f"support.stand_in_graders:{grader}", **{"workers": 2} | options)
    batch = grade_batch(course, submissions, root.parent / "graded", chosen, executor=executor, sinks=sinks)
    return batch, {result.student: result for result in batch.results}


def report(root):
    """Read the report as a list of dictionaries."""
    with open(root.parent / "graded/report.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_for_each_student(tmp_path):
    """Broken, empty, unrelated and good submissions: every student has a row, a reason and a stored result."""
    root = hand_in(
        tmp_path / "in",
        ada=SOLVED,
        bob="def double(x): return 0",
        cy=b"{broken",
        di=b"",
        ed=json.dumps(two_tasks.notebook()).encode(),
        flo="# raise",
    )
    batch, results = grade(root)

    assert {student: result.reason.value for student, result in results.items()} == {
        "ada": "ok",
        "bob": "wrong",
        "cy": "unreadable",
        "di": "unreadable",
        "ed": "missing",
        "flo": "sandbox",
    }
    assert [row["student"] for row in report(root)] == sorted(results)
    assert "a mistake of the grader's" in results["flo"].tasks[0].message
    for student, result in results.items():
        assert load_result(root.parent / "graded", student) == result
    assert batch.warnings == ("4 of 6 could not be graded",)
    ada, bob, cy = report(root)[:3]
    assert (ada["double-check"], ada["halve-check"], ada["total"], ada["max"], ada["reason"]) == (
        "2",
        "2",
        "4",
        "4",
        "ok",
    )
    assert (bob["total"], bob["message"], bob["seconds"]) == ("2", "not yet", "1")
    # no grade is not the same as no points
    assert (cy["double-check"], cy["total"], cy["max"]) == ("", "", "4")
    assert "ada" in str(batch)
    assert "01_small: 2 of 6 graded, 6 in this run" in str(batch)
    assert "<table>" in batch._repr_html_()


def test_a_worker_that_dies_costs_one_job(tmp_path):
    """A job that ends its worker twice has no grade and a sentence; one that does so once is graded; others too."""
    codes = {f"s{number}": SOLVED for number in range(4)}
    root = hand_in(tmp_path / "in", bad="# exit", once=f"# exit once {tmp_path}/marker\n{SOLVED['double']}", **codes)
    _, results = grade(root)

    assert (tmp_path / "marker").exists()
    assert {student for student, result in results.items() if result.reason is Reason.OK} == {*codes, "once"}
    assert results["bad"].reason is Reason.SANDBOX
    assert results["bad"].tasks[0].message.startswith("the grading process ended with exit code 3, in 2 tries;")
    assert not workers_below(os.getpid())


def workers_below(pid):
    """Return the processes below one that are spawned workers."""
    found = []
    for each in read_usage(pid).processes:
        try:
            words = Path(f"/proc/{each}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in words:
            found.append(each)
    return found


def test_a_worker_that_does_not_answer(tmp_path, monkeypatch):
    """A worker that is silent beyond all limits is ended, and its job has no grade."""
    monkeypatch.setattr(pool, "MOST_TRIES", 1)
    root = hand_in(tmp_path / "in", ada=SOLVED, bob="# hang", cy=SOLVED)
    impatient = pool.Pool(1, "support.stand_in_graders:StandIn", spare_s=4.0)
    _, results = grade(root, executor=impatient, limits=Limits(submission_s=0.1))

    assert results["ada"].reason is results["cy"].reason is Reason.OK
    assert results["bob"].tasks[0].message.startswith("the grading process did not answer in time")
    assert not workers_below(os.getpid())


def test_no_sandbox(tmp_path, monkeypatch):
    """Without a sandbox every submission says so; a worker tries only once."""
    monkeypatch.setenv("COUNT_FILE", str(tmp_path / "count"))
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED, cy=SOLVED)
    _, results = grade(root, "NoSandbox", workers=1)

    assert {result.reason for result in results.values()} == {Reason.SANDBOX}
    assert results["ada"].tasks[0].message == "no sandbox here; install one"
    assert (tmp_path / "count").read_text() == "start\n"


def test_a_model_solution_that_fails(tmp_path):
    """Where the model solution does not earn all points, every result says so."""
    _, results = grade(hand_in(tmp_path / "in", ada=SOLVED), "Doubtful")

    assert results["ada"].notes[-1].startswith("the model solution earns 0 of 2 points on this machine")


def test_workers_that_do_not_start(tmp_path, monkeypatch):
    """When no worker starts, the batch ends with a sentence for each student."""
    monkeypatch.setattr(pool, "serve", stand_in_graders.break_start)
    monkeypatch.setattr(pool, "MOST_FAILED_STARTS", 2)
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED)
    _, results = grade(root)

    assert {result.reason for result in results.values()} == {Reason.SANDBOX}
    assert "no grading process starts" in results["ada"].tasks[0].message


def counted(path):
    """Return what the counting grader did, in order of words, and forget it."""
    words = sorted(path.read_text().split()) if path.exists() else []
    path.unlink(missing_ok=True)
    return words


def test_only_what_changed_is_graded(tmp_path, monkeypatch):
    """Another run grades what another digest has: code, limits, torch, sandbox; outputs and --student do not count."""
    count = tmp_path / "count"
    monkeypatch.setenv("COUNT_FILE", str(count))
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED, cy=b"broken")
    first, _ = grade(root, "Counting", workers=1)
    assert counted(count) == ["ada", "bob", "start"]

    again, _ = grade(root, "Counting", workers=1)
    assert counted(count) == []
    assert again.results == first.results
    assert (first.reused, again.reused) == (0, 3)

    made = submitted(SOLVED)
    made["cells"][1]["outputs"] = [{"output_type": "stream", "text": "ran"}]
    hand_in(root, ada=json.dumps(made).encode(), bob="def double(x): return 1")
    grade(root, "Counting", workers=1)
    assert counted(count) == ["bob", "start"]

    grade(root, "Counting", workers=1, force=True)
    assert counted(count) == ["ada", "bob", "start"]
    grade(root, "Counting", workers=1, force=True, only=["bob"])
    assert counted(count) == ["bob", "start"]
    for change in (
        {"limits": Limits(task_s=9)},
        {"limits": Limits(task_s=9), "versions": replace(runtime_versions(), torch="2.9")},
    ):
        grade(root, "Counting", workers=1, **change)
        assert counted(count) == ["ada", "bob", "start"]


def test_an_old_score_never_stands(tmp_path):
    """A destroyed submission, or one that the grader fails on, replaces the old result; a failure is tried again."""
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED)
    _, before = grade(root)
    assert before["ada"].points == 4

    hand_in(root, ada=b"destroyed", bob="# exit")
    _, after = grade(root)
    assert (after["ada"].reason, after["bob"].reason) == (Reason.UNREADABLE, Reason.SANDBOX)
    assert load_result(root.parent / "graded", "ada").points == 0
    assert [row["total"] for row in report(root)] == ["", ""]

    third, _ = grade(root)
    assert third.reused == 1  # the unreadable one; the one without a sandbox was tried again


def test_only_some_students(tmp_path):
    """With --student others keep what they have; who has nothing valid is listed as not graded yet."""
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED, cy=SOLVED)
    grade(root)
    hand_in(root, bob="def double(x): return 1", cy="def double(x): return 1")
    batch, results = grade(root, only=["bob"])

    assert (results["bob"].points, results["ada"].points, batch.waiting) == (2, 4, ("cy",))
    assert not result_path(root.parent / "graded", "cy").exists()
    assert [row["message"] for row in report(root)] == ["", "not yet", "not graded yet"]


def test_two_runs_agree(tmp_path):
    """The same files give the same results in two runs, whatever the number of workers; only the seconds may differ."""
    root = hand_in(tmp_path / "in", ada=SOLVED, bob="def double(x): return 1", cy=b"broken")
    _, one = grade(root, workers=1)
    _, two = grade(root, workers=3, force=True)

    assert {key: replace(value, seconds=0) for key, value in one.items()} == {
        key: replace(value, seconds=0) for key, value in two.items()
    }


def test_a_broken_result_file(tmp_path):
    """A result file that cannot be read, or is another student's, is graded again."""
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=SOLVED)
    grade(root)
    result_path(root.parent / "graded", "ada").write_text("{")
    result_path(root.parent / "graded", "bob").write_text(
        result_path(root.parent / "graded", "bob").read_text().replace("bob", "eve")
    )
    batch, results = grade(root)

    assert batch.reused == 0
    assert results["ada"].points == results["bob"].points == 4
    assert not list((root.parent / "graded").glob(".*"))


@pytest.mark.parametrize("whole_group", [False, True])
def test_ctrl_c(tmp_path, whole_group):
    """Ctrl-C in the middle: what is graded is kept, the report is written, no process is left; the next run goes on."""
    marker = tmp_path / "marker"
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=f"# block {marker}", cy=SOLVED)
    code = f"""
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}, {str(TESTS / "grading")!r}]
        from pathlib import Path
        if __name__ == "__main__":
            from test_batch import grade
            batch, results = grade(Path({str(root)!r}), workers=1)
            assert "torch" not in sys.modules
            sys.exit(130 if batch.stopped else 1)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    parent = subprocess.Popen([sys.executable, str(script)], start_new_session=True, stderr=subprocess.PIPE, text=True)
    worker = int(wait_for(marker, parent))
    below = read_usage(parent.pid).processes
    assert worker in below
    if whole_group:
        os.killpg(parent.pid, signal.SIGINT)
    else:
        os.kill(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=60)

    assert parent.returncode == 130, errors
    assert "Traceback" not in errors
    assert all(has_ended(pid) for pid in below)
    assert [(row["student"], row["total"], row["message"]) for row in report(root)] == [
        ("ada", "4", ""),
        ("bob", "", "not graded yet"),
        ("cy", "", "not graded yet"),
    ]
    batch, _ = grade(root)
    assert batch.reused == 1


def test_jobs_travel_as_bytes():
    """A job comes back from its bytes as it was, whatever stands in its texts and files."""
    submission = Submission("é\udcff", {"double": "x = '\0\n'"}, ("halve",), ("note\n",), Reason.DUPLICATE)
    job = Job(Course(ASSIGNMENT, Limits(task_s=1.5), unsafe=True), submission)

    assert read_job(job.to_bytes()) == job
    missing = replace(submission, code={}, reason=Reason.MISSING, problem="nothing")
    assert read_job(Job(job.course, missing).to_bytes()).submission == missing
    assert read_job(job.to_bytes()).course.assignment is read_job(job.to_bytes()).course.assignment


def test_digest():
    """The digest has the code, the exercise, the limits, versions and sandbox in it, and not whose submission it is."""
    course = Course(ASSIGNMENT, Limits(), "stand-in")
    ada = read_submission(
        submitted_bytes(SOLVED), student="ada", filename=f"{NAME}.ipynb", assignment=ASSIGNMENT, limits=Limits()
    )
    other = replace(ASSIGNMENT, parts=ASSIGNMENT.parts[:-1])
    digest = course.digest_of(ada)

    assert digest == course.digest_of(replace(ada, student="eve"))
    assert len({
        digest,
        course.digest_of(replace(ada, code={})),
        course.digest_of(replace(ada, notes=("renamed",))),
        replace(course, assignment=other).digest_of(ada),
        replace(course, limits=Limits(task_s=1)).digest_of(ada),
        replace(course, sandbox="none (--unsafe)").digest_of(ada),
        replace(course, versions=replace(course.versions, system="Darwin 15.5 arm64")).digest_of(ada),
    }) == 7  # fmt: skip


def test_course_version():
    """The version has the state of the package's files in it, and is found without loading torch."""
    code = (
        "import sys; from course_utils.exercises.versions import course_version\n"
        "print(course_version(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TESTS.parent, capture_output=True, text=True, check=True)

    assert re.fullmatch(re.escape(VERSION) + r"\+[0-9a-f]{12} False\n", done.stdout)
    assert done.stdout.split()[0] == course_version()


def test_formulas_are_text():
    """No cell of the CSV begins as a formula does, also not behind a line break or a tab."""
    text = csv_text([["=1+1", "+1", "-1", "@x", "\t=1", "\n=1", "plain", 1.5, 2.0, -1.0]])

    assert next(csv.reader([text])) == ["'=1+1", "'+1", "'-1", "'@x", "'=1", "'=1", "plain", "1.5", "2", "-1"]


def test_table_cannot_steer_a_terminal(tmp_path):
    """Control characters that a student's code printed or raised do not reach the terminal."""
    _, results = grade(hand_in(tmp_path / "in", ada=SOLVED | {"double": "x"}))
    (task, *rest) = results["ada"].tasks
    evil = replace(results["ada"], tasks=(replace(task, message="\x1b[2J\u202e" + "x" * 200), *rest))
    rows = short_rows([evil])

    assert all(cell.isprintable() and len(cell) < 80 for row in rows for cell in row)


def test_stored_results_read_back(tmp_path):
    """What lies in the results folder is the result's own JSON, lone surrogates included."""
    root = hand_in(tmp_path / "in", ada=SOLVED)
    _, results = grade(root)

    assert read_result(result_path(root.parent / "graded", "ada").read_text(encoding="utf-8")) == results["ada"]


def test_each_file_is_read_and_parsed_once(tmp_path, monkeypatch):
    """Ten students mean ten reads and ten parses of their files, and one of the instructor's notebook."""
    root = hand_in(tmp_path / "in", **{f"s{number}": SOLVED for number in range(10)})
    reads, parses, instructors = [], [], []
    read_file, parse, parse_own = HandedIn.read, submission.read_submitted_cells, assignment.read_assignment

    def count_read(self, limit_bytes):
        reads.append(self.parts)
        return read_file(self, limit_bytes)

    def count_parse(data, *, limit_bytes):
        parses.append(data)
        return parse(data, limit_bytes=limit_bytes)

    def count_own(data, name):
        instructors.append(name)
        return parse_own(data, name)

    monkeypatch.setattr(HandedIn, "read", count_read)
    monkeypatch.setattr(submission, "read_submitted_cells", count_parse)
    monkeypatch.setattr("course_utils.grading.course.read_assignment", count_own)
    source = tmp_path / f"{NAME}.ipynb"
    source.write_bytes(two_tasks.source_bytes())
    course = Course(count_own(source.read_bytes(), NAME), Limits(), "stand-in")
    rows = collect(root, course.assignment, course.limits)
    submissions = read_all(rows, course.assignment, course.limits, SubmittedFolder(tmp_path, NAME).keep)
    destinations = Destinations(course.assignment, tmp_path, tmp_path / "graded", submissions, None)
    sinks = Sinks(destinations)
    options = BatchOptions(workers=2, grader_factory="support.stand_in_graders:StandIn")
    batch = grade_batch(course, submissions, tmp_path / "graded", options, sinks=sinks)

    assert {result.points for result in batch.results} == {4}
    assert sinks.failures == []
    assert len(list((tmp_path / "autograded").rglob("*.ipynb"))) == len(list((tmp_path / "submitted").iterdir())) == 10
    assert (len(reads), len(parses), len(instructors)) == (10, 10, 1)


def test_a_result_and_its_page_have_one_name(tmp_path):
    """Whatever a student is called, the page beside the result has the same name."""
    root = hand_in(tmp_path / "in", **{"S0 N": SOLVED, "Ada": SOLVED, "x" * 100: SOLVED, "größe": SOLVED})
    _, results = grade(root)
    folder = root.parent / "graded"
    pages = {write_feedback(folder, result).stem for result in results.values()}

    assert len(pages) == 4
    assert {path.stem for path in folder.glob("*.json")} == pages


class Recorded:
    """An executor that answers at once, and notes when it is asked for what."""

    def __init__(self, log):
        self.log = log

    def start(self, jobs):
        """Note it."""
        self.log.append("workers start")

    def run(self, jobs):
        """Give every job full points."""
        for job in jobs:
            tasks = tuple(TaskResult(check.grade_id, "t", 2.0, 2.0, Reason.OK) for check in ASSIGNMENT.checks)
            student = job.submission.student
            self.log.append(f"{student} is graded")
            yield pool.Answer(job, SubmissionResult(NAME, student, tasks, Reason.OK, digest="d").to_json())

    def stop(self):
        """Note it."""
        self.log.append("workers end")


def test_results_are_delivered_while_workers_work(tmp_path, monkeypatch):
    """Workers start before the gradebook is opened, each result is delivered at once, and the end waits for nobody."""
    log = []
    root = hand_in(tmp_path / "in", ada=SOLVED, bob=b"{broken", cy=SOLVED)
    submissions = read_all(collect(root, ASSIGNMENT, Limits()), ASSIGNMENT, Limits())
    sinks = Sinks(Destinations(ASSIGNMENT, tmp_path, tmp_path / "graded", submissions, None))
    for name, note in (("open", "sinks open"), ("close", "sinks close")):
        method = getattr(sinks, name)
        monkeypatch.setattr(sinks, name, lambda method=method, note=note: (log.append(note), method())[1])
    write = sinks.write
    monkeypatch.setattr(sinks, "write", lambda one: (log.append(f"{one.student} is delivered"), write(one))[1])
    course = Course(ASSIGNMENT, Limits(), "stand-in")
    batch = grade_batch(course, submissions, tmp_path / "graded", executor=Recorded(log), sinks=sinks)

    assert [one.student for one in batch.results] == ["ada", "bob", "cy"]
    assert log.index("workers start") < log.index("sinks open") < log.index("bob is delivered")
    assert log.index("bob is delivered") < log.index("ada is graded")
    assert log.index("ada is delivered") == log.index("ada is graded") + 2  # the sinks are asked to be open once more
    assert log.index("ada is delivered") < log.index("cy is graded")
    assert log[-2:] == ["sinks close", "workers end"]
