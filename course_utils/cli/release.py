"""`course release`: make the students' notebooks from the instructor's, and refuse what is not fit for students."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_course, require_writable
from course_utils.exercises.course import exercise_names, find_exercise
from course_utils.reporting.progress_bar import BAR


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE", help="number or name, such as 04 (default: all)")
    parser.add_argument(
        "--timeout", type=positive_number, default=300.0, metavar="S", help="seconds for one run (default: 300)"
    )


def chosen_names(root: Path, asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """Find the exercises to release.

    Raises:
        UsageError: when one is unknown, has no instructor's notebook, or there is none at all.
    """
    try:
        names = [find_exercise(root, word).name for word in asked] or list(known)
    except LookupError as error:
        raise UsageError(error.args[0]) from error
    for name in names:
        if name not in known:
            raise UsageError(f"exercise {name} has no instructor's notebook in solutions/; a release is made from it")
    if not names:
        raise UsageError(f"there is no exercise in {root / 'solutions'}")
    return names


def run(arguments: argparse.Namespace) -> int:
    """Examine and generate.

    Returns:
        0 when all were released, 1 when one was refused; the release of a refused one stays as it was.
    """
    if importlib.util.find_spec("nbgrader") is None:
        raise UsageError("nbgrader is not installed in this environment; `make test` installs it")
    from tqdm import tqdm

    from course_utils.grading.releasing.release import generate, source_names
    from course_utils.grading.releasing.release_runs import examine

    root = require_course()
    known = source_names(root)
    names = chosen_names(root, arguments.exercises, known)
    require_writable(root, "the release")
    bar = tqdm(names, bar_format=BAR, disable=not sys.stderr.isatty(), leave=False)
    findings = {name: examine(root, name, timeout_s=arguments.timeout) for name in bar}
    good = [name for name in names if not findings[name]]
    generate(root, good, root)
    # a release without a source belongs to an exercise that was renamed or taken out
    stale = [] if arguments.exercises else [name for name in exercise_names(root) if name not in known]
    for name in stale:
        shutil.rmtree(root / "exercises" / name)
    for name in names:
        for finding in findings[name]:
            print(finding)
    for what, which in (("released", good), ("removed, without a source", stale)):
        if which:
            print(f"{what}: {', '.join(which)}")
    refused = [name for name in names if findings[name]]
    if refused:
        print(f"refused, its release is as before: {', '.join(refused)}")
    return 1 if refused else 0
