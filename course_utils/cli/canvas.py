"""`course canvas`: write the points of a class as a CSV file that Canvas imports."""

from __future__ import annotations

import argparse
from pathlib import Path

from course_utils.cli.return_feedback import add_gradebook_argument, find_results, writes
from course_utils.cli.usage import UsageError, require_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("exercise", metavar="EXERCISE", help="number or name, such as 04 or 04_measuring_time")
    parser.add_argument(
        "--export", type=Path, metavar="FILE.csv", help="what Canvas gives under Grades, Export; its rows are kept"
    )
    parser.add_argument("--assignment", type=int, metavar="N", help="Canvas's number of the assignment")
    parser.add_argument("--output", type=Path, metavar="FILE.csv", help="default: graded/EXERCISE/canvas.csv")
    add_gradebook_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the file.

    Returns:
        0 when every student got points, 1 when there is something to look at before the import.
    """
    _, folder, counted = find_results(arguments.exercise, arguments.db)
    output: Path = arguments.output or folder / "canvas.csv"
    require_target(output, "the file for Canvas")
    from course_utils.grading.books.canvas import CanvasError, canvas_grades
    from course_utils.grading.running.store import write_text

    if arguments.export is None and counted.delivered.moodle:
        raise UsageError(
            "the class came as Moodle's zip, which has no Canvas ids, so Canvas would find nobody; give Canvas's own "
            "export with --export"
        )
    export = None
    if arguments.export is not None:
        try:
            # Canvas writes a byte order mark, so that spreadsheets read it as UTF-8
            export = arguments.export.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise UsageError(f"{arguments.export} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{arguments.export} is not UTF-8, as Canvas's export is; export it again") from error
    try:
        ids = {student: one.canvas_id for student, one in counted.delivered.students.items() if one.canvas_id}
        written = canvas_grades(counted.results, assignment_id=arguments.assignment, export=export, canvas_ids=ids)
    except CanvasError as error:
        raise UsageError(str(error)) from error
    with writes(output):
        write_text(output.resolve().parent, output.name, written.text)
    print(f"{output}: {written}")
    for warning in counted.warnings:
        print(f"! {warning}")
    return 1 if written.warnings or counted.since else 0
