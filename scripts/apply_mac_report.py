"""Change the sentences of the course that a Mac's report makes untrue: README, docs, and the cards of lessons.

    python -m scripts.apply_mac_report mac-report.zip --dry-run    # lists what would change, and changes nothing
    python -m scripts.apply_mac_report mac-report.zip              # changes it; look at `git diff` before you commit

No wording is searched for. A sentence that a Mac can make untrue ends with a mark that names the steps which have to
have run, and holds what is then true instead:

    Nobody has run this on a Mac yet.<!-- after lessons, tests on a Mac: It ran on {machine}: {tests}. -->

The mark replaces everything from the beginning of its paragraph or item, or from `<!-- from here -->`, and itself. No
line begins with a mark, since Markdown would take the whole line for HTML. Between braces stand {machine}, {date}, and
the name of a step for its result: a test that failed on the Mac stands in the new sentence. A lesson's card is changed
where all cells of the lesson ran.

Exit code 0 when something changed or would change, 1 when nothing did, 2 when the report proves nothing about a Mac.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.exercises.course import lesson_paths
from scripts.format_notebooks import as_text, canonical
from scripts.mac_evidence import RESULTS, Evidence, NoEvidenceError, evidence, read_report
from scripts.stamp_lessons import parse_row, read_row, with_row

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs/*.md", "benchmarks/*.md", "measured/*.md")
WIDTH = 120
UNUSABLE = 2
FROM_HERE = re.compile(r"<!--\s+from\s+here\s+-->")
MARK = re.compile(r"<!--\s+after\s+(?P<steps>[a-z,\s]+?)\s+on\s+a\s+Mac:\s*(?P<then>.*?)\s*-->", re.DOTALL)
# where a paragraph or an item begins: at the start, after an empty line, or with an item's sign
_BEGINS = re.compile(r"(?:\A|\n[ \t]*\n|\n(?=[ \t]*(?:[-*]|\d+\.) )|-->\n)(?P<sign>[ \t]*(?:(?:[-*]|\d+\.) +)?)")


class MarkError(ValueError):
    """A mark in a document is not in form; the message names it."""


@dataclass(frozen=True)
class Change:
    """One sentence that changes.

    Args:
        path: the file.
        line: where it begins, from 1; in a lesson the cell.
        before: what stands there.
        after: what is to stand there.
    """

    path: Path
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  - {' '.join(self.before.split())}\n  + {' '.join(self.after.split())}"


def with_evidence(text: str, proved: Evidence, *, width: int = WIDTH) -> tuple[str, list[tuple[int, str, str]]]:
    """Return a document in which every sentence stands that a report made true.

    Args:
        text: Markdown.
        proved: what the report proves.
        width: where lines of a paragraph that changed are broken; 0 for nowhere.

    Returns:
        The new text, and for each change its first line, what stood there and what stands there now.

    Raises:
        MarkError: when a mark is not in form.
    """
    changes = []
    position = 0
    while found := MARK.search(text, position):
        position = found.end()
        steps = [step.strip() for step in found["steps"].split(",")]
        if unknown := sorted(set(steps) - set(RESULTS)):
            raise MarkError(f"{found.group()!r} names no step of a report: {', '.join(unknown)}")
        if not set(steps) <= set(proved.results):
            continue
        begin = _begin(text, found.start())
        try:
            then = " ".join(found["then"].split()).format(**proved.words)
        except (KeyError, IndexError, ValueError) as error:
            raise MarkError(f"{found.group()!r} names between braces what a report does not give ({error})") from error
        before = FROM_HERE.sub("", text[begin : found.start()])
        changes.append((text.count("\n", 0, begin) + 1, before, then))
        text, position = _put(text, begin, found.end(), then, width)
    return text, changes


def _begin(text: str, end: int) -> int:
    """Return where the part begins that a mark at `end` replaces."""
    block = max(found.end() for found in _BEGINS.finditer(text, 0, end))
    return max((here.start() for here in FROM_HERE.finditer(text, block, end)), default=block)


def _put(text: str, begin: int, end: int, then: str, width: int) -> tuple[str, int]:
    """Put a sentence in place of a part, and break the lines of its paragraph anew; return where the sentence ends."""
    start = max(found.start("sign") for found in _BEGINS.finditer(text, 0, begin + 1) if found.end() <= begin)
    sign = re.match(r"[ \t]*(?:(?:[-*]|\d+\.) +)?", text[start:]).group()  # type: ignore[union-attr]
    stop = _BEGINS.search(text, end)
    last = stop.start() if stop else len(text.rstrip("\n"))
    head, tail = text[start + len(sign) : begin], text[end:last]
    whole = head + then + tail
    if width and not MARK.search(tail):  # the lines of a mark that stays are left as they are
        whole = textwrap.fill(
            " ".join(whole.split()),
            width - len(sign),
            break_long_words=False,
            break_on_hyphens=False,
        ).replace("\n", "\n" + " " * len(sign))
    return text[:start] + sign + whole + text[last:], start + len(sign) + len(head)


def changed_lesson(path: Path, proved: Evidence) -> tuple[str, list[tuple[int, str, str]]]:
    """Return a lesson with the sentences and the card that a report makes true, as `with_evidence` does.

    Raises:
        MarkError: when a mark, or the card, is not in form.
    """
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    changes = []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "markdown":
            cell["source"], found = with_evidence("".join(cell["source"]), proved, width=0)
            changes += [(number, before, after) for _, before, after in found]
    if path.name in proved.lessons:
        try:
            before = read_row(notebook)
            after = str(parse_row(before).stamped(proved.entry))
        except ValueError as error:
            raise MarkError(f"{path.name}: {error}") from error
        if before != after:
            with_row(notebook, after)
            changes.append((0, before, after))
    return (as_text(canonical(notebook, path.stem)) if changes else text), changes


def planned(root: Path, proved: Evidence) -> Iterator[tuple[Path, str, list[Change]]]:
    """Go through the course; for each file that changes its new text, and each change.

    Raises:
        MarkError: when a mark is not in form.
    """
    documents = [path for pattern in DOCUMENTS for path in sorted(root.glob(pattern))]
    for path in [*documents, *lesson_paths(root)]:
        if path.suffix == ".ipynb":
            text, found = changed_lesson(path, proved)
        else:
            text, found = with_evidence(path.read_text(encoding="utf-8"), proved)
        if found:
            yield path, text, [Change(path.relative_to(root), *change) for change in found]


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Change or list; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description="Change the sentences that a Mac's report makes untrue.")
    parser.add_argument("report", type=Path, help="the archive of `make mac-report`, or its folder")
    parser.add_argument("--dry-run", action="store_true", help="list what would change, and change nothing")
    options = parser.parse_args(arguments)
    try:
        proved = evidence(read_report(options.report))
        files = list(planned(root, proved))  # all of them are read before the first one is written
    except (NoEvidenceError, MarkError) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    for note in proved.unread:
        print(f"left out: {note}", file=sys.stderr)
    for path, text, changes in files:
        print(*changes, sep="\n")
        if not options.dry_run:
            path.write_text(text, encoding="utf-8")
    count = sum(len(changes) for _, _, changes in files)
    done = "would change" if options.dry_run else "changed"
    print(f"{count} sentences in {len(files)} files {done}: {proved.machine}")
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
