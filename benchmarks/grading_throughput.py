"""The course's grader beside `nbgrader autograde`, in one run: seconds of the whole command, and their ratio.

    python benchmarks/grading_throughput.py [--exercise 06] [--classes 20 200] [--workers 1 2] [--runs 3] [--json]
        [--save FILE]

Both grade the same true submissions of a torch exercise in the same temporary course, as commands, start included, and
both write nbgrader's gradebook. Each number is the median of some runs; nbgrader grades the large class as often as the
course does, which takes most of the time (about an hour in all). `--save` keeps each run as soon as it is done, and
takes up again what is kept there; pieces of different moments compare only where the machine was equally quiet, so the
load before each run is kept and printed. Beside it stands what the same checks cost in one
process with torch loaded, without any grader. No part of the tests: a wall time proves nothing on a shared machine.
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
from course_utils.reporting.files import write_file
from course_utils.reporting.tables import text_table

OWN_RUNS = 5


@dataclass(frozen=True)
class CommandTimes:
    """One command on a class, run several times.

    Args:
        what: the command.
        submissions: how many were graded.
        times_s: wall time of the whole command, one for each run.
        largest_mib: resident memory of the largest process of the runs.
        highest_load: the load of the machine (processes that wanted to run, mean of a minute) before the busiest run.
    """

    what: str
    submissions: int
    times_s: tuple[float, ...]
    largest_mib: float
    highest_load: float

    @property
    def median_s(self) -> float:
        """The median of the wall times."""
        return statistics.median(self.times_s)


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


def run_once(what: str, command: list[str], folder: Path) -> tuple[float, float]:
    """Run a command in a course.

    Returns:
        Its wall time in seconds, and the resident memory of its largest process in MiB.

    Raises:
        RuntimeError: when it fails; a command that fails has no time.
    """
    # nbgrader calls alembic by name
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | {"PATH": path}, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise RuntimeError(f"{what} ended with exit code {process.returncode}: {errors.read().strip()[-300:]}")
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return seconds, usage.ru_maxrss * unit / 2**20


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


@dataclass(frozen=True)
class Run:
    """One run of one command.

    Args:
        what: the command.
        submissions: how many it graded.
        number: which of its runs, from 0.
        time_s: its wall time.
        mib: resident memory of its largest process.
        load: the machine's load before it.
    """

    what: str
    submissions: int
    number: int
    time_s: float
    mib: float
    load: float


def read_runs(path: Path | None, exercise: str) -> list[Run]:
    """Read the runs that an earlier call kept.

    Raises:
        ValueError: when the file holds something else, or runs of another exercise.
    """
    if path is None or not path.exists():
        return []
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("exercise") != exercise:
        raise ValueError(f"{path} holds runs of {content.get('exercise')}, not of {exercise}; name another file")
    return [Run(**row) for row in content["runs"]]


def keep_runs(path: Path | None, exercise: str, runs: list[Run]) -> None:
    """Write all runs so far."""
    if path is not None:
        write_file(path, json.dumps({"exercise": exercise, "runs": [asdict(run) for run in runs]}, indent=1).encode())


def measure(
    root: Path, name: str, classes: list[int], workers: list[int], *, runs: int, saved: Path | None
) -> list[CommandTimes]:
    """Time nbgrader and the course's grader on each class, one after the other in each round."""
    nbgrader = [sys.executable, "-m", "nbgrader"]
    commands = {"nbgrader autograde": [*nbgrader, "autograde", name, "--create"]}
    for count in workers:
        commands[f"course grade, {count} worker{'s' * (count > 1)}"] = [
            *(sys.executable, "-m", "course_utils.cli", "grade", name, "--workers", str(count))
        ]
    taken = read_runs(saved, name)
    known = {(run.what, run.submissions, run.number) for run in taken}
    rounds = [(what, size, number) for number in range(runs) for size in classes for what in commands]
    left = [each for each in rounds if each not in known]
    with tempfile.TemporaryDirectory() as scratch, tqdm(left, unit="run", disable=not sys.stderr.isatty()) as bar:
        for what, size, number in bar:
            folder = Path(scratch) / f"{size}-{number}"
            make_course(root, name, folder, size)
            if what.startswith("nbgrader"):  # the course's grader needs no release in the gradebook
                run_once("generate", [*nbgrader, "generate_assignment", name, "--create"], folder)
            load = os.getloadavg()[0]
            taken.append(Run(what, size, number, *run_once(what, commands[what], folder), load))
            keep_runs(saved, name, taken)
            shutil.rmtree(folder)
    found = []
    for what, size in dict.fromkeys((what, size) for what, size, _ in rounds):
        own = [run for run in taken if (run.what, run.submissions) == (what, size) and run.number < runs]
        times_s = tuple(run.time_s for run in own)
        found.append(CommandTimes(what, size, times_s, max(run.mib for run in own), max(run.load for run in own)))
    return found


def report(found: list[CommandTimes], own_s: float) -> str:
    """Return the medians as a table, each with its ratio to nbgrader's on the same class."""
    baseline = {one.submissions: one.median_s for one in found if one.what.startswith("nbgrader")}
    rows = [("command", "class", "median s", "from", "to", "nbgrader / this", "largest process", "load")]
    for one in found:
        ratio = f"{baseline[one.submissions] / one.median_s:.1f}"
        spread = (f"{min(one.times_s):.2f}", f"{max(one.times_s):.2f}")
        size = f"{one.largest_mib:.0f} MiB"
        row = (one.what, str(one.submissions), f"{one.median_s:.2f}", *spread, ratio, size, f"{one.highest_load:.1f}")
        rows.append(row)
    return "\n".join([*text_table(rows), f"the checks alone, without any grader: {own_s:.3f} s a submission"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the course's grader beside nbgrader autograde.")
    parser.add_argument("--exercise", default="06", help="a torch exercise (default: 06)")
    parser.add_argument("--classes", type=int, nargs="+", default=[20, 200], help="submissions (default: 20 200)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="worker processes (default: 1 2)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the median counts (default: 3)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep each run here, and take up what is kept")
    parser.add_argument("--json", action="store_true", help="print JSON with the raw times")
    arguments = parser.parse_args()
    for option in ("classes", "workers", "runs"):
        given = getattr(arguments, option)
        if min(given if isinstance(given, list) else [given]) < 1:
            parser.error(f"--{option} is {given}; it has to be 1 or more")
    root = find_course_root()
    name = find_exercise(root, arguments.exercise).name
    try:
        found = measure(root, name, arguments.classes, arguments.workers, runs=arguments.runs, saved=arguments.save)
    except (OSError, ValueError, RuntimeError) as error:
        parser.error(str(error))
    own_s = own_code_s(root, name)
    if arguments.json:
        print(json.dumps({"exercise": name, "own_code_s": own_s, "commands": [asdict(one) for one in found]}, indent=2))
    else:
        print(report(found, own_s))


if __name__ == "__main__":
    main()
