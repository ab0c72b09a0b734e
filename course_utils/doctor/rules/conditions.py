"""What several rules ask of a snapshot; True and False are certain, None is unknown."""

from __future__ import annotations

import re

from course_utils.data.versions import Version, exactly, macos_version
from course_utils.devices.environment_variables import COURSE_DEVICE
from course_utils.doctor.findings import Severity
from course_utils.doctor.requirements import course_bounds, known, newest_intel_torch, newest_torch, torch_lines
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


def mac_severity(snapshot: Snapshot, severity: Severity) -> Severity:
    """Return a severity as it is on a Mac; elsewhere nothing reads the variables of MPS, and a note is enough."""
    return severity if is_mac(snapshot) else "note"


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


def installable(snapshot: Snapshot, torch: Version) -> bool:
    """Return whether there is a wheel of a torch for this Python; on a Mac also whether its MPS works on this macOS."""
    python, system = known(snapshot.python), macos(snapshot)
    if torch.early or (torch.local or "").startswith("git"):
        return False
    if is_intel_python(snapshot):
        return str(torch) == newest_intel_torch()[0] and (python is None or (3, 8) <= python.line <= (3, 12))
    line = next((line for line in torch_lines() if str(torch) in line.releases), None)
    if line is None or not line.suits_python(python):
        return False
    return system is None or system.at_least(line.mps_macos)


def tested_torch(snapshot: Snapshot) -> str | None:
    """Return the newest torch within the course's bounds that has a wheel here, and MPS on a Mac; None if none has."""
    bounds = course_bounds()
    if is_intel_python(snapshot):
        return None
    newest = newest_torch(macos(snapshot), known(snapshot.python), below=bounds.torch_below)
    return newest if newest is not None and exactly(newest).at_least(bounds.torch_from) else None


def environment_of(executable: str) -> str:
    """Return the folder of the environment that an executable belongs to, the one that holds its bin."""
    return re.sub(r"[/\\](?:bin|Scripts)[/\\][^/\\]*$", "", executable)


def under(path: str | None, folder: str | None) -> bool:
    """Return whether a path lies in a folder; False where either is unknown."""
    return bool(path and folder) and f"{path}/".startswith(f"{str(folder).rstrip('/')}/")


def course_device_works(snapshot: Snapshot) -> bool | None:
    """Return whether COURSE_DEVICE names a device that computes here; None where it is not set or nobody tried.

    The course accepts "mps", "cuda" and "cpu", also with an index (course_utils.devices.probe).
    """
    variable = snapshot.variable(COURSE_DEVICE)
    if variable is None or not variable.value:
        return None
    named = re.fullmatch(r"(mps|cuda|cpu)(:[0-9]+)?", variable.value)
    if named is None:
        return False
    if named[1] == "cpu":
        return True
    if named[1] == "mps" and snapshot.system not in (None, "Darwin"):
        return False
    state = snapshot.mps_state if named[1] == "mps" else snapshot.cuda_state
    if state is None:
        return False if named[1] == "cuda" and is_mac(snapshot) else None
    return state == "usable"
