"""The sandbox profile of a Mac, for `sandbox-exec`. It has not run on a Mac yet.

Everything is denied that is not named. A GPU needs two things by name, which others found by bisecting (macOS 26, M4
Pro): the user client AGXDeviceUserClient, and the compiler service for shaders. Without them
`torch.backends.mps.is_available()` is False in the sandbox, with a message about the macOS version that misleads
(github.com/openai/codex #9007). The grader's own test of the sandbox tells whether MPS works inside; where it does not,
exercises are graded on the CPU, as they are on Linux.
"""

from __future__ import annotations

from collections.abc import Sequence

# not all of /opt/homebrew: databases may lie in its var
_HOMEBREW = tuple(f"/opt/homebrew/{name}" for name in ("bin", "Cellar", "Frameworks", "lib", "opt"))
_READABLE = (
    "/System",
    "/usr",
    "/Library",
    "/bin",
    "/sbin",
    *_HOMEBREW,
    "/private/etc/localtime",
    "/private/var/db/dyld",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty")
# the second was needed on an M1
_GPU_CLIENTS = ("AGXDeviceUserClient", "IOSurfaceRootUserClient")
_SERVICES = ("com.apple.MTLCompilerService", "com.apple.system.opendirectoryd.libinfo")


def quote(path: str) -> str:
    """Quote a path for a profile.

    Raises:
        ValueError: when it holds a character that a profile cannot quote safely.
    """
    if any(character in path for character in '"\\\n\0'):
        raise ValueError(f"the path {path!r} cannot stand in a sandbox profile; move the course to a plainer path")
    return f'"{path}"'


def profile(*, readable: Sequence[str], writable: Sequence[str]) -> str:
    """Write the profile.

    Args:
        readable: folders that student code may read beside the system's.
        writable: folders that it may write.
    """
    paths = " ".join(f"(subpath {quote(path)})" for path in (*_READABLE, *readable, *writable))
    devices = " ".join(f"(literal {quote(path)})" for path in _DEVICES)
    scratch = " ".join(f"(subpath {quote(path)})" for path in writable)
    clients = " ".join(f"(iokit-user-client-class {quote(name)})" for name in _GPU_CLIENTS)
    services = " ".join(f"(global-name {quote(name)})" for name in _SERVICES)
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            '(import "system.sb")',
            "(allow process-exec process-fork)",
            "(allow signal (target same-sandbox))",
            "(allow sysctl-read)",
            "(allow file-read-metadata)",
            f"(allow file-read* {paths})",
            f"(allow file-map-executable {paths})",
            f"(allow file-read* file-write-data {devices})",
            f"(allow file-write* {scratch})",
            "(allow ipc-posix-sem ipc-posix-shm)",
            f"(allow mach-lookup {services})",
            f"(allow iokit-open {clients})",
            "(allow iokit-get-properties)",
        ]
    )
