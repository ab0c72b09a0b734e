"""Namespaces of its own for one submission, inside a sandbox that bubblewrap made (Linux).

Bubblewrap shuts the template in: no network, a read-only system, no files of the course. A submission is a fork of that
template, and would share its process list, its network and its scratch folders with the submissions beside it. So each
fork is the first process of a list of its own, unshares mounts, IPC, network and, where a filter keeps student code
from doing the same, users once more, mounts fresh scratch folders, and drops every capability before student code runs.
The calls go through ctypes, since Python 3.11 has no `os.unshare`.
"""

from __future__ import annotations

import ctypes
import os

# <linux/sched.h>, <linux/mount.h>, <linux/prctl.h>, <linux/capability.h>
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE, MS_RDONLY = 0x2, 0x4, 0x8, 0x4000, 0x40000, 0x1
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 4, 24, 36, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
LAST_CAPABILITY = 63
CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def returns_to_own_processes() -> bool:
    """Return whether a process that made a process list for a child may fork into its own list again.

    That takes rights over its own list, which a process has in a user namespace that made the list (setns(2)).
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        return bool(_libc.setns(own, CLONE_NEWPID) == 0)
    finally:
        os.close(own)


def fork_first(*, returns: bool) -> int:
    """Fork as `os.fork` does; the child is process 1 of a process list of its own.

    Args:
        returns: whether further forks are in this process's own list; else there can be none.

    Raises:
        OSError: when the system does not allow it.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    child = -1
    try:
        _call("unshare", CLONE_NEWPID)
        child = os.fork()
    finally:
        if returns and child != 0:
            _call("setns", own, CLONE_NEWPID)
        os.close(own)
    return child


def separate_from_template(*, own_users: bool) -> None:
    """Leave the template's mounts, IPC and network.

    A network namespace has its own loopback, which is down, and its own abstract sockets.

    Args:
        own_users: whether to leave its user namespace, too. The kernel counts processes for each user of a namespace
            (Linux 5.14), so what neighbours start does not use up this submission's limit then.

    Raises:
        OSError: when the system does not allow it.
    """
    if own_users:
        user, group = os.getuid(), os.getgid()
        _call("unshare", CLONE_NEWUSER)
        # a process that may not be read may not write its own map either
        _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as table:
                table.write(content)
        hide_memory()
    _call("unshare", CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET)
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def mount_scratch(folders: dict[str, int]) -> None:
    """Mount an empty folder in memory over each of the folders.

    Args:
        folders: folder -> how many bytes it may hold; 0 for one that stays empty and read-only.

    Raises:
        OSError: when the system does not allow it.
    """
    for folder, size in folders.items():
        flags = MS_NOSUID | MS_NODEV | (0 if size else MS_RDONLY | MS_NOEXEC)
        options = f"size={max(size, 4096)},mode=0755,nr_inodes=20000".encode()
        _call("mount", b"tmpfs", folder.encode(), b"tmpfs", flags, options)


def drop_capabilities() -> None:
    """Give up every capability for good, and the way to gain any by starting another program.

    Raises:
        OSError: when the system does not allow it.
    """
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(LAST_CAPABILITY + 1):
        # fails for numbers that this kernel does not know
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _call("capset", header, nothing)


def adopt_orphans() -> None:
    """Become the parent of processes below this one whose own parent ends, so that they can be found.

    Raises:
        OSError: when the system does not allow it.
    """
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def hide_memory() -> None:
    """Keep processes of the same user from reading this one's memory.

    Raises:
        OSError: when the system does not allow it.
    """
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
