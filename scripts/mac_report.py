"""Run everything that a Mac can tell, and pack what it told: `make mac-report`.

    python -m scripts.mac_report                # runs what has not run yet, then writes the report and the archive
    python -m scripts.mac_report --again tests  # runs that step once more
    python -m scripts.mac_report --only doctor known

Each step is a command of the course, with its output in build/mac-report/. A step that has ended is not run again, so
an interrupted run goes on where it was. The report is a page: what passed, what did not, and which sentences of the
course ("not yet run on a Mac") this run allows to change. The archive holds the page and the outputs, without home
folders and user names. Exit code 0 when every step ended as it should, 1 when one did not, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.doctor.privacy import scrub
from course_utils.reporting.files import write_file, write_zip
from scripts.job_summary import SECTIONS, section
from scripts.stamp_lessons import NOT_ON_A_MAC

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mac-report"
INTERRUPTED = 130
SCRIPT = (sys.executable, "-m")
GRADED = "grading.json"  # in the report's folder
COURSE = (sys.executable, "-m", "course_utils.cli")


@dataclass(frozen=True)
class Step:
    """One command of the report.

    Args:
        name: how the user calls it, such as "tests".
        says: what its result says, a short phrase.
        command: the words of the command.
        answers: exit codes with which it has answered; any other means that it failed.
        output: the file that takes what it prints, in the report's folder.
    """

    name: str
    says: str
    command: tuple[str, ...]
    answers: tuple[int, ...] = (0,)
    output: str = ""

    @property
    def file(self) -> str:
        """The name of the file with what it printed."""
        return self.output or f"{self.name}.txt"


@dataclass(frozen=True)
class Ended:
    """How a step ended.

    Args:
        code: its exit code.
        seconds: how long it took.
        answered: whether the code is one of its answers.
    """

    code: int
    seconds: float
    answered: bool


PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
# in the order of what is worth most when the run is stopped early
STEPS = (
    Step("doctor", "whether MPS works here, and why", (*COURSE, "doctor", "--json"), (0, 1), "doctor.json"),
    Step(
        "known",
        "which public faults of MPS it has",
        (*COURSE, "compare", "--known", "--json"),
        (0, 1),
        "known.json",
    ),
    Step(
        "bench",
        "times of the course's models",
        (*COURSE, "bench", "--sweep", "--json", "--no-chart", "--max-time", "3"),
        output="bench.json",
    ),
    Step(
        "lessons",
        "whether every cell of every lesson runs",
        (*PYTEST, "notebooks", "--nbval-lax", "--nbval-current-env", "-n", "2", "--dist", "loadscope"),
    ),
    Step(
        "grading",
        "whether the macOS sandbox grades",
        (*SCRIPT, "scripts.grade_solutions", "--json", GRADED),
    ),
    Step("tests", "whether the course's tests pass", (*PYTEST, "tests", "-n", "2", "--dist", "loadscope")),
)


def read_state(folder: Path) -> dict[str, Ended]:
    """Return how steps of an earlier run ended; nothing where there was none."""
    path = folder / "state.json"
    if not path.is_file():
        return {}
    return {name: Ended(**row) for name, row in json.loads(path.read_text(encoding="utf-8")).items()}


def run_step(step: Step, folder: Path) -> Ended:
    """Run one step; what it prints goes into its file, what it warns of beside it."""
    start = time.monotonic()
    # OMP_NUM_THREADS as in `make test`; the fallback variable unset, since a missing operator has to raise
    environment = {name: value for name, value in os.environ.items() if name != "PYTORCH_ENABLE_MPS_FALLBACK"}
    with (folder / step.file).open("wb") as output, (folder / f"{step.name}.stderr.txt").open("wb") as errors:
        code = subprocess.run(
            [str(folder / word) if word == GRADED else word for word in step.command],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            check=False,
        ).returncode
    return Ended(code, round(time.monotonic() - start, 1), code in step.answers)


def may_change(ended: Mapping[str, Ended], doctor: Mapping[str, object], root: Path) -> list[str]:
    """Return what in the course this run allows to change, one line each; nothing where MPS did not compute.

    Args:
        ended: how the steps ended.
        doctor: the doctor's JSON.
        root: the course's root.
    """
    if not doctor.get("mps_usable"):
        return []
    found = []
    if ended.get("lessons") is not None and ended["lessons"].answered:
        for path in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb")):
            if NOT_ON_A_MAC in path.read_text(encoding="utf-8"):
                found.append(f"{path.name}: its card; run `python -m scripts.stamp_lessons {path.name[:2]}`")
    for name, where in (("grading", "docs/grading.md: the sandbox of macOS"), ("tests", "README.md: what has not run")):
        if ended.get(name) is not None and ended[name].answered:
            found.append(where)
    return found


def page(ended: Mapping[str, Ended], allowed: Sequence[str], steps: Sequence[Step] = STEPS) -> str:
    """Return the report in Markdown."""
    lines = ["# What this machine told", "", "| step | says | result | seconds |", "|---|---|---|---|"]
    for step in steps:
        end = ended.get(step.name)
        result = "not run" if end is None else "answered" if end.answered else f"failed (exit code {end.code})"
        lines.append(f"| {step.name} | {step.says} | {result} | {'' if end is None else end.seconds} |")
    lines += ["", "## What may be changed in the course", ""]
    return "\n".join([*lines, *(f"- {line}" for line in allowed or ["nothing: MPS did not compute in this run"]), ""])


def pack(folder: Path, archive: Path) -> int:
    """Write the archive from the report's folder, without home folders and user names; return how many files."""
    home, user = str(Path.home()), Path.home().name
    files = {
        path.name: scrub(path.read_text(encoding="utf-8", errors="replace"), home=home, user=user).encode()
        for path in sorted(folder.iterdir())
        if path.is_file()
    }
    write_zip({f"mac-report/{name}": content for name, content in files.items()}, archive)
    return len(files)


