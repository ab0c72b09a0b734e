"""What several rules ask of a snapshot; True and False are certain, None is unknown."""

from __future__ import annotations

import re
import shlex

from course_utils.data.versions import Version, exactly, macos_version
from course_utils.doctor.requirements import course_bounds, known, newest_torch, torchvision_for
from course_utils.doctor.snapshot import NONE, Snapshot


def is_mac(snapshot: Snapshot) -> bool:
    """Return whether the system is macOS."""
    return snapshot.system == "Darwin"


def has_apple_chip(snapshot: Snapshot) -> bool | None:
    """Return whether this computer has an Apple chip, also behind Rosetta."""
    if snapshot.machine == "arm64" or snapshot.translated or snapshot.apple_silicon:
        return True
    if snapshot.chip is not None and snapshot.chip != NONE:
        return "Apple" in snapshot.chip
    if snapshot.kernel_version is not None:
        return "ARM64" in snapshot.kernel_version
    # sysctl does not know these names on an Intel Mac, so False is an answer and None is not
    return False if snapshot.translated is False or snapshot.apple_silicon is False else None


def is_intel_python(snapshot: Snapshot) -> bool:
    """Return whether this Python is built for Intel processors, on a Mac."""
    return is_mac(snapshot) and snapshot.machine in ("x86_64", "i386")


def macos(snapshot: Snapshot) -> Version | None:
    """Return the version of macOS; None off a Mac or where it is unknown."""
    return macos_version(snapshot.os_version, snapshot.kernel) if is_mac(snapshot) else None


def macos_text(snapshot: Snapshot) -> str:
    """Return the version of macOS for a reader, and that the system hid it where it did."""
    version = macos(snapshot)
    if version is None:
        return f"macOS {snapshot.os_version}" if snapshot.os_version else "macOS of unknown version"
    if snapshot.os_version and not snapshot.os_version.startswith(str(version)):
        return f"macOS {version} (reported as {snapshot.os_version})"
    return f"macOS {version}"


def virtual_signs(snapshot: Snapshot) -> tuple[str, ...]:
    """Return what shows that this Mac is a virtual one."""
    signs = []
    if snapshot.virtual_machine:
        signs.append("a hypervisor is present (kern.hv_vmm_present = 1)")
    if "Paravirtual" in (snapshot.gpu or ""):
        signs.append(f"the GPU is {snapshot.gpu!r}")
    if "VirtualMac" in (snapshot.model or ""):
        signs.append(f"the model is {snapshot.model}")
    if "(Virtual)" in (snapshot.chip or ""):
        signs.append(f"the chip is {snapshot.chip!r}")
    if "VMAPPLE" in (snapshot.kernel_version or ""):
        signs.append(f"the kernel is {snapshot.kernel_version}")
    return tuple(signs)


def in_ci(snapshot: Snapshot) -> bool:
    """Return whether a continuous integration service runs this."""
    return snapshot.ci not in (None, NONE)


def torch_version(snapshot: Snapshot) -> Version | None:
    """Return the installed torch's version; None for unknown or not installed."""
    return known(snapshot.torch)


def best_torch(snapshot: Snapshot) -> str | None:
    """Return the newest torch with a usable MPS on this macOS and a wheel for this Python, within the course's bounds.

    Where nothing within the bounds fits, the newest that fits at all; None if there is none.
    """
    python = known(snapshot.python)
    inside = newest_torch(macos(snapshot), python, below=course_bounds().torch_below)
    return inside or newest_torch(macos(snapshot), python)


def pip_install(snapshot: Snapshot, *requirements: str, flags: str = "") -> str:
    """Return the command that installs into this environment, with uv where uv made it."""
    tool = "uv pip install" if snapshot.environment_kind == "uv" else "python -m pip install"
    words = [word if re.fullmatch(r"[\w.=-]+", word) else f'"{word}"' for word in requirements]
    return " ".join([tool, *([flags] if flags else []), *words])


def install_torch(snapshot: Snapshot, torch: str, *, flags: str = "") -> str:
    """Return the command that installs a torch and the torchvision that pairs with it."""
    return pip_install(snapshot, f"torch=={torch}", torchvision_for(exactly(torch)) or "torchvision", flags=flags)


def environment_of(executable: str) -> str:
    """Return the folder of the environment that an executable belongs to, the one that holds its bin."""
    return re.sub(r"[/\\](?:bin|Scripts)[/\\][^/\\]*$", "", executable)


def quoted(text: str) -> str:
    """Quote a word from a snapshot for a shell; ~ at its start stays the home folder."""
    if text.startswith("~/"):
        return "~/" + shlex.quote(text[2:])
    return shlex.quote(text)
