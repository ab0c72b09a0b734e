"""Build the course as a web page in build/site: the executed lessons, the exercises without solutions, the docs.

    python -m scripts.build_site                      # runs every lesson once, several side by side
    SITE_EXECUTE=off python -m scripts.build_site     # a quick look, without outputs that need a run

The pages are prepared in build/site-source: copies of the notebooks and of docs/, an index and a guide made from the
README, and a list of exercises. With execution off, two builds give the same bytes; with it on they differ by the
times that lessons measure.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from course_utils.data.repository import Repository, read_repository
from course_utils.exercises.course import lesson_paths
from course_utils.exercises.notebook import read_cells
from course_utils.exercises.reader_files import BESIDE_LESSONS, READER_FILES, STUDENT_TOOLS, find_files
from course_utils.reporting.files import write_zip
from scripts.measured import fit_documents
from scripts.measured import page as measured_page
from scripts.run_lessons import run_side_by_side, workers_here
from scripts.site_pages import ARCHIVE, ARCHIVE_FOLDER, exercises_page, guide_page, how_made, index_page, read_title

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "docs" / "site"
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def linked_files(page: Path, source: str, root: Path) -> list[Path]:
    """List the files of the course that a page links to or shows."""
    found = []
    for target in LINK.findall(source):
        path = (page.parent / target).resolve()
        if not re.match(r"[a-z]+:", target) and path.is_file() and path.is_relative_to(root):
            found.append(path)
    return found


def stage(root: Path, into: Path, *, executed: bool, repository: Repository) -> None:
    """Prepare the pages in an empty folder, with the files that they link to.

    Args:
        root: the course's root.
        into: the folder to make; an old one is replaced.
        executed: whether the lessons will be run, which the first page says.
        repository: where the course's repository is.
    """
    shutil.rmtree(into, ignore_errors=True)
    lessons = lesson_paths(root)
    exercises = sorted((root / "exercises").glob("[0-9][0-9]_*/*.ipynb"))
    docs = [*sorted((root / "docs").glob("*.md")), root / "benchmarks" / "README.md"]
    docs += [path for path in [root / "CONTRIBUTING.md"] if path.exists()]
    for path in [*lessons, *exercises, *docs, *find_files(root, (BESIDE_LESSONS,)).values()]:
        copy(path, root, into)
    readme = (root / "README.md").read_text(encoding="utf-8")
    titles = {path.stem: read_title(read_cells(path)[0].source) for path in exercises}
    shared = fit_documents(root / "measured")
    pages = [*(["measured"] if shared else []), *(str(path.relative_to(root).with_suffix("")) for path in docs)]
    lesson_pages = [f"notebooks/{path.stem}" for path in lessons]
    made = {
        "index.md": index_page(readme, lesson_pages, pages, how_made(executed=executed), repository),
        "guide.md": guide_page(readme),
        "exercises.md": exercises_page(titles),
    } | ({"measured.md": measured_page(shared)} if shared else {})
    students = find_files(root, READER_FILES + STUDENT_TOOLS)
    write_zip({f"{ARCHIVE_FOLDER}/{name}": path.read_bytes() for name, path in students.items()}, into / ARCHIVE)
    for name, text in made.items():
        (into / name).write_text(text, encoding="utf-8")
        for file in linked_files(root / name, text, root):
            copy(file, root, into)
    for path in docs:
        for file in linked_files(path, path.read_text(encoding="utf-8"), root):
            copy(file, root, into)


def run_staged(lessons: Sequence[Path]) -> bool:
    """Run the prepared lessons side by side, and keep their outputs in them; return whether all ran to their end."""
    ends = run_side_by_side(lessons, workers=workers_here())
    for path, end in ends.items():
        if not end.error:
            path.write_text(end.notebook, encoding="utf-8")
    failed = [path.name for path, end in ends.items() if end.error]
    if failed:
        print(f"no site was built, since {', '.join(sorted(failed))} did not run to the end", file=sys.stderr)
    return not failed


def copy(path: Path, root: Path, into: Path) -> None:
    """Copy a file to the same place below another folder."""
    target = into / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def build(root: Path, output: Path, *, execute: bool, repository: Repository | None = None) -> int:
    """Build the site.

    Args:
        root: the course's root.
        output: the folder of the site; beside it come the prepared pages and Sphinx's own files.
        execute: whether to run the lessons.
        repository: where the course's repository is; by default what pyproject.toml says.

    Returns:
        Sphinx's exit code: 0 when all pages were built without a warning; 1 when a lesson did not run.
    """
    source = output.with_name(f"{output.name}-source")
    shutil.rmtree(output, ignore_errors=True)
    repository = repository or read_repository(root)
    if not repository.known:
        print(
            "pyproject.toml names no address of the repository yet, so the pages have no link to it, to its issues "
            "and to Colab",
            file=sys.stderr,
        )
    stage(root, source, executed=execute, repository=repository)
    if execute and not run_staged(lesson_paths(source)):
        return 1
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    command += ["-c", str(SETTINGS), "-d", str(output.with_name(f"{output.name}-doctrees")), str(source), str(output)]
    # Sphinx and what it calls take their dates from here
    env = os.environ | {"SOURCE_DATE_EPOCH": "0", "SITE_REPOSITORY": repository.address}
    code = subprocess.run(command, env=env, check=False).returncode
    for path in lesson_paths(root) if code == 0 else ():  # what a reader downloads has no outputs of this machine
        shutil.copyfile(path, output / "_sources" / path.relative_to(root))
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site and say where it is.

    Returns:
        0 when it was built; else Sphinx's exit code, or 2 when Sphinx is not installed.
    """
    parser = argparse.ArgumentParser(description="Build the course as a web page.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="the site's folder")
    output = parser.parse_args(arguments).output.resolve()
    try:
        import myst_nb  # noqa: F401
        import sphinx_book_theme  # noqa: F401
    except ImportError as error:
        print(f"the site needs {error.name}; install the course's extra: pip install -e '.[site]'", file=sys.stderr)
        return 2
    code = build(ROOT, output, execute=os.environ.get("SITE_EXECUTE") != "off")
    if code == 0:
        print(f"the site is in {output}; open {output / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
