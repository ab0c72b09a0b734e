"""The `course` command, for students, instructors and machines that test.

Exit codes: 0 done (passed, usable, clean, fits), 1 not yet (a check failed, MPS is not usable, the audit found
something, a model does not fit, numbers differ, an exercise was refused, somebody could not be graded), 2 wrong usage,
130 stopped with Ctrl-C. Each command lives in a module of `course_utils.cli.usage`, which loads torch and the rest only
when it runs, so that `course --help` answers at once.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.cli.usage import UsageError
from course_utils.data.package import VERSION


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Args:
        module: the module beside this one; only that of the command that was asked for is loaded.
        summary: what it does, in one line of the help.
    """

    module: str
    summary: str


COMMANDS = {
    "doctor": Command("doctor", "say why this machine can or cannot use MPS, and what to do"),
    "start": Command("start", "lay out lessons and exercises in a folder of yours"),
    "lab": Command("lab", "open JupyterLab on the next unfinished lesson, or on another one"),
    "check": Command("check", "run the visible checks of an exercise: which task passed, yours against expected"),
    "bench": Command("bench", "measure the course's workloads on this machine's devices"),
    "audit": Command("audit", "find the operators of a model's step that MPS lacks or may refuse, on any machine"),
    "memory": Command("memory", "estimate whether a model fits into a Mac's memory, or explain a text about memory"),
    "compare": Command("compare", "compare a model's numbers on a device with a higher-precision reference on the CPU"),
    "report": Command(
        "report", "pack what this machine is, which faults it has and how fast it is into one archive to send"
    ),
    "progress": Command(
        "progress", "show which exercises are solved, what to do next, and how well you predict; runs only what changed"
    ),
    "solution": Command(
        "solution", "open the explained solution of an exercise in JupyterLab, once the exercise is solved"
    ),
    "submit": Command("submit", "make the file to hand in from your notebook, and say what is not solved yet"),
    "release": Command("release", "examine the instructor's exercises and make the students' notebooks from them"),
    "bundle": Command(
        "bundle", "pack the students' archive: lessons, exercises and tools, without solutions and hidden tests"
    ),
    "grade": Command("grade", "grade a class: student code in a sandbox, checks outside it, one row for each student"),
    "return": Command("return_feedback", "pack the feedback of a class into one zip: a page for each student"),
    "canvas": Command("canvas", "write the points of a class as a CSV file for Canvas's gradebook"),
}


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser of all commands; the one that is asked for gets its arguments."""
    parser = argparse.ArgumentParser(
        prog="course",
        exit_on_error=False,
        description="PyTorch on Apple Silicon, a hands-on course: measure this machine, open lessons, check exercises.",
        epilog="exit codes: 0 done, 1 not yet (a check failed, MPS is not usable, the audit found something, "
        "a model does not fit, numbers differ, an exercise was refused, somebody could not be graded), "
        "2 wrong usage, 130 stopped",
    )
    parser.add_argument("--version", action="version", version=f"course {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # no option of `course` itself takes a value, so the first word without a dash is the command
    asked_for = next((word for word in words if not word.startswith("-")), None)
    for name, about in COMMANDS.items():
        described = f"{about.summary[0].upper()}{about.summary[1:]}."
        command = commands.add_parser(name, help=about.summary, description=described, exit_on_error=False)
        if name == asked_for:
            module = importlib.import_module(f"course_utils.cli.{about.module}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _escape_what_cannot_be_shown() -> None:
    """Write characters that a terminal's encoding lacks, such as an umlaut in a path, as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after `course`; by default those of this process.

    Returns:
        The exit code.
    """
    _escape_what_cannot_be_shown()
    if arguments is None:
        # the process ends with the command: nothing of torch has to be collected one by one before
        atexit.register(gc.freeze)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        parsed = build_parser(words).parse_args(words)
    except argparse.ArgumentError as error:
        command = next((f"course {word}" for word in words if word in COMMANDS), "course")
        print(f"{command}: {' '.join(filter(None, (error.argument_name, error.message)))}", file=sys.stderr)
        return 2
    try:
        code: int = parsed.run(parsed)
    except UsageError as error:
        print(f"course {parsed.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"course {parsed.command}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of our output went away, as `| head` does; nobody is left to be told
        sys.stderr.close()
        return 0
    return code
