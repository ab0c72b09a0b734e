"""Run the lessons and write into each header card when, where and with which torch it last ran to its end.

    python -m scripts.stamp_lessons          # all lessons
    python -m scripts.stamp_lessons 04 07    # some
    python -m scripts.stamp_lessons --check  # run nothing, only look at the form of the rows

A lesson that fails keeps its row. A row has one entry for Macs and one for other machines, so that a run on Linux
leaves what a Mac has proved.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a file, it does not find the formatter beside it

from course_utils.exercises.course import lesson_paths  # noqa: E402
from scripts.format_notebooks import as_text, canonical  # noqa: E402
from scripts.run_lessons import reason, run_lesson  # noqa: E402

NOT_ON_A_MAC = "not yet run on a Mac"
# where a lesson has not run -> how its row says so
_MISSING = {
    frozenset(): "",
    frozenset({"Mac"}): NOT_ON_A_MAC,
    frozenset({"CUDA"}): "not yet run on CUDA",
    frozenset({"Mac", "CUDA"}): f"{NOT_ON_A_MAC}, nor on CUDA",
}
_ROW = re.compile(r"^(\| \*\*Last verified\*\* \| )(.*?)( \|)$", re.MULTILINE)
_ENTRY = re.compile(r"torch (\d+\.\d+\.\d+) on ([^()]+) \(([^()]+)\), (\d{4}-\d\d-\d\d)")
FORM = f"torch 2.14.1 on Linux (CPU), 2026-11-30; {NOT_ON_A_MAC}"


@dataclass(frozen=True)
class Entry:
    """One machine on which a lesson ran.

    Args:
        torch: torch's version.
        system: the system, such as "Linux" or "macOS 15.6".
        device: what its cells used, such as "CPU" or "MPS".
        date: the day, YYYY-MM-DD.
    """

    torch: str
    system: str
    device: str
    date: str

    @property
    def on_a_mac(self) -> bool:
        """Whether the machine was a Mac."""
        return self.system.startswith("macOS")

    def __str__(self) -> str:
        return f"torch {self.torch} on {self.system} ({self.device}), {self.date}"


@dataclass(frozen=True)
class Row:
    """The text of a "Last verified" row, taken apart.

    Args:
        entries: where the lesson ran: at most one Mac and one other machine.
        missing: where it has not run and would do something else: "Mac", "CUDA".
    """

    entries: tuple[Entry, ...]
    missing: frozenset[str]

    def __str__(self) -> str:
        parts = [str(entry) for entry in sorted(self.entries, key=lambda entry: entry.on_a_mac)]
        return "; ".join([*parts, _MISSING[self.missing]] if self.missing else parts)

    def stamped(self, new: Entry) -> Row:
        """Return the row with an entry in place of the older one of the same kind of machine.

        What a lesson used beside the device, such as "two gloo processes", is taken over while the device stays.
        """
        for old in self.entries:
            if old.on_a_mac == new.on_a_mac and ("MPS" in old.device) == ("MPS" in new.device):
                new = replace(new, device=old.device)
        others = tuple(entry for entry in self.entries if entry.on_a_mac != new.on_a_mac)
        return Row((*others, new), self.missing - ({"Mac"} if new.on_a_mac else set()))


def parse_row(text: str) -> Row:
    """Read the text of a "Last verified" row.

    Raises:
        ValueError: when it is not in form; the message says how it should look.
    """
    notes = {note: missing for missing, note in _MISSING.items()}
    entries, missing = [], frozenset[str]()
    for part in text.split("; "):
        found = _ENTRY.fullmatch(part)
        if found is not None:
            entries.append(Entry(*found.groups()))
            datetime.date.fromisoformat(found.group(4))
        elif notes.get(part):
            missing = notes[part]
        else:
            raise ValueError(f"{text!r} is not in form; write it like {FORM!r}")
    row = Row(tuple(entries), missing)
    macs = sum(entry.on_a_mac for entry in entries)
    if macs > 1 or len(entries) - macs > 1 or not entries or (macs == 0) != ("Mac" in missing) or str(row) != text:
        raise ValueError(f"{text!r} needs one entry for other machines, and one for Macs or {NOT_ON_A_MAC!r}")
    return row


def read_row(notebook: dict[str, Any]) -> str:
    """Return the text of a lesson's row.

    Raises:
        ValueError: when its first cell has none.
    """
    found = _ROW.search("".join(notebook["cells"][0]["source"]))
    if found is None:
        raise ValueError("the first cell has no row 'Last verified'")
    return found.group(2)


def with_row(notebook: dict[str, Any], text: str) -> None:
    """Write the text of a lesson's row into its first cell."""
    card = notebook["cells"][0]
    card["source"] = _ROW.sub(lambda found: f"{found.group(1)}{text}{found.group(3)}", "".join(card["source"]))


def this_machine(source: str, today: datetime.date) -> Entry:
    """Describe this machine for a lesson; MPS only where it computes.

    Args:
        source: the lesson's code, which may use the emulated device.
        today: the date to write.
    """
    import torch

    from course_utils.devices.probe import probe_mps

    system = f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else platform.system()
    if probe_mps().state == "usable":
        device = "MPS"
    else:
        device = "CPU and emulated device" if "mps_or_emulated" in source else "CPU"
    return Entry(torch.__version__.partition("+")[0], system, device, today.isoformat())


def stamp(path: Path, today: datetime.date) -> str:
    """Run a lesson and write its row.

    Returns:
        The new text of the row.

    Raises:
        Exception: as `run_lesson`; the file is not changed then.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    row = parse_row(read_row(notebook))  # before anything runs
    run_lesson(path)
    source = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    new = str(row.stamped(this_machine(source, today)))
    with_row(notebook, new)
    path.write_text(as_text(canonical(notebook, path.stem)), encoding="utf-8")
    return new


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Stamp or check; exit code 0 when all are well, 1 when a lesson failed or a row is not in form."""
    parser = argparse.ArgumentParser(description="Run lessons and write when they last ran.")
    parser.add_argument("lessons", nargs="*", metavar="NN", help="numbers of lessons (default: all)")
    parser.add_argument("--check", action="store_true", help="run nothing, exit 1 if a row is not in form")
    parsed = parser.parse_args(arguments)
    paths = lesson_paths(root)
    unknown = set(parsed.lessons) - {path.name[:2] for path in paths}
    if unknown:
        parser.error(f"no lesson {', '.join(sorted(unknown))}; there are {', '.join(path.name[:2] for path in paths)}")
    failed = False
    for path in paths:
        if parsed.lessons and path.name[:2] not in parsed.lessons:
            continue
        try:
            if parsed.check:
                parse_row(read_row(json.loads(path.read_text(encoding="utf-8"))))
            else:
                print(f"{path.name}: {stamp(path, datetime.date.today())}")
        except Exception as error:  # a lesson may raise anything, and the others are still to be run
            failed = True
            print(f"{path.name}: not stamped, {reason(error)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
