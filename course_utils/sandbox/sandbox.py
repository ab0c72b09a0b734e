"""Where student code runs: bubblewrap on Linux, sandbox-exec on a Mac, or nowhere.

The choice is a value: what to start and what the report says about it. Nothing here falls back in silence; without a
sandbox there is a `SandboxError`, unless the instructor asked for none.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.data.package import FOLDER as PACKAGE
from course_utils.sandbox import seatbelt
from course_utils.sandbox.syscall_filter import write_filter

COURSE_INSIDE = "/course"
WORK = "/student"
# no capability but these reaches the template, and none reaches student code: mounts and process lists of its own, and
# what submissions hold in memory, which checks in the same sandbox count
_TEMPLATE_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SYS_PTRACE")
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/sys/devices/system/cpu")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


class SandboxError(RuntimeError):
    """Student code cannot be shut in here; the message says why and what to do."""


@dataclass(frozen=True)
class Sandbox:
    """How a process for student code is started.

    Args:
        name: what the report says: "bubblewrap", "sandbox-exec" or "none (--unsafe)".
        prefix: the words before `python ...`.
        environment: the environment variables of the process, all of them.
        search_path: where `course_utils` is found inside.
        scratch: folders that are mounted afresh for each submission, which then has namespaces of its own (Linux, in
            bubblewrap); empty where there are none.
        forks: whether a warm template may fork; not on a Mac, where Metal does not survive a fork.
        syscall_filter: the seccomp filter that each submission gets; None where there is none.
        work: where each submission gets a folder of its own on the disk; empty where its folders are in memory.
    """

    name: str
    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    search_path: str
    scratch: tuple[str, ...]
    forks: bool
    syscall_filter: bytes | None = None
    work: str = ""

    def in_folder(self, folder: str) -> Sandbox:
        """Return this sandbox for one submission's folder on the disk."""
        if self.name == "sandbox-exec":
            return mac_sandbox(folder)
        return replace(self, environment=plain_environment(folder))

    def command(self, entry: str, descriptor: int) -> list[str]:
        """Return the command that starts an entry of the template module, with one open descriptor."""
        # -I: no environment, no current folder, no user's packages; a submission's own torch.py is not found
        module = f"{__package__}.template"
        code = f"import sys; sys.path.insert(0, {self.search_path!r}); from {module} import {entry}"
        return [*self.prefix, sys.executable, "-I", "-c", f"{code}; {entry}()", str(descriptor)]


def plain_environment(home: str) -> dict[str, str]:
    """Return the whole environment of student code: nothing of the instructor's is in it."""
    return {
        "HOME": home,
        "TMPDIR": home,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "IPYTHONDIR": f"{home}/.ipython",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "OMP_NUM_THREADS": "1",
    }


def find_bubblewrap() -> str | None:
    """Find bubblewrap: the system's, or one that a wheel put beside this Python."""
    return shutil.which("bwrap") or shutil.which("bwrap", path=str(Path(sys.executable).parent))


def bubblewrap_arguments(
    program: str,
    read_only: tuple[str, ...],
    links: Mapping[str, str],
    secrets: tuple[str, ...],
    *,
    own_users: bool = False,
) -> tuple[str, ...]:
    """Write bubblewrap's arguments.

    Args:
        program: bubblewrap itself.
        read_only: files and folders that are seen, read-only, at their own place.
        links: symbolic links of the system's root, place -> target.
        secrets: folders that are not seen although they lie in a folder that is; Pythons inside them still are.
        own_users: whether submissions get user namespaces of their own, which `--disable-userns` would forbid.
    """
    words = [program, "--unshare-all", "--unshare-user", "--die-with-parent"]
    words += [] if own_users else ["--disable-userns"]
    words += ["--new-session", "--clearenv"]
    for capability in _TEMPLATE_CAPABILITIES:
        words += ["--cap-add", capability]
    words += ["--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", WORK]
    for path in read_only:
        words += ["--ro-bind-try", path, path]
    for secret in secrets:
        if any(Path(secret).is_relative_to(path) for path in read_only):
            words += ["--tmpfs", secret]
            for path in read_only:
                words += ["--ro-bind-try", path, path] if Path(path).is_relative_to(secret) else []
    for place, target in links.items():
        words += ["--symlink", target, place]
    if "/tmp" not in scratch_folders(read_only):
        words += ["--remount-ro", "/tmp"]  # shared between submissions, so nobody writes there
    words += ["--ro-bind", str(PACKAGE), f"{COURSE_INSIDE}/{PACKAGE.name}", "--remount-ro", "/"]
    words += ["--chdir", WORK]
    for name, value in plain_environment(WORK).items():
        words += ["--setenv", name, value]
    return (*words, "--")


