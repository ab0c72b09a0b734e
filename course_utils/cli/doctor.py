"""`course doctor`: what keeps this machine, or another one's snapshot, from using MPS, and what to do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.usage import UsageError, require_target
from course_utils.reporting.files import write_file

if TYPE_CHECKING:
    from course_utils.doctor import Snapshot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--snapshot", metavar="FILE", type=Path, help="diagnose the machine that saved this file")
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="write this machine's snapshot, to send to an instructor"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what was found.

    Returns:
        0 when MPS is usable and nothing is wrong, 1 when it is not usable or there are warnings.
    """
    from course_utils import doctor

    if arguments.snapshot is not None and arguments.save is not None:
        raise UsageError("--save writes this machine's snapshot and --snapshot reads another one's; use one of them")
    if arguments.snapshot is not None:
        try:
            snapshot = doctor.read_snapshot(arguments.snapshot)
        except doctor.SnapshotError as error:
            raise UsageError(str(error)) from error
    else:
        if arguments.save is not None:
            _check_target(arguments.save)
        snapshot = doctor.describe()
    report = doctor.DoctorReport.of(snapshot)
    print(report.to_json() if arguments.json else report)
    if arguments.save is not None:
        _save(snapshot, arguments.save)
    return 0 if report.all_well else 1


def _check_target(path: Path) -> None:
    """Refuse a file that cannot be written, or that holds something else, before the machine is described.

    Raises:
        UsageError: with the reason.
    """
    from course_utils import doctor

    require_target(path, "the snapshot")
    if not path.exists():
        return
    try:
        doctor.read_snapshot(path)
    except doctor.SnapshotError as error:
        raise UsageError(f"{path} exists and is not a snapshot, so it is left alone; choose another name") from error


def _save(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot, and say where.

    Raises:
        UsageError: when it cannot be written.
    """
    try:
        write_file(path, snapshot.to_json() + "\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); save elsewhere") from error
    print(f"snapshot saved to {path}; it holds no user name and no other settings of yours", file=sys.stderr)
