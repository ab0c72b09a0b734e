"""`course bundle`: pack what students get into one file."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path

from course_utils.cli.usage import UsageError, require_course, require_target
from course_utils.data.package import VERSION
from course_utils.reporting.units import format_bytes

DEFAULT_OUTPUT = f"pytorch-apple-silicon-course-{VERSION}.zip"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--output", type=Path, default=Path(DEFAULT_OUTPUT), metavar="FILE.zip", help=f"default: {DEFAULT_OUTPUT}"
    )


def run(arguments: argparse.Namespace) -> int:
    """Pack.

    Returns:
        0 when the archive was written, 1 when it would have held a secret or an exercise is not fit for release.
    """
    if importlib.util.find_spec("nbgrader") is None:
        raise UsageError("nbgrader is not installed in this environment; `make test` installs it")
    output: Path = arguments.output
    if output.suffix != ".zip":
        raise UsageError(f"--output is {output}; the archive is a zip, so its name has to end in .zip")
    require_target(output, "the archive")
    from course_utils.grading.releasing.bundle import collect_files, write_archive
    from course_utils.grading.releasing.hidden_text import find_secrets
    from course_utils.grading.releasing.release import GenerationError, source_names
    from course_utils.grading.releasing.release_gate import examine_source

    root = require_course()
    names = source_names(root)
    if not names:
        raise UsageError(f"{root} has no solutions/; an archive for students is made from the instructor's course")
    sources = {
        name: json.loads((root / "solutions" / name / f"{name}.ipynb").read_text(encoding="utf-8")) for name in names
    }
    problems: list[object] = [finding for name, source in sources.items() for finding in examine_source(name, source)]
    try:
        files = collect_files(root)
        problems += find_secrets(files, sources)
    except GenerationError as error:
        problems.append(f"nbgrader does not make a release: {error}")
    if problems:
        print(*problems, sep="\n")
        print("no archive was written")
        return 1
    write_archive(files, output)
    print(f"{output}: {len(files)} files, {format_bytes(output.stat().st_size)}")
    return 0
