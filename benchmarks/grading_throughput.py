"""The course's grader beside `nbgrader autograde`, in one run: seconds for each submission, and their ratio.

    python benchmarks/grading_throughput.py [--exercise 06] [--submissions 20] [--more 200] [--workers 1 2] [--json]

Both grade the same true submissions of a torch exercise in the same temporary course, as commands, start included, and
both write nbgrader's gradebook. What a submission costs once everything is started is the difference between the larger
and the smaller class. Beside it stands what the same checks cost in one process with torch loaded, without any grader:
the rest is overhead. No part of the tests: a wall time proves nothing on a shared machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_utils.exercises.course import find_course_root, find_exercise
from course_utils.reporting.tables import text_table

OWN_RUNS = 5


@dataclass(frozen=True)
class Run:
    """One command on a class.

    Args:
        what: the command.
        submissions: how many were graded.
        seconds: wall time of the whole command.
    """

    what: str
    submissions: int
    seconds: float

    @property
    def each_s(self) -> float:
        """Seconds for each submission, start included."""
        return self.seconds / self.submissions


def solved(released: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """Return the released notebook with the model solution in it."""
    code = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in source["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    for cell in released["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = code.get(grade_id, cell["source"])
    return released


def make_course(root: Path, name: str, folder: Path, count: int) -> None:
    """Make a course with one exercise and a class that solved it."""
    (folder / "notebooks").mkdir(parents=True)
    shutil.copy(root / "nbgrader_config.py", folder)
    shutil.copytree(root / "solutions" / name, folder / "solutions" / name)
    source = json.loads((root / "solutions" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    released = json.loads((root / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    text = json.dumps(solved(released, source))
    for number in range(count):
        place = folder / "submitted" / f"student{number:04}" / name
        place.mkdir(parents=True)
        (place / f"{name}.ipynb").write_text(text, encoding="utf-8")


def timed(what: str, command: list[str], folder: Path, count: int) -> Run:
    """Run a command in a course and time it.

    Raises:
        RuntimeError: when it fails; a command that fails has no time.
    """
    # nbgrader calls alembic by name
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    begin = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{what} ended with exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return Run(what, count, seconds)


def own_code_s(root: Path, name: str) -> float:
    """Return what the checks of the model solution cost in this process, libraries loaded: the median, seconds."""
    source = json.loads((root / "solutions" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in source["cells"] if cell["cell_type"] == "code"]
    times = []
    for _ in range(OWN_RUNS + 1):
        names: dict[str, Any] = {"__name__": "exercise"}
        begin = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in cells:
                exec(compile(cell, "<cell>", "exec"), names)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])  # the first one loads the libraries


def measure(root: Path, name: str, counts: tuple[int, int], workers: list[int]) -> list[Run]:
    """Time nbgrader on the smaller class, and the course's grader on both."""
    course = [sys.executable, "-m", "course_utils.cli", "grade", name]
    nbgrader = [sys.executable, "-m", "nbgrader"]
    runs: list[Run] = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        tqdm(total=1 + len(workers) * len(counts), unit="run", disable=not sys.stderr.isatty()) as bar,
    ):
        for count in counts:
            for worker_count in workers:
                folder = Path(scratch) / f"{count}-{worker_count}"
                make_course(root, name, folder, count)
                timed("generate", [*nbgrader, "generate_assignment", name, "--create"], folder, count)
                command = [*course, "--workers", str(worker_count)]
                runs.append(timed(f"course grade, {worker_count} worker(s)", command, folder, count))
                bar.update()
        folder = Path(scratch) / "nbgrader"
        make_course(root, name, folder, counts[0])
        timed("generate", [*nbgrader, "generate_assignment", name, "--create"], folder, counts[0])
        runs.insert(0, timed("nbgrader autograde", [*nbgrader, "autograde", name, "--create"], folder, counts[0]))
        bar.update()
    return runs


def report(runs: list[Run], own_s: float) -> str:
    """Return the runs as a table, and what follows from them."""
    baseline = runs[0].each_s
    rows = [("command", "submissions", "seconds", "s each", "nbgrader / this")]
    for run in runs:
        ratio = f"{baseline / run.each_s:.1f}"
        rows.append((run.what, str(run.submissions), f"{run.seconds:.1f}", f"{run.each_s:.3f}", ratio))
    lines = text_table(rows)
    by_command: dict[str, list[Run]] = {}
    for run in runs[1:]:
        by_command.setdefault(run.what, []).append(run)
    for what, (small, large) in by_command.items():
        more_s = (large.seconds - small.seconds) / (large.submissions - small.submissions)
        start_s = small.seconds - small.submissions * more_s
        lines.append(
            f"{what}: {more_s:.3f} s for each further submission ({baseline / more_s:.0f} times nbgrader's), "
            f"{start_s:.1f} s to start"
        )
        if what.endswith(" 1 worker(s)"):
            lines.append(f"the checks alone cost {own_s:.3f} s, so {more_s - own_s:.3f} s of it are overhead")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the course's grader beside nbgrader autograde.")
    parser.add_argument("--exercise", default="06", help="a torch exercise (default: 06)")
    parser.add_argument("--submissions", type=int, default=20, help="the class (default: 20)")
    parser.add_argument("--more", type=int, default=200, help="the larger class (default: 200)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="worker processes (default: 1 2)")
    parser.add_argument("--json", action="store_true", help="print JSON with the raw times")
    arguments = parser.parse_args()
    if not 0 < arguments.submissions < arguments.more:
        parser.error(f"--more is {arguments.more}; it has to be above --submissions, {arguments.submissions}")
    root = find_course_root()
    name = find_exercise(root, arguments.exercise).name
    runs = measure(root, name, (arguments.submissions, arguments.more), arguments.workers)
    own_s = own_code_s(root, name)
    if arguments.json:
        print(json.dumps({"exercise": name, "own_code_s": own_s, "runs": [asdict(run) for run in runs]}, indent=2))
    else:
        print(report(runs, own_s))


if __name__ == "__main__":
    main()
