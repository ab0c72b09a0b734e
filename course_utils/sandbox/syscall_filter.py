"""The system calls that student code has no use for, as a seccomp filter (Linux).

libseccomp, through pyseccomp, writes the filter in the grader's process; a student's process loads the finished program
without either, just before student code runs. What a process starts inherits it.
"""

from __future__ import annotations

import ctypes
import errno
import tempfile
from functools import cache
from types import ModuleType

# kernel keys outlive a submission; other processes' memory; mounts and namespaces; kernels of their own; interfaces
# with many past holes; what changes the machine
_REFUSED = """
    add_key keyctl request_key
    ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp
    mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr pivot_root chroot unshare setns
    io_uring_setup io_uring_enter io_uring_register userfaultfd bpf perf_event_open fanotify_init memfd_secret
    open_by_handle_at name_to_handle_at lookup_dcookie quotactl syslog acct vhangup swapon swapoff reboot
    init_module finit_module delete_module kexec_load kexec_file_load
    settimeofday clock_settime clock_adjtime adjtimex iopl ioperm modify_ldt msgget semget
"""
# <linux/sched.h>: cgroup, uts, ipc, user, pid, net, time and mount namespaces
_NAMESPACE_FLAGS = (0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00000080, 0x00020000)
# <bits/socket.h>: netlink, packet, kernel cryptography, virtual machines
_REFUSED_FAMILIES = (16, 17, 38, 40)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
INSTRUCTION_BYTES = 8


def _pyseccomp() -> ModuleType | None:
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError):  # it is not installed, or the system has no libseccomp
        return None
    module: ModuleType = pyseccomp
    return module


@cache
def write_filter() -> bytes | None:
    """Return the filter as the kernel reads it; None where pyseccomp or libseccomp is not there."""
    seccomp = _pyseccomp()
    if seccomp is None:
        return None
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse, absent = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(errno.ENOSYS)
    for name in _REFUSED.split():
        try:
            rules.add_rule(refuse, name)
        except (OSError, ValueError):  # a call that this processor or this libseccomp does not know
            continue
    # its flags are in memory, where no filter can look; without it glibc takes clone
    rules.add_rule(absent, "clone3")
    # memory that no process has to hold: nobody outside could count it. A file in memory can wait in a socket's queue
    # after its last descriptor was closed; who finds no memfd_create takes /dev/shm, which is counted
    rules.add_rule(seccomp.ERRNO(errno.ENOMEM), "shmget")
    rules.add_rule(absent, "memfd_create")
    for flag in _NAMESPACE_FLAGS:
        rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for family in _REFUSED_FAMILIES:
        rules.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.EQ, family))
    for request in (TIOCSTI, TIOCLINUX):
        rules.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.EQ, request))
    with tempfile.TemporaryFile() as program:
        rules.export_bpf(program)
        program.seek(0)
        return program.read()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def load_filter(program: bytes) -> None:
    """Load a filter into this process for good; no_new_privs has to be set.

    Raises:
        OSError: when the kernel does not take it.
    """
    instructions = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // INSTRUCTION_BYTES, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp: the kernel does not take the filter of system calls")
