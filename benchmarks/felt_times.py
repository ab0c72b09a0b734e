"""Times that a student feels, as ratios to `python -c "import torch"` in the same run.

    python benchmarks/felt_times.py               # five rounds
    python benchmarks/felt_times.py --rounds 15 --json

Each round runs every command once, in turns, so that other work on the machine slows all of them alike. "First" means a
course that was just laid out (`course start`), in an empty home: nothing is kept of earlier checks. A wall time proves
nothing on a shared machine: the ratios are what is compared over the months, that of processor times above all, and the
bar is meant for a quiet one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.exercises.reader_files import lay_out, reader_files
from course_utils.reporting.tables import text_table
from course_utils.reporting.units import format_duration

COURSE = (sys.executable, "-m", "course_utils.cli")
REFERENCE = "import torch"


@dataclass(frozen=True)
class Felt:
    """Something that a student waits for.

    Args:
        name: what it is called in the table.
        command: what is run.
        bar_s: what it may take on a quiet machine, seconds; None for the reference.
        answers: exit codes with which it has done its work.
    """

    name: str
    command: tuple[str, ...]
    bar_s: float | None = None
    answers: tuple[int, ...] = (0,)


FELT = (
    Felt(REFERENCE, (sys.executable, "-c", REFERENCE)),
    Felt("import course_utils", (sys.executable, "-c", "import course_utils"), 0.3),
    Felt("course --help", (*COURSE, "--help"), 0.3),
    Felt("first course check 04", (*COURSE, "check", "04"), 1.5, (1,)),  # 1: nothing is written yet
    Felt("first course progress", (*COURSE, "progress"), 6.0, (1,)),
)


@dataclass(frozen=True)
class Reading:
    """How long one run took.

    Args:
        wall_s: by the clock on the wall, seconds.
        processor_s: on all cores, of the command and what it started, seconds.
    """

    wall_s: float
    processor_s: float


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_once(felt: Felt, files: dict[str, Path]) -> Reading:
    """Run one command in a course that nobody has used yet.

    Raises:
        RuntimeError: when it failed.
    """
    with tempfile.TemporaryDirectory() as place:
        home, course = Path(place, "home"), Path(place, "course")
        home.mkdir()
        course.mkdir()
        lay_out(course, files)
        environment = os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        start, used_s = time.perf_counter(), _processor_s()
        done = subprocess.run(felt.command, cwd=course, env=environment, capture_output=True, text=True, check=False)
        reading = Reading(time.perf_counter() - start, _processor_s() - used_s)
    if done.returncode not in felt.answers:
        raise RuntimeError(f"{felt.name} ended with exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return reading


def measure(rounds: int, felt: Sequence[Felt] = FELT) -> dict[str, list[Reading]]:
    """Return the readings of each command, one for each round.

    Args:
        rounds: how often each is run, in turns; a first round warms the disk's cache and does not count.
        felt: what is run.
    """
    files = reader_files()
    readings: dict[str, list[Reading]] = {each.name: [] for each in felt}
    for number in range(rounds + 1):
        for each in felt:
            reading = time_once(each, files)
            if number:
                readings[each.name].append(reading)
    return readings


def rows(readings: dict[str, list[Reading]], felt: Sequence[Felt] = FELT) -> list[list[str]]:
    """Return the table: medians and their ratios to the reference, the range of the readings, and the bar."""
    wall_s = {name: statistics.median(one.wall_s for one in each) for name, each in readings.items()}
    processor_s = {name: statistics.median(one.processor_s for one in each) for name, each in readings.items()}
    found = [["what", "median", "ratio", "readings from", "to", "processor", "ratio", "bar"]]
    for name, bar_s in ((each.name, each.bar_s) for each in felt):
        ends_s = [one.wall_s for one in readings[name]]
        row = [name, format_duration(wall_s[name]), f"{wall_s[name] / wall_s[REFERENCE]:.2f}"]
        row += [format_duration(min(ends_s)), format_duration(max(ends_s)), format_duration(processor_s[name])]
        row += [f"{processor_s[name] / processor_s[REFERENCE]:.2f}", "-" if bar_s is None else format_duration(bar_s)]
        found.append(row)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit code 0 when every command did its work."""
    parser = argparse.ArgumentParser(description="Measure what a student waits for.")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON with every reading instead of the table")
    chosen = parser.parse_args(arguments)
    if chosen.rounds < 1:
        parser.error(f"--rounds is {chosen.rounds}; at least one round has to run")
    load = os.getloadavg()
    readings = measure(chosen.rounds)
    loads = [f"{value:.1f}" for value in (load[0], os.getloadavg()[0])]
    if chosen.json:
        every = {name: [asdict(one) for one in each] for name, each in readings.items()}
        print(json.dumps({"readings": every, "load_before": load[0], "load_after": os.getloadavg()[0]}, indent=2))
        return 0
    print(*text_table(rows(readings), indent=""), sep="\n")
    print(f"{chosen.rounds} rounds on {os.cpu_count()} cores; load {loads[0]} before, {loads[1]} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
