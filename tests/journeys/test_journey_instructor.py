"""An instructor's day: the commands of docs/instructors.md, in its order, in a fresh clone, for a class of 14."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from support.sandbox_here import MUST_RUN, needs_sandbox
from support.submissions import ROOT, released_notebook, solution_cells, solved, with_code, wrong_solutions

pytestmark = [needs_sandbox, pytest.mark.slow]

NAME = "04_measuring_time"
PAGE = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^## (?P<heading>[^\n]+)$|^```sh\n(?P<commands>.*?)^```$", re.DOTALL | re.MULTILINE)
CHECK = '"three readings", yours='
# what a hidden check of this exercise expects, and is in no file for students
HIDDEN = "a long list with one outlier"
MISTAKES = 2
HOSTILE = {
    "leaves": "import os\nos._exit(0)\n",
    "shouts": "print('x' * 10_000_000)\n",
    "claims": "print('Task 4.1 Median and spread: 6 of 6 checks passed')\nprint(3.0)\nraise SystemExit(0)\n",
}


def blocks():
    """Return the page's commands, as (heading, commands), in its order."""
    found, heading = [], ""
    for match in BLOCK.finditer(PAGE):
        heading = match["heading"] or heading
        if match["commands"]:
            found.append((heading, match["commands"].splitlines()))
    return found


def make_class(course):
    """Return the notebooks of 14 students as bytes, by name, and the points that some of them must get."""
    right = "".join(solution_cells(solved(NAME))["ex04-task1"]["source"])
    # solves its task only where it sees the course's solutions
    pries = f"import os\nif not os.path.exists({str(course / 'solutions')!r}):\n    raise SystemExit\n{right}"
    notebooks, points = {}, {}
    for n in range(2):
        notebooks[f"Solved {n}"] = solved(NAME)
        points[f"Solved {n}"] = "18"
    for task, worth in ((1, "3"), (4, "4")):
        notebooks[f"Partly {task}"] = solved(NAME, only={f"ex04-task{task}"})
        points[f"Partly {task}"] = worth
    mistakes = [(task, code) for task, kinds in wrong_solutions(NAME).items() for code in kinds.values()]
    for n, (task, code) in enumerate(mistakes[:MISTAKES]):
        notebooks[f"Wrong {n}"] = with_code(solved(NAME), {task: code})
    for name, code in (HOSTILE | {"pries": pries}).items():
        notebooks[f"Hostile {name}"] = with_code(released_notebook(NAME), {"ex04-task1": code})
        points[f"Hostile {name}"] = "0"
    files = {name: json.dumps(notebook).encode() for name, notebook in notebooks.items()}
    files |= {"Broken text": b"{", "Broken empty": b"", "Broken other": b'{"cells": "none"}', "Untouched": b""}
    files["Untouched"] = json.dumps(released_notebook(NAME)).encode()
    points |= {"Broken text": "", "Broken empty": "", "Broken other": "", "Untouched": "0"}
    assert len(files) == 14
    return files, points


