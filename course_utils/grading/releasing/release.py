"""Make the students' notebooks from the instructor's, with nbgrader, in this process.

nbgrader's command takes seconds to start and leaves a gradebook; its converter, called here without a database, makes
the same files to the byte (nbgrader 0.9.5).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course_utils.reporting.errors import CourseError


class GenerationError(CourseError):
    """nbgrader could not make an exercise; the message is what it said last."""


def source_names(root: Path) -> tuple[str, ...]:
    """List the exercises that have an instructor's notebook."""
    return tuple(sorted(path.parent.name for path in (root / "solutions").glob("[0-9][0-9]_*/[0-9][0-9]_*.ipynb")))


def generate(root: Path, names: Sequence[str], into: Path) -> None:
    """Generate exercises, without looking at what is in them.

    Args:
        root: the course's root, with solutions/ and nbgrader_config.py.
        names: the exercises to generate.
        into: the folder that gets exercises/; what is there under the same names is replaced.

    Raises:
        GenerationError: when nbgrader refuses one; nothing is replaced then.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.utils import capture_log
    from traitlets.config.loader import PyFileConfigLoader

    settings = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    settings.SaveCells.enabled = False
    settings.GenerateAssignment.no_database = True
    with tempfile.TemporaryDirectory(prefix="course-release-") as scratch:
        settings.CourseDirectory.root = scratch
        for name in names:
            source, copied = root / "solutions" / name, Path(scratch) / "solutions" / name
            shutil.copytree(source, copied, ignore=shutil.ignore_patterns(".*", "__pycache__"))
            settings.CourseDirectory.assignment_id = name
            directory = CourseDirectory(config=settings)
            outcome = capture_log(GenerateAssignment(coursedir=directory, config=settings))
            if not outcome["success"]:
                raise GenerationError(_said(outcome.get("log", ""), outcome.get("error", "")))
        for name in names:
            shutil.rmtree(into / "exercises" / name, ignore_errors=True)
            shutil.copytree(Path(scratch) / "exercises" / name, into / "exercises" / name)


def _said(log: str, error: str) -> str:
    """Return the first error of nbgrader's log, or the last line of its traceback."""
    lines = [line.removeprefix("[ERROR]").strip() for line in log.splitlines() if line.startswith("[ERROR]")]
    return (lines or error.strip().splitlines()[-1:] or ["nbgrader gave no reason"])[0]
