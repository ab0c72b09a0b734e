"""Refuse to publish the course as long as its address is the placeholder; the last step before a tag.

    python -m scripts.check_release

Exit code 0 when the course may be published, 1 when not, with every reason.
"""

from __future__ import annotations

import sys

from course_utils.data.repository import Repository, read_repository
from scripts.repository_links import ROOT


def objections(repository: Repository) -> tuple[str, ...]:
    """Return the reasons not to publish, one sentence each; none when there is none."""
    if repository.known:
        return ()
    named = repository.address or "no address"
    return (
        f"pyproject.toml names {named} as the repository, which no reader can follow; write the real address under "
        "[project.urls], then run `make format`, which writes it into README, docs and lessons",
    )


def main() -> int:
    """Say what keeps the course from being published; exit code 0 when nothing does, else 1."""
    found = objections(read_repository(ROOT))
    print(*(found or ["the course may be published"]), sep="\n", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