def summary(folder: Path) -> str:
    """Return what continuous integration shows of the same commands."""
    return "\n".join(line for name in SECTIONS for line in section(name, folder / f"{name}.json"))


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER, steps: Sequence[Step] = STEPS) -> int:
    """Run, report and pack; see the module's text for the exit codes."""
    names = [step.name for step in steps]
    parser = argparse.ArgumentParser(description="Run everything that a Mac can tell, and pack what it told.")
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="STEP", help=f"of {', '.join(names)}"
    )
    parser.add_argument("--again", nargs="+", choices=names, default=[], metavar="STEP", help="steps to run once more")
    chosen = parser.parse_args(arguments)
    folder.mkdir(parents=True, exist_ok=True)
    ended = read_state(folder)
    interrupted = False
    for step in steps:
        if step.name not in chosen.only or (step.name in ended and step.name not in chosen.again):
            continue
        print(f"{step.name}: {step.says} ...", flush=True)
        try:
            ended[step.name] = run_step(step, folder)
        except KeyboardInterrupt:
            interrupted = True
            print(f"stopped during {step.name}; the same command goes on from here", file=sys.stderr)
            break
        write_file(folder / "state.json", json.dumps({name: asdict(end) for name, end in ended.items()}, indent=2))
        print(f"{step.name}: {'answered' if ended[step.name].answered else 'failed'}, {ended[step.name].seconds} s")
    doctor = _json(folder / "doctor.json")
    text = page(ended, may_change(ended, doctor, ROOT), steps) + "\n" + summary(folder)
    write_file(folder / "report.md", text)
    archive = folder.with_suffix(".zip")
    print(f"{archive}: {pack(folder, archive)} files; look into {folder / 'report.md'} before you send it")
    if interrupted:
        return INTERRUPTED
    return 0 if all(end.answered for end in ended.values()) else 1


def _json(path: Path) -> Mapping[str, object]:
    """Return what a step wrote as JSON; nothing where it wrote none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
