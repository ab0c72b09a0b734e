"""Read what kind of machine this is: system, chip, virtual or not, container, sandbox, CI. A thin edge."""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path
from typing import Any

from course_utils.devices.machine import ask, sw_vers, sysctl, sysctl_flag
from course_utils.doctor.snapshot import NONE

# environment variable -> the service that sets it
CI_SERVICES = {
    "GITHUB_ACTIONS": "GitHub Actions",
    "GITLAB_CI": "GitLab CI",
    "CIRCLECI": "CircleCI",
    "BUILDKITE": "Buildkite",
    "CIRRUS_CI": "Cirrus CI",
    "TF_BUILD": "Azure Pipelines",
    "JENKINS_URL": "Jenkins",
    "CI": "an unnamed CI service",
}
SANDBOXES = {
    "CODEX_SANDBOX": "Codex sandbox",
    "APP_SANDBOX_CONTAINER_ID": "App Sandbox",
}


def read_file(path: str) -> str | None:
    """Return the text of a small file of the system; None where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _named_by(variables: dict[str, str]) -> str:
    """Return the name of the first service whose variable is set to something else than "0" or "false"."""
    set_names = (name for name in variables if os.environ.get(name, "").lower() not in ("", "0", "false"))
    return next((variables[name] for name in set_names), NONE)


def _macos() -> dict[str, Any]:
    """Read a Mac; SYSCTL names as in `man 3 sysctl`, `proc_translated` from Apple's note on Rosetta."""
    memory = sysctl("hw.memsize")
    return {
        "os_version": sw_vers("productVersion") or platform.mac_ver()[0] or None,
        "os_build": sw_vers("buildVersion"),
        "translated": sysctl_flag("sysctl.proc_translated"),
        "apple_silicon": sysctl_flag("hw.optional.arm64"),
        "chip": sysctl("machdep.cpu.brand_string"),
        "model": sysctl("hw.model"),
        "virtual_machine": sysctl_flag("kern.hv_vmm_present"),
        "memory_bytes": int(memory) if memory and memory.isdigit() else None,
        "container": NONE,
        "sandbox": _named_by(SANDBOXES),
    }


def linux_chip(cpuinfo: str) -> str | None:
    """Return the name of the processor from /proc/cpuinfo; Arm's implementer 0x61 is Apple."""
    name = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    if name is not None:
        return name[1].strip()
    implementer = re.search(r"^CPU implementer\s*:\s*(\S+)$", cpuinfo, re.MULTILINE)
    if implementer is None:
        return None
    return "Apple (CPU implementer 0x61)" if implementer[1] == "0x61" else f"Arm (CPU implementer {implementer[1]})"


def _linux_container() -> str:
    """Return the name of the container this process runs in, from the marks that container engines leave."""
    cgroup = read_file("/proc/1/cgroup") or ""
    if Path("/.dockerenv").exists() or "docker" in cgroup:
        return "docker"
    if Path("/run/.containerenv").exists() or "libpod" in cgroup:
        return "podman"
    if "KUBERNETES_SERVICE_HOST" in os.environ or "kubepods" in cgroup:
        return "kubernetes"
    return "lxc" if "lxc" in cgroup else NONE


def _linux() -> dict[str, Any]:
    cpuinfo = read_file("/proc/cpuinfo") or ""
    release = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_file("/etc/os-release") or "", re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", read_file("/proc/meminfo") or "", re.MULTILINE)
    return {
        "os_version": release[1] if release else None,
        "chip": linux_chip(cpuinfo),
        # x86 processors show a hypervisor as a flag; Arm ones do not say
        "virtual_machine": bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE)) or None,
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "container": _linux_container(),
        "sandbox": _named_by(SANDBOXES),
    }


def _nvidia_driver() -> str:
    if shutil.which("nvidia-smi") is None:
        return NONE
    answer = ask("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return answer.splitlines()[0] if answer else NONE


def read_machine() -> dict[str, Any]:
    """Return this machine's values for the fields of `Snapshot` that describe a system."""
    system = platform.system()
    found: dict[str, Any] = {"system": system or None, "machine": platform.machine() or None}
    found |= {"kernel": platform.release() or None, "ci": _named_by(CI_SERVICES), "nvidia_driver": _nvidia_driver()}
    if system == "Darwin":
        architecture = re.search(r"RELEASE_\w+", platform.version())
        found |= _macos() | {"kernel_version": architecture[0] if architecture else None}
    elif system == "Linux":
        found |= _linux()
    elif system == "Windows":
        found |= {"os_version": platform.version(), "chip": platform.processor() or None}
    return found
