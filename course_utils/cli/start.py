"""`course start`: lay out lessons and exercises in a folder, where the course was installed without a clone."""

from __future__ import annotations

import argparse
from pathlib import Path

from course_utils.cli.usage import UsageError
from course_utils.exercises.course import is_course_root
from course_utils.exercises.reader_files import lay_out, reader_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", type=Path, help="where the course goes; a new folder, or one that holds it already")


def run(arguments: argparse.Namespace) -> int:
    """Copy what is missing; never replace a file.

    Returns:
        0 when the course is there.
    """
    folder: Path = arguments.folder
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder for the course")
    others = [] if not folder.is_dir() or is_course_root(folder) else sorted(folder.glob("[!.]*"))
    if others:
        raise UsageError(f"{folder} holds other things ({others[0].name}); name a new or an empty folder")
    try:
        files = reader_files()
        kept = lay_out(folder, files)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"the course cannot be written to {folder}: {error.strerror}") from error
    print(f"{folder}: {len(files)} files of the course")
    if kept:
        print(f"{len(kept)} of them were there and differ, and stay as they are: {', '.join(kept)}")
    print(f"Next: cd {folder}; course lab")
    return 0
