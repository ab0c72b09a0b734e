"""`course compare --known`: which publicly reported silent faults of MPS does this machine have?"""

from __future__ import annotations

import argparse
import json
import sys

from course_utils.cli.usage import UsageError, require_torch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `--known` to the command."""
    parser.add_argument(
        "--known",
        action="store_true",
        help="instead of a model, ask for the silent faults of MPS that were reported in public, in less than a minute",
    )
    parser.add_argument("--large", action="store_true", help="with --known: ask also for those that need 4 to 32 GiB")


def run(arguments: argparse.Namespace) -> int:
    """Ask and report.

    Returns:
        0 when no fault is present, 1 when some are, or a process that asked ended or hung.

    Raises:
        UsageError: for a model beside --known, --large without it, or a device that does not work here.
    """
    if not arguments.known:
        raise UsageError("--large belongs to --known; write `course compare --known --large`")
    if arguments.model is not None or arguments.input:
        raise UsageError("--known asks its own questions; leave the model and --input out")
    require_torch()
    from tqdm import tqdm

    from course_utils.numerics.known_faults import ask_known_faults

    quiet = arguments.json or not sys.stderr.isatty()
    with tqdm(unit="fault", disable=quiet, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        try:
            report = ask_known_faults(arguments.device, large=arguments.large, progress=show)
        except ValueError as error:
            raise UsageError(str(error)) from error
    print(json.dumps(report.to_dict(), indent=2) if arguments.json else report)
    return 0 if report.clean else 1
