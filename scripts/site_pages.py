"""The pages that are made for the web page alone: the first one, the guide and the list of exercises."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_utils.data.repository import Repository

FENCED = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
LESSONS = "The lessons"
# parts of the table of contents, by who reads them; what nobody put into one comes last
PARTS = {
    "Look up": ("measured", "docs/glossary", "docs/errors", "docs/audit", "docs/metal_kernels"),
    "Teach": ("docs/instructors", "docs/grading", "docs/when_stuck"),
}
OTHER_PART = "Take part"
# sections of the README that stay where they are: they speak to people who hold the repository
LEFT_OUT = (LESSONS, "Contributing")
ARCHIVE_FOLDER = "pytorch-apple-silicon-course"
ARCHIVE = f"{ARCHIVE_FOLDER}.zip"


@dataclass(frozen=True)
class Title:
    """The first cell of a notebook.

    Args:
        name: the title, such as "04 Measuring time".
        rows: the cells of the table below it, without its header lines.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]


def read_title(text: str) -> Title:
    """Read the title and the table of a notebook's first cell.

    Raises:
        ValueError: when it does not begin with a title.
    """
    lines = text.splitlines()
    if not lines or not lines[0].startswith("# "):
        raise ValueError(f"a notebook begins with '# ' and its title, not with {text[:40]!r}")
    rows = [tuple(part.strip() for part in line.strip("|").split("|")) for line in lines if line.startswith("|")]
    return Title(lines[0].removeprefix("# "), tuple(rows[2:]))


def sections(markdown: str) -> dict[str, str]:
    """Take a page apart at its headings of level 2.

    Returns:
        Heading -> what stands below it, in order; "" -> what comes before the first one.
    """
    found = {"": ""}
    heading, fenced = "", False
    for line in markdown.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            heading = line.removeprefix("## ").strip()
            found[heading] = ""
        else:
            found[heading] += line
    return found


def toctree(caption: str, pages: Sequence[str]) -> str:
    """Return a part of the table of contents, shown at the side of every page."""
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def commands(*lines: str) -> str:
    """Return commands as a block, which a reader copies with one click."""
    return "\n".join(["```sh", *lines, "```", ""])


def get_the_course(first_lesson: str, repository: Repository) -> str:
    """Return the ways from the first page to a lesson that runs, each with all of its commands.

    Args:
        first_lesson: its page, such as "notebooks/00_start_here".
        repository: only where it is known can it be cloned, and a lesson opened in Colab.
    """
    clone, in_colab = [], []
    if repository.known:
        clone = [
            f"Or clone [the repository]({repository.address}) in place of the archive:",
            "",
            commands(f"git clone {repository.address} course", "cd course", "make lab"),
        ]
    if repository.known and (colab := repository.colab(f"{first_lesson}.ipynb")):
        in_colab = [
            f"**In Colab, with nothing to install.** [The first lesson opens there]({colab}), and "
            "every other by the launch button at the top of its page.",
            "",
        ]
    return "\n".join(
        [
            "## Get the course",
            "",
            "Each lesson below is a page to read here and a notebook to run. [The guide](guide.md) says what it needs.",
            "",
            f"**With `make`, which sets everything up.** Take {{download}}`the course as one archive <{ARCHIVE}>` "
            "(lessons, exercises, tools), unpack it, and open JupyterLab on lesson 00:",
            "",
            commands(f"cd {ARCHIVE_FOLDER}", "make lab"),
            *clone,
            "**With pip, in a Python environment of your own.** Beside the folder of the unpacked archive:",
            "",
            commands(f"pip install ./{ARCHIVE_FOLDER}", "course start my-course", "cd my-course", "course lab"),
            *in_colab,
            "**In VS Code or another editor, one lesson.** The download button at the top of its page brings the "
            "notebook, whose first cell says what to install.",
            "",
        ]
    )


def index_page(readme: str, lessons: Sequence[str], others: Sequence[str], made: str, repository: Repository) -> str:
    """Return the first page: the README's pitch and its table of lessons.

    Args:
        readme: the text of README.md.
        lessons: pages of lessons, such as "notebooks/04_measuring_time".
        others: pages of the docs.
        made: how the outputs of the lessons were made, a sentence.
        repository: where the course's repository is; a page names it only where it is known.
    """
    parts = sections(readme)
    pitch, picture, rest = FENCED.sub("", parts[""]).partition("![")
    return "\n".join(
        [
            pitch,
            get_the_course(lessons[0], repository),
            picture + rest,
            f"## {LESSONS}",
            parts[LESSONS],
            made,
            "",
            toctree("Begin", ["guide"]),
            toctree("Lessons", lessons),
            toctree("Exercises", ["exercises"]),
            *(toctree(part, pages) for part, pages in in_parts(others).items() if pages),
        ]
    )


def in_parts(pages: Sequence[str]) -> dict[str, list[str]]:
    """Return the parts of the table of contents and their pages, in the order of `PARTS`, then all other pages."""
    parts = {part: [page for page in wanted if page in pages] for part, wanted in PARTS.items()}
    placed = {page for each in parts.values() for page in each}
    return parts | {OTHER_PART: [page for page in pages if page not in placed]}


def guide_page(readme: str) -> str:
    """Return the page about setting up and using the course: the README's other sections."""
    parts = sections(readme)
    first = "\n".join(FENCED.findall(parts[""]))
    kept = [f"## {heading}\n{text}" for heading, text in parts.items() if heading and heading not in LEFT_OUT]
    return "\n".join(["# Set up and use the course\n", first, *kept])


def exercises_page(titles: Mapping[str, Title]) -> str:
    """Return the list of exercises.

    Args:
        titles: name -> the title cell of the student's notebook, whose table has task, difficulty, minutes, points.
    """
    lines = [
        "# Exercises",
        "",
        "Each lesson has a notebook with tasks. A task is a function to write, with two hints and checks that show",
        "*yours* beside what was *expected*. Read it here, or take the notebook; it runs in the course's environment",
        "(see [how to set it up](guide.md)), and `course check 04` runs its checks from a terminal.",
        "",
        "| exercise | tasks | minutes | points | notebook |",
        "|---|---|---|---|---|",
    ]
    for name, title in titles.items():
        page = f"exercises/{name}/{name}"
        tasks = [row for row in title.rows if re.match(r"\d+\.\d+ ", row[0])]
        minutes, points = (sum(int(row[column]) for row in tasks) for column in (2, 3))
        short = title.name.removeprefix("Exercise ").replace(":", "")
        names = " · ".join(row[0].split(" ", 1)[1] for row in tasks)
        lines.append(
            f"| [{short}]({page}.ipynb) | {names} | {minutes} | {points} | {{download}}`download <{page}.ipynb>` |"
        )
    return "\n".join(lines) + "\n\n" + toctree("Exercises", [f"exercises/{name}/{name}" for name in titles])


def how_made(*, executed: bool) -> str:
    """Return a sentence on how the outputs on the pages were made, with torch, machine and device."""
    if not executed:
        return "*The lessons were not run for these pages: only outputs that are the same everywhere are shown.*"
    import platform

    import torch

    from course_utils import probe_mps

    return (
        "*The outputs on these pages were made when the pages were built, with "
        f"torch {torch.__version__} on {platform.system()} ({platform.machine()}). {probe_mps()}. "
        "No number that was measured elsewhere is called an MPS time.*"
    )
