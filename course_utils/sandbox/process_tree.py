"""The processes below one process, and the memory they hold: read from outside, from /proc or from `ps`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# anonymous memory, and memory that a process shares with its children; not what is read from files
_OWN_MEMORY = re.compile(r"^(?:RssAnon|RssShmem):\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Usage:
    """What a process and all below it use.

    Args:
        processes: process ids, the first one included, as long as they live.
        memory_bytes: memory of their own that they hold, without libraries read from files.
    """

    processes: tuple[int, ...]
    memory_bytes: int


def read_usage(first: int) -> Usage:
    """Read what a process and all that it started use; nothing when it has ended."""
    return _from_proc(first) if sys.platform.startswith("linux") else _from_ps(first, _run_ps)


def _from_proc(first: int) -> Usage:
    found: list[int] = []
    memory = 0
    waiting = [first]
    while waiting:
        pid = waiting.pop()
        folder = Path(f"/proc/{pid}")
        # a process may end while it is read
        with suppress(OSError, ValueError, IndexError):
            sizes = _OWN_MEMORY.findall((folder / "status").read_text(encoding="utf-8", errors="replace"))
            memory += 1024 * sum(map(int, sizes))
            found.append(pid)
            for thread in (folder / "task").iterdir():
                waiting += [int(child) for child in (thread / "children").read_text(encoding="ascii").split()]
    return Usage(tuple(found), memory)


def _run_ps() -> str:
    return subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, text=True, check=False).stdout


def _from_ps(first: int, run_ps: Callable[[], str]) -> Usage:
    """Read the table of `ps`: process, parent, resident kilobytes (macOS; libraries are counted, too)."""
    rows = [tuple(map(int, line.split())) for line in run_ps().splitlines() if len(line.split()) == 3]
    sizes = {pid: kilobytes for pid, _, kilobytes in rows}
    found, waiting = [], [first]
    while waiting:
        pid = waiting.pop()
        if pid in sizes:
            found.append(pid)
            waiting += [child for child, parent, _ in rows if parent == pid]
    return Usage(tuple(found), 1024 * sum(sizes[pid] for pid in found))
