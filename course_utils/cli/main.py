"""The `course` command, for students, instructors and machines that test.

Exit codes: 0 done (passed, usable, clean, fits), 1 not yet (a check failed, MPS is not usable, the audit found
something, a model does not fit, numbers differ, an exercise was refused, somebody could not be graded), 2 wrong usage,
130 stopped with Ctrl-C. Each command lives in a module of `course_utils.cli.usage`, which loads torch and the rest only
when it runs, so that `course --help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import io
import sys
from collections.abc import Sequence

from course_utils.cli.usage import UsageError
from course_utils.data.package import VERSION

# command -> its module beside this one; only the module of the command that was asked for is loaded
COMMANDS = {
    "doctor": "doctor",
    "start": "start",
    "lab": "lab",
    "check": "check",
    "bench": "bench",
    "audit": "audit",
    "memory": "memory",
    "compare": "compare",
    "report": "report",
    "progress": "progress",
    "solution": "solution",
    "submit": "submit",
    "release": "release",
    "bundle": "bundle",
    "grade": "grade",
    "return": "return_feedback",
    "canvas": "canvas",
}


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser of all commands, or of the one that the first word names."""
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
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"course_utils.cli.{COMMANDS[name]}")
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
