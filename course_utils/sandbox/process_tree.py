"""The processes below one process, and the memory they hold, read from outside.

On Linux straight from /proc: psutil lists all processes of the machine at each look (18 ms beside 1 ms for the tree of
a submission), and does not tell a process's own memory from that of libraries.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from course_utils.reporting.started import find_started

# anonymous memory, and memory that a process shares with its children; not what is read from files
_OWN_MEMORY = re.compile(rb"^(?:RssAnon|RssShmem):\s+(\d+) kB$", re.MULTILINE)
LONGEST_READ = 2**16

# the environment variable by which processes of one submission are found on systems without process lists of its own
MARK = "COURSE_SUBMISSION"


@dataclass(frozen=True)
class Usage:
    """What a process and all below it use.

    Args:
        processes: process ids, the first one included, as long as they live.
        memory_bytes: memory of their own that they hold, without libraries read from files (on other systems than Linux
            with them), and what lies in files that are memory.
    """

    processes: tuple[int, ...]
    memory_bytes: int


def read_usage(first: int, folders: Sequence[str] = ()) -> Usage:
    """Read what a process and all that it started use; nothing when it has ended.

    Args:
        first: the process.
        folders: folders in memory that only these processes see, by their paths there (Linux).
    """
    return _from_proc(first, folders) if sys.platform.startswith("linux") else _with_psutil(first)


def _from_proc(first: int, folders: Sequence[str] = ()) -> Usage:
    found: list[int] = []
    memory = 0
    waiting = [first]
    while waiting:
        pid = waiting.pop()
        # a process may end while it is read
        with suppress(OSError, ValueError, IndexError):
            sizes = _OWN_MEMORY.findall(_read(f"/proc/{pid}/status"))
            memory += 1024 * sum(map(int, sizes))
            found.append(pid)
            memory += _unmapped_bytes(f"/proc/{pid}/fd")
            for thread in os.listdir(f"/proc/{pid}/task"):
                waiting += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    for path in folders:
        with suppress(OSError):
            seen = os.statvfs(f"/proc/{first}/root{path}")
            memory += (seen.f_blocks - seen.f_bfree) * seen.f_frsize
    return Usage(tuple(found), memory)


def _read(path: str) -> bytes:
    """Read a file of /proc with few system calls: it is looked at every few milliseconds."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found = b""
        while data := os.read(descriptor, LONGEST_READ):
            found += data  # a read of /proc may be short before the end
        return found
    finally:
        os.close(descriptor)


def _unmapped_bytes(folder: str) -> int:
    """Return what lies in a process's open memfds, which need not be mapped anywhere; a mapped one counts twice."""
    sizes = {}
    for descriptor in os.listdir(folder):
        with suppress(OSError):
            path = f"{folder}/{descriptor}"
            if os.readlink(path).startswith("/memfd:"):
                seen = os.stat(path)
                sizes[seen.st_ino] = 512 * seen.st_blocks
    return sum(sizes.values())


def _with_psutil(first: int) -> Usage:
    """Read the tree with psutil: resident memory, so libraries are counted, too (every system)."""
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(first)
        return _sum([top, *top.children(recursive=True)])
    return Usage((), 0)


def read_marked_usage(first: int, mark: str) -> Usage:
    """Read what a process, all below it and all with a mark in their environment use, wherever they are.

    A process that leaves its session and its parent keeps the environment that it was started with.

    Args:
        first: the process.
        mark: the value of the environment variable `MARK`.
    """
    return _sum(find_started(first, MARK, mark))


def _sum(processes: Sequence[psutil.Process]) -> Usage:
    found: list[int] = []
    memory = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            memory += process.memory_info().rss
            found.append(process.pid)
    return Usage(tuple(found), memory)


def folder_bytes(folder: str) -> int:
    """Return what lies in a folder on the disk, in blocks as the disk counts."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += 512 * os.lstat(os.path.join(path, name)).st_blocks
    return total
