"""Write the links to the repository into README and docs, from the one address in pyproject.toml.

    python -m scripts.repository_links            # writes them
    python -m scripts.repository_links --check    # changes nothing, exit code 1 where one is out of date

Two places take the address: the block between the marks in README.md, and every line `git clone ... course`. As long as
the address is the placeholder, the block is empty and the line names no address, so that nobody follows a dead link.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from course_utils.data.repository import Repository, read_repository
from scripts.write_or_check import only_checks, write_or_check

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs/*.md")
BEGIN, END = "<!-- links to the repository: make format writes them -->", "<!-- end of the links -->"
UNKNOWN = "ADDRESS-OF-THE-REPOSITORY"
FIRST_LESSON = "notebooks/00_start_here.ipynb"
_BLOCK = re.compile(rf"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
_CLONE = re.compile(r"^git clone \S+ course$", re.MULTILINE)


def links(repository: Repository) -> str:
    """Return the links of the README in one line; empty where the address is not known."""
    if not repository.known:
        return ""
    colab = repository.colab(FIRST_LESSON)
    found = [f"[Open lesson 00 in Colab]({colab})"] if colab else []
    return " · ".join([f"[Repository]({repository.address})", f"[Report an issue]({repository.issues})", *found])


def with_links(text: str, repository: Repository) -> str:
    """Return a document with the links that the address gives.

    Args:
        text: Markdown.
        repository: the address.
    """
    line = links(repository)
    block = "\n".join([BEGIN, *([line] if line else []), END])
    clone = f"git clone {repository.address if repository.known else UNKNOWN} course"
    return _CLONE.sub(lambda _: clone, _BLOCK.sub(lambda _: block, text))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; exit code 0 when all are (now) up to date, 1 when --check found one that is not."""
    check = only_checks(arguments, "Write the links to the repository into README and docs.")
    repository = read_repository(ROOT)
    documents = [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))]
    return write_or_check(documents, lambda _, text: with_links(text, repository), ROOT, check=check)


if __name__ == "__main__":
    sys.exit(main())