def scratch_folders(seen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that each submission gets afresh; not one in which this Python lies."""
    folders = (WORK, "/dev/shm", "/tmp")  # inside the sandbox
    return tuple(folder for folder in folders if not any(Path(path).is_relative_to(folder) for path in seen))


def linux_sandbox(program: str) -> Sandbox:
    """Describe the sandbox of a Linux machine with bubblewrap.

    The course itself (solutions, submissions, gradebook) is not seen, not even where it lies below /usr.
    """
    prefixes = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)}
    seen = (*_SYSTEM, *sorted(prefix for prefix in prefixes if not prefix.startswith("/usr/")))
    links = {place: os.readlink(place) for place in _MERGED if os.path.islink(place)}
    folders = tuple(place for place in _MERGED if os.path.isdir(place) and not os.path.islink(place))
    course = tuple(str(folder) for folder in {PACKAGE.parent, Path.cwd()} if folder.parent != folder)
    secrets = tuple(folder for folder in course if not any(Path(path).is_relative_to(folder) for path in _SYSTEM))
    if "site-packages" in PACKAGE.parts:
        secrets = tuple(folder for folder in secrets if folder != str(PACKAGE.parent))
    program_bytes = write_filter()
    prefix = bubblewrap_arguments(program, (*seen, *folders), links, secrets, own_users=program_bytes is not None)
    name = "bubblewrap" if program_bytes is not None else "bubblewrap, without a filter of system calls"
    scratch = scratch_folders(seen)
    return Sandbox(
        name, prefix, plain_environment(WORK), COURSE_INSIDE, scratch, forks=True, syscall_filter=program_bytes
    )


def mac_sandbox(work: str) -> Sandbox:
    """Describe the sandbox of a Mac; it has not run on one yet."""
    # a profile knows places by their real names: /var and /tmp are links on a Mac
    work = os.path.realpath(work)
    places = (sys.prefix, sys.base_prefix, str(PACKAGE))
    readable = tuple(dict.fromkeys((*places, *map(os.path.realpath, places))))
    prefix = ("/usr/bin/sandbox-exec", "-p", seatbelt.profile(readable=readable, writable=(work,)))
    return Sandbox("sandbox-exec", prefix, plain_environment(work), str(PACKAGE.parent), (), forks=False, work=work)


def no_sandbox(work: str) -> Sandbox:
    """Describe running student code with the instructor's rights, which `--unsafe` asks for."""
    forks = sys.platform.startswith("linux")
    return Sandbox("none (--unsafe)", (), plain_environment(work), str(PACKAGE.parent), (), forks=forks, work=work)


def choose_sandbox(work: str, *, unsafe: bool, system: str = sys.platform, bubblewrap: str | None = None) -> Sandbox:
    """Choose how student code runs here.

    Args:
        work: an empty folder for student code, where the sandbox does not make one.
        unsafe: run without a sandbox.
        system: `sys.platform` of the machine.
        bubblewrap: bubblewrap's path; found by itself when None.

    Raises:
        SandboxError: when there is none and `unsafe` is False.
    """
    if unsafe:
        return no_sandbox(work)
    if system == "darwin":
        return mac_sandbox(work)
    program = bubblewrap or find_bubblewrap()
    if not system.startswith("linux") or program is None:
        raise SandboxError(
            f"no sandbox for student code on this machine ({system}): bubblewrap was not found; install it "
            "(`apt-get install bubblewrap`, `dnf install bubblewrap`), or pass --unsafe to run student code with your "
            "own rights"
        )
    return linux_sandbox(program)
