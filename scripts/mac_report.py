"""Run everything that a Mac can tell, and pack what it told: `make mac-report`.

    python -m scripts.mac_report                # runs what has not run yet, then writes the report and the archive
    python -m scripts.mac_report --again tests  # runs that step once more
    python -m scripts.mac_report --only doctor known

Each step is a command of the course, with its output in build/mac-report/. A step that has ended is not run again, so
an interrupted run goes on where it was; whatever a step started ends with it. The report is a page: what passed, what
did not, and which sentences of the course ("not yet run on a Mac") this run allows to change. The archive holds the
page and the outputs, without names, hosts and paths; its first parts are those of `course report`. Exit code 0 when
every step ended as it should, 1 when one did not, 2 when the report's folder cannot be used, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from course_utils.cli.report import plan
from course_utils.doctor.anonymous import this_sender
from course_utils.doctor.archive import write_archive
from course_utils.reporting.errors import sentence
from course_utils.reporting.files import write_file
from course_utils.reporting.steps import HERE, StateError, Step, StepEnd, read_state, run_step, write_state
from scripts.apply_mac_report import planned
from scripts.differences import cases, grading
from scripts.job_summary import SECTIONS, section
from scripts.mac_evidence import NoEvidenceError, evidence, read_report

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mac-report"
INTERRUPTED, UNUSABLE = 130, 2
SCRIPT = (sys.executable, "-m")
COURSE = (sys.executable, "-m", "course_utils.cli")
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
# far more than a slow Mac needs: a GPU that hangs is not to keep a reader waiting for ever
LONG_S = 3600.0
# in the order of what is worth most when the run is stopped early
STEPS = (
    Step("doctor", "whether MPS works here, and why", (*COURSE, "doctor", "--json"), (0, 1), "doctor.json", 300.0),
    *(step for step in plan() if step.name != "doctor"),  # the page needs the doctor's verdict, not the snapshot alone
    Step(
        "lessons",
        "whether every cell of every lesson runs",
        (
            # a cell that hangs fails, and the others run
            *(*PYTEST, "notebooks", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300"),
            *("-n", "2", "--dist", "loadscope", f"--junitxml={HERE}/lessons.xml"),
        ),
        limit_s=LONG_S,
    ),
    Step(
        "grading",
        "whether the macOS sandbox grades",
        (*SCRIPT, "scripts.grade_solutions", "--json", f"{HERE}/grading.json"),
    ),
    Step(
        "tests",
        "whether the course's tests pass",
        (*PYTEST, "tests", "-n", "2", "--dist", "loadscope", f"--junitxml={HERE}/tests.xml"),
        limit_s=LONG_S,
    ),
)


def may_change(folder: Path, root: Path) -> list[str]:
    """Return what in the course this run allows to change, one line each; the reason where it allows nothing.

    Args:
        folder: the report's folder.
        root: the course's root.

    Raises:
        OSError: when the folder cannot be read.
    """
    try:
        proved = evidence(read_report(folder))
    except NoEvidenceError as reason:
        return [f"nothing: {reason}"]
    changes = [change for _, _, found in planned(root, proved) for change in found]
    return [f"{change.path}:{change.line}: {' '.join(change.after.split())}" for change in changes]


def differences(folder: Path) -> list[str]:
    """Return what behaved otherwise than in the rehearsal, as lines of a list, from what the steps left."""
    runs = [line for name in ("lessons", "tests") for line in cases(name, folder / f"{name}.xml")]
    return runs + grading(folder / "grading.json")


def page(
    ended: Mapping[str, StepEnd],
    allowed: Sequence[str],
    steps: Sequence[Step] = STEPS,
    differing: Sequence[str] = (),
) -> str:
    """Return the report in Markdown.

    Args:
        ended: how the steps ended.
        allowed: what in the course may be changed, one line each.
        steps: the report's steps.
        differing: what differed from the rehearsal, as lines of a list.
    """
    lines = ["# What this machine told", "", "| step | says | result | seconds |", "|---|---|---|---|"]
    for step in steps:
        end = ended.get(step.name)
        result = "not run" if end is None else end.words
        lines.append(f"| {step.name} | {step.says} | {result} | {'' if end is None else end.seconds} |")
    lines += ["", "## What differed from the rehearsal", "", "On Linux all of these pass.", ""]
    lines += differing or ["- nothing is known: neither lessons nor tests nor grading ran"]
    lines += ["", "## What may be changed in the course", ""]
    return "\n".join([*lines, *(f"- {line}" for line in allowed or ["nothing: the course says it already"]), ""])


def pack(folder: Path, archive: Path) -> int:
    """Write the archive from the report's folder, without names, hosts and paths; return how many files.

    Raises:
        OSError: when it cannot be written.
    """
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    write_archive(files, archive, this_sender())
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        alone = _hold(folder)
    except BlockingIOError:
        print(f"another run writes into {folder}; wait for it, or end it", file=sys.stderr)
        return UNUSABLE
    except OSError as error:
        return _unusable(folder, error)
    try:
        ended = read_state(folder)
        interrupted = _run_missing(steps, ended, folder, only=chosen.only, again=chosen.again)
        allowed = may_change(folder, ROOT)
        text = page(ended, allowed, steps, differences(folder)) + "\n" + summary(folder)
        write_file(folder / "report.md", text)
        packed = pack(folder, folder.with_suffix(".zip"))
    except StateError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    except OSError as error:
        return _unusable(folder, error)
    finally:
        os.close(alone)
    where = folder / "report.md"
    print(f"{folder.with_suffix('.zip')}: {packed} files; look into {where} before you send it")
    if interrupted:
        return INTERRUPTED
    return 0 if all(end.answered for end in ended.values()) else 1


def _hold(folder: Path) -> int:
    """Keep other runs out of a folder until what this returns is closed, or this process ends.

    Raises:
        BlockingIOError: when another run holds it.
        OSError: when the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _unusable(folder: Path, error: OSError) -> int:
    """Say why the report cannot be kept; return the exit code."""
    print(f"the report cannot be kept in {folder} ({sentence(error)}); make room or change its rights", file=sys.stderr)
    return UNUSABLE


def _run_missing(
    steps: Sequence[Step], ended: dict[str, StepEnd], folder: Path, *, only: Sequence[str], again: Sequence[str]
) -> bool:
    """Run the steps that have not ended, note each in `ended`, and keep it; return whether Ctrl-C stopped one."""
    for step in steps:
        if step.name not in only or (step.name in ended and step.name not in again):
            continue
        print(f"{step.name}: {step.says} ...", flush=True)
        try:
            ended[step.name] = run_step(step, folder, at=ROOT)
        except KeyboardInterrupt:
            print(f"stopped during {step.name}; the same command goes on from here", file=sys.stderr)
            return True
        write_state(folder, ended)
        print(f"{step.name}: {ended[step.name].words}, {ended[step.name].seconds} s")
    return False


def stop_like_ctrl_c() -> None:
    """Let a closed terminal and `kill` stop a run as Ctrl-C does: what is done by then is packed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


if __name__ == "__main__":
    stop_like_ctrl_c()
    sys.exit(main())
