"""`course report`: what this machine is, which faults of MPS it has and how fast it is, in one archive to send."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_target

if TYPE_CHECKING:
    from course_utils.reporting.steps import Step, StepEnd

DEFAULT_OUTPUT = "course-report.zip"
STEPS = ("doctor", "known", "bench")
INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--output", type=Path, default=Path(DEFAULT_OUTPUT), metavar="FILE.zip", help=f"default: {DEFAULT_OUTPUT}"
    )
    parser.add_argument(
        "--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="PART", help=f"of {', '.join(STEPS)}"
    )
    parser.add_argument(
        "--max-time", type=positive_number, default=3.0, metavar="S", help="seconds for one measurement at most"
    )


def plan(max_time_s: float = 3.0) -> tuple[Step, ...]:
    """Return the parts of a report: commands that each write one document.

    Args:
        max_time_s: how long one measurement may take, seconds.
    """
    from course_utils.reporting.steps import HERE, Step

    course = (sys.executable, "-m", "course_utils.cli")
    bench = ("bench", "--sweep", "--no-chart", "--save", f"{HERE}/bench.json", "--max-time", f"{max_time_s:g}")
    return (
        Step("doctor", "what this machine is", (*course, "doctor", "--save", f"{HERE}/doctor.json"), (0, 1)),
        Step(
            "known",
            "which publicly reported silent faults of MPS it has",
            (*course, "compare", "--known", "--json"),
            (0, 1),
            "known.json",
        ),
        Step("bench", "how fast the course's models are on it", (*course, *bench)),
    )


def to_send(folder: Path, steps: Sequence[Step], ended: Mapping[str, StepEnd]) -> dict[str, bytes]:
    """Return what goes into the archive: each part's document, and what a part that failed said.

    Args:
        folder: where the parts wrote.
        steps: the parts that were asked for.
        ended: how those that ran ended.
    """
    found = {f"{step.name}.json": folder / f"{step.name}.json" for step in steps if step.name in ended}
    failed = [step for step in steps if step.name in ended and not ended[step.name].answered]
    found |= {name: folder / name for step in failed for name in (step.file, step.errors_file)}
    files = {name: path.read_bytes() for name, path in found.items() if path.is_file() and path.stat().st_size}
    lines = [f"{name}.json: {_words(name, steps, ended)}" for name in (step.name for step in steps)]
    head = "What `course report` found on one machine. Every file is text; look into it before you send it.\n\n"
    return files | {"about.txt": (head + "\n".join(lines) + "\n").encode()}


def _words(name: str, steps: Sequence[Step], ended: Mapping[str, StepEnd]) -> str:
    says = next(step.says for step in steps if step.name == name)
    end = ended.get(name)
    return f"{says}; {'did not run' if end is None else end.words}"


def run(arguments: argparse.Namespace) -> int:
    """Run the parts, pack, and say how to look into the archive.

    Returns:
        0 when every part answered, 1 when one did not, 130 after Ctrl-C; what ended by then is packed.
    """
    output: Path = arguments.output
    if output.suffix != ".zip":
        raise UsageError(f"--output is {output}; the archive is a zip, so its name has to end in .zip")
    require_target(output, "the archive")
    from course_utils.doctor.anonymous import this_sender
    from course_utils.doctor.archive import write_archive
    from course_utils.reporting.steps import run_step

    steps = [step for step in plan(arguments.max_time) if step.name in arguments.only]
    ended: dict[str, StepEnd] = {}
    interrupted = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for step in steps:
                print(f"{step.name}: {step.says} ...", file=sys.stderr, flush=True)
                ended[step.name] = run_step(step, folder)
        except KeyboardInterrupt:
            interrupted = True
        files = to_send(folder, steps, ended)
        try:
            write_archive(files, output, this_sender())
        except OSError as error:
            raise UsageError(f"the archive cannot be written to {output}: {error.strerror or error}") from error
    print(f"{output}: {', '.join(sorted(files))}")
    print(f"It names no person, no host and no path. Look into it before you send it: unzip -p {output} | less")
    for step in steps:
        if step.name in ended and not ended[step.name].answered:
            print(f"! {step.name} {ended[step.name].words}; {step.errors_file} says why")
    if interrupted:
        return INTERRUPTED
    return 0 if all(end.answered for end in ended.values()) else 1
