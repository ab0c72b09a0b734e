"""Rewrite files into the one form that a rule gives them, or with --check only say which are out of date."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def only_checks(arguments: Sequence[str] | None, description: str) -> bool:
    """Return whether a script was called with --check, its only option."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if a file is out of date")
    return bool(parser.parse_args(arguments).check)


def write_or_check(files: Iterable[Path], rewritten: Callable[[Path, str], str], root: Path, *, check: bool) -> int:
    """Write each file anew where its text changes, or say that it would; each such file is one printed line.

    Args:
        files: the files, UTF-8.
        rewritten: gives a file's new text from its path and its text.
        root: the folder that printed paths are relative to.
        check: whether to write nothing.

    Returns:
        The exit code: 1 when `check` found a file that is out of date, else 0.
    """
    found_stale = False
    for path in files:
        before = path.read_text(encoding="utf-8")
        after = rewritten(path, before)
        if before == after:
            continue
        found_stale = True
        if not check:
            path.write_text(after, encoding="utf-8")
        print(f"{path.relative_to(root)}: {'out of date; run `make format`' if check else 'written'}")
    return 1 if found_stale and check else 0
