"""`course lab`: open JupyterLab on a lesson."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from course_utils.cli.usage import UsageError, require_course
from course_utils.exercises.course import lesson_paths
from course_utils.exercises.progress import next_lesson, read_progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("lesson", nargs="?", help="a lesson's number, such as 04 (default: the next unfinished one)")
    add_server_arguments(parser)


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says how JupyterLab starts."""
    parser.add_argument("--no-browser", action="store_true", help="only serve, and print the address")
    parser.add_argument("--port", type=int, help="the port to listen on (default: 8888 or the next free one)")


def find_lesson(root: Path, asked: str) -> Path:
    """Find a lesson's notebook by its number or the start of its name.

    Raises:
        UsageError: when there is none; the message lists the lessons.
    """
    lessons = lesson_paths(root)
    wanted = asked.zfill(2) if asked.isdigit() else asked.removesuffix(".ipynb")
    found = [path for path in lessons if path.stem == wanted or path.stem.split("_")[0] == wanted]
    if not found:
        raise UsageError(f"no lesson is called {asked!r}; there are: {', '.join(path.stem for path in lessons)}")
    return found[0]


def choose_lesson(root: Path, asked: str | None) -> Path:
    """Choose the lesson to open: the one asked for, else the next unfinished one by what is known, running nothing.

    Raises:
        UsageError: when the lesson asked for does not exist, or there is none at all.
    """
    if asked is not None:
        return find_lesson(root, asked)
    names = [path.stem for path in lesson_paths(root)]
    if not names:
        raise UsageError(f"there is no lesson in {root / 'notebooks'}")
    return find_lesson(root, next_lesson(names, read_progress(root, run=False)))


def lab_command(root: Path, notebook: Path, *, no_browser: bool, port: int | None) -> list[str]:
    """Compose the call of JupyterLab: this environment's, rooted at the course."""
    # as the default address, the notebook is also in the link that --no-browser prints
    address = f"/lab/tree/{notebook.relative_to(root).as_posix()}"
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}", f"--LabApp.default_url={address}"]
    command += ["--no-browser"] if no_browser else []
    # Jupyter refuses to run as root; in a container the only user is root, and it serves on loopback only
    command += ["--allow-root"] if os.geteuid() == 0 else []
    return command + ([f"--port={port}"] if port is not None else [])


def become_lab(root: Path, notebook: Path, *, no_browser: bool, port: int | None) -> None:
    """Become JupyterLab on a notebook of the course; returns only where that is impossible.

    Raises:
        UsageError: when JupyterLab is not installed.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise UsageError("JupyterLab is not installed in this environment; run `make lab`, which installs it")
    command = lab_command(root, notebook, no_browser=no_browser, port=port)
    os.chdir(root)
    # on POSIX the process is replaced, so that Ctrl-C reaches JupyterLab alone
    os.execv(command[0], command)


def run(arguments: argparse.Namespace) -> int:
    """Open a lesson.

    Returns:
        0; JupyterLab's own exit code where this process became it.
    """
    root = require_course()
    lesson = choose_lesson(root, arguments.lesson)
    become_lab(root, lesson, no_browser=arguments.no_browser, port=arguments.port)
    return 0
