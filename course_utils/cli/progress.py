"""`course progress`: which exercises are solved, what to do next, and how well the student predicts."""

from __future__ import annotations

import argparse
import json
import sys

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_course
from course_utils.reporting.progress_bar import BAR


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--no-run", action="store_true", help="run nothing, show what is known from earlier checks")
    parser.add_argument(
        "--timeout", type=positive_number, default=120.0, metavar="S", help="seconds for one notebook (default: 120)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def run(arguments: argparse.Namespace) -> int:
    """Find out and report.

    Returns:
        0 when every exercise is solved, 1 when not.
    """
    from tqdm import tqdm

    from course_utils.exercises.progress import read_progress, released_exercises

    root = require_course()
    total = len(released_exercises(root))
    if not total:
        raise UsageError(
            f"there is no exercise in {root / 'exercises'}; an instructor makes them with `course release`"
        )
    quiet = arguments.json or not sys.stderr.isatty()
    with tqdm(total=total, bar_format=BAR, disable=quiet, leave=False) as bar:

        def show(name: str) -> None:
            bar.set_description(name)
            bar.update()

        progress = read_progress(root, run=not arguments.no_run, timeout_s=arguments.timeout, on_exercise=show)
    facts = {
        "solved": progress.solved,
        "exercises": [exercise.to_dict() for exercise in progress.exercises],
        "predictions": progress.predictions.to_dict(),
    }
    print(json.dumps(facts, indent=2) if arguments.json else progress)
    return 0 if progress.solved else 1