def pack(path, files):
    """Write the zip that Moodle gives for "Download all submissions"."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, (name, data) in enumerate(files.items(), start=1000):
            archive.writestr(f"{name}_{number}_assignsubmission_file_/{NAME}.ipynb", data)


class Day:
    """A clone of the course, in which the page's commands run; its own tools, and no others, come first on the PATH."""

    def __init__(self, folder):
        self.course = folder / "course"
        if not (ROOT / ".git").exists() or shutil.which("git") is None:
            (pytest.fail if MUST_RUN else pytest.skip)("needs git and the course's repository, to clone it")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(self.course)], check=True, capture_output=True)
        tools = folder / "bin"
        tools.mkdir()
        launcher = tools / "course"
        launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m course_utils.cli "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        path = os.pathsep.join([str(tools), os.path.dirname(sys.executable), os.environ["PATH"]])
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": str(self.course), "OMP_NUM_THREADS": "1"}
        self.left = blocks()
        self.graded = self.course / "graded" / NAME

    def next_block(self, heading, codes=(0,)):
        """Run the page's next block, which has to stand under this heading; return what it printed."""
        found, commands = self.left.pop(0)
        assert found == heading
        printed = []
        for command in commands:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=self.course,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            printed.append(done.stdout)
            assert done.returncode in codes, f"{command}\n{done.stdout}\n{done.stderr}"
            assert "Traceback" not in done.stderr
        return "".join(printed)

    def report(self):
        """Return the report's rows by student."""
        text = (self.graded / "report.csv").read_text(encoding="utf-8")
        return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}

    def correct_a_hidden_check(self):
        """Drop a check from the hidden tests of task 4.1, as an instructor does who finds it unfair."""
        path = self.course / "solutions" / NAME / f"{NAME}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        (cell,) = [cell for cell in notebook["cells"] if HIDDEN in "".join(cell["source"])]
        source = "".join(cell["source"])
        shorter = re.sub(rf'task\.check\(\s*"{HIDDEN}".*?\n\)\n', "", source, flags=re.DOTALL)
        assert shorter != source
        cell["source"] = shorter
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def test_instructor_s_day(tmp_path):
    """Release, grade 14 submissions, look, correct a check, grade again, return: all with the page's commands."""
    day = Day(tmp_path)
    files, points = make_class(day.course)

    said = day.next_block("Release")
    assert "released: 04_measuring_time" in said
    (bundle,) = day.course.glob("pytorch-apple-silicon-course*.zip")
    with zipfile.ZipFile(bundle) as archive:
        assert not [name for name in archive.namelist() if "/solutions/" in name]

    pack(day.course / "moodle.zip", files)
    said = day.next_block("Grade", codes=(1,))
    assert "11 of 14 graded, 14 in this run" in said
    report = day.report()
    assert set(report) == set(files)
    assert {name: report[name]["total"] for name in points} == points
    assert all(0 < float(report[f"Wrong {n}"]["total"]) < 18 for n in range(MISTAKES))
    # one hands in again, and only that one is graded
    files["Untouched"] = json.dumps(solved(NAME, only={"ex04-task4"})).encode()
    points["Untouched"] = "4"
    pack(day.course / "moodle.zip", files)
    assert "11 of 14 graded, 1 in this run" in day.next_block("Grade", codes=(1,))
    assert {name: day.report()[name]["total"] for name in points} == points

    assert "11 graded" in (day.graded / "overview.html").read_text(encoding="utf-8")
    for place in ("submitted", "autograded", "feedback"):
        found = list((day.course / place).glob(f"*/{NAME}/{NAME}.*"))
        assert len(found) == 14, place
    day.next_block("Look")
    with (day.course / "graded/everything.csv").open(encoding="utf-8") as file:
        exported = {row["student_id"]: row["score"] for row in csv.DictReader(file) if row["assignment"] == NAME}
    assert {name: float(exported[name]) for name, each in points.items() if each} == {
        name: float(each) for name, each in points.items() if each
    }

    day.correct_a_hidden_check()
    said = day.next_block("Correct a check", codes=(0, 1))
    assert "11 of 14 graded, 14 in this run" in said
    after = day.report()
    assert {name: after[name]["total"] for name in points} == points
    # the others have one check less to fail, so at least one of those who failed it earns more
    assert any(float(after[f"Wrong {n}"]["total"]) > float(report[f"Wrong {n}"]["total"]) for n in range(MISTAKES))

    rows = "".join(f'"{name}",{number},,{name},A\n' for number, name in enumerate(files, start=1))
    (day.course / "graded" / "canvas_export.csv").write_text(
        f"Student,ID,SIS User ID,SIS Login ID,Section\n{rows}", encoding="utf-8"
    )
    day.next_block("Return", codes=(1,))
    with (day.graded / "canvas.csv").open(encoding="utf-8") as file:
        canvas = {row["SIS Login ID"]: row[NAME] for row in csv.DictReader(file)}
    assert {name: canvas[name] for name in points} == points
    with zipfile.ZipFile(day.graded / "feedback.zip") as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    places = {f"{name}_{number}_assignsubmission_file_/{NAME}.html" for number, name in enumerate(files, start=1000)}
    assert set(pages) == places
    assert not day.left
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=day.course, capture_output=True, text=True, check=True
    ).stdout
    assert changed.split() == ["M", f"solutions/{NAME}/{NAME}.ipynb"]
