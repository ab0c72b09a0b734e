"""The versions that decide what checks say: part of the cache keys of `course progress` and of the grader."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

from course_utils.data.package import FOLDER, VERSION


@dataclass(frozen=True)
class RuntimeVersions:
    """What a check's outcome depends on besides the notebook.

    Args:
        course: the version of this package and the beginning of the hash of its files.
        torch: such as "2.14.1"; "none" where torch is not installed.
        python: such as "3.11".
        system: such as "Linux x86_64" or "Darwin 15.5 arm64"; a kernel's release is not part of it, that of macOS is.
    """

    course: str
    torch: str
    python: str
    system: str


@cache
def runtime_versions() -> RuntimeVersions:
    """Return the versions of this process; torch is not loaded for it."""
    import importlib.metadata
    import platform

    try:
        torch_version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch_version = "none"
    python = ".".join(platform.python_version_tuple()[:2])
    system = " ".join(filter(None, (platform.system(), platform.mac_ver()[0], platform.machine())))
    return RuntimeVersions(course_version(), torch_version, python, system)


@cache
def course_version() -> str:
    """Return this package's version and the hash of its files, so that nobody has to remember to raise a number."""
    files = sorted(path for pattern in ("*.py", "*.json") for path in FOLDER.rglob(pattern))
    content = hashlib.sha256()
    for path in files:
        content.update(f"{path.relative_to(FOLDER).as_posix()}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    return f"{VERSION}+{content.hexdigest()[:12]}"
