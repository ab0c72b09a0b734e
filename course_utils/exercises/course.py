"""Where the course's files are: the root, the lessons, the exercises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course_utils.data.package import FOLDER
from course_utils.reporting.near_names import suggest


@dataclass(frozen=True)
class Exercise:
    """One exercise, which is one nbgrader assignment.

    Args:
        name: the assignment's name, such as "04_measuring_time".
        released: the student's notebook; it may not exist yet.
        source: the instructor's notebook; it may not exist (a student's bundle has none).
    """

    name: str
    released: Path
    source: Path


def is_course_root(folder: Path) -> bool:
    """Return whether a folder is the course's root; a student's bundle has exercises/ in place of solutions/."""
    return (folder / "nbgrader_config.py").is_file() and (folder / "notebooks").is_dir()


def find_course_root(start: Path | None = None) -> Path:
    """Find the course's root: the nearest folder above `start`, else the one this package is installed from.

    Raises:
        FileNotFoundError: when neither is there; the message says what to do.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, FOLDER.parent):
        if is_course_root(folder):
            return folder
    raise FileNotFoundError(
        f"no course in or above {here}; change into the folder that holds notebooks/ and exercises/"
    )


def lesson_paths(root: Path) -> tuple[Path, ...]:
    """List the lessons' notebooks, in their order."""
    return tuple(sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb")))


def exercise_names(root: Path) -> tuple[str, ...]:
    """List the exercises, released or not."""
    folders = [folder for part in ("solutions", "exercises") for folder in (root / part).glob("[0-9][0-9]_*")]
    return tuple(sorted({folder.name for folder in folders if folder.is_dir()}))


def find_exercise(root: Path, asked: str) -> Exercise:
    """Find an exercise by its name, its number, or the path of its notebook.

    Raises:
        LookupError: when there is none; the message gives the nearest names.
    """
    names = exercise_names(root)
    wanted = Path(asked).stem if asked.endswith(".ipynb") else asked.strip("/").split("/")[-1]
    number = wanted.zfill(2) if wanted.isdigit() else wanted
    found = [name for name in names if name in (wanted, number) or name.split("_")[0] == number]
    if len(found) != 1:
        raise LookupError(f"no exercise is called {asked!r}; {suggest(wanted, names)}")
    name = found[0]
    return Exercise(
        name=name,
        released=root / "exercises" / name / f"{name}.ipynb",
        source=root / "solutions" / name / f"{name}.ipynb",
    )
