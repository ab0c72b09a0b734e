"""The `course` command, for students, instructors and machines that test.

Exit codes: 0 done (passed, usable, clean, fits), 1 not yet (a check failed, MPS is not usable, the audit found
something, a model does not fit, numbers differ, an exercise was refused, somebody could not be graded), 2 wrong usage,
130 stopped with Ctrl-C. Each command lives in a module of `course_utils.cli.usage`, which loads torch and the rest only
when it runs, so that `course --help` answers at once.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from course_utils.cli import (
    audit,
    bench,
    bundle,
    canvas,
    check,
    compare,
    doctor,
    grade,
    lab,
    memory,
    progress,
    release,
    report,
    return_feedback,
    solution,
    start,
    submit,
)
from course_utils.cli.usage import UsageError
from course_utils.data.package import VERSION

COMMANDS = {
    "doctor": doctor,
    "start": start,
    "lab": lab,
    "check": check,
    "bench": bench,
    "audit": audit,
    "memory": memory,
    "compare": compare,
    "report": report,
    "progress": progress,
    "solution": solution,
    "submit": submit,
    "release": release,
    "bundle": bundle,
    "grade": grade,
    "return": return_feedback,
    "canvas": canvas,
}


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
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
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        command = commands.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", exit_on_error=False
        )
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
    try:
        parsed = build_parser().parse_args(arguments)
    except argparse.ArgumentError as error:
        words = sys.argv[1:] if arguments is None else arguments
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
