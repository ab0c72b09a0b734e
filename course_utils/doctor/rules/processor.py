"""Rules about the processor: an Intel Python or Mac, a virtual Mac, a macOS that hides its version."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_utils.doctor.findings import Diagnosis, Severity
from course_utils.doctor.requirements import course_bounds, known, newest_intel_torch
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import new_environment, pip_install, unset, usable_path
from course_utils.doctor.rules.conditions import (
    has_apple_chip,
    in_ci,
    is_intel_python,
    is_mac,
    under,
    virtual_signs,
)
from course_utils.doctor.snapshot import Snapshot

HOMEBREW = "https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh"
MINIFORGE = "https://github.com/conda-forge/miniforge/releases/latest/download/Miniforge3-MacOSX-arm64.sh"


@dataclass(frozen=True)
class _ArmPython:
    """How to get an arm64 Python where this one is for Intel: what to do, and the command that begins it."""

    fix: str
    command: str


def _base_python(snapshot: Snapshot) -> str:
    """Return the Python that an environment was made from, as far as is known; its own elsewhere."""
    return snapshot.base_executable or snapshot.executable or ""


def _arm_python(snapshot: Snapshot) -> _ArmPython:
    """Return how to get an arm64 Python, in the way that this one was installed."""
    base, kind = _base_python(snapshot), snapshot.environment_kind
    version = ".".join((snapshot.python or "").split(".")[:2])
    python = f"python{version}" if re.fullmatch(r"3\.[0-9]{1,2}", version) else "python3"
    if kind == "conda":
        return _ArmPython(
            f"The conda that made {snapshot.prefix or 'this environment'} is an Intel one and keeps making Intel "
            "environments. Install Miniforge for arm64, open a new terminal, and make the environment again "
            "(CONDA_SUBDIR=osx-arm64 overrules the old conda).",
            f"curl -LO {MINIFORGE} && bash Miniforge3-MacOSX-arm64.sh",
        )
    if kind == "uv" or "/uv/python/" in base:
        return _ArmPython(
            "Make a new environment with an arm64 Python.", "uv venv --clear --python cpython-3.12-macos-aarch64 .venv"
        )
    if re.search(r"/\.?pyenv/versions/", base):
        wanted = snapshot.python if re.fullmatch(r"3(\.[0-9]{1,3}){2}", snapshot.python or "") else "3.12"
        return _ArmPython(
            "pyenv built this Python in a translated shell. Build it again natively, from a terminal without Rosetta "
            "(untick 'Open using Rosetta' in its Get Info window), then make a new environment with it. Where that "
            "build fails, take an arm64 Python from python.org or Miniforge.",
            f"arch -arm64 pyenv install --force {wanted}",
        )
    if "/Cellar/" in base or base.startswith("/usr/local/opt/"):
        return _ArmPython(
            "This Python belongs to an Intel Homebrew in /usr/local. Install Homebrew for arm64, which lives in "
            f"/opt/homebrew, then {python} from it, then make a new environment.",
            f'arch -arm64 /bin/bash -c "$(curl -fsSL {HOMEBREW})"',
        )
    # a venv alone does not tell what it was made from, and a link in /usr/local/bin may lead to any installer
    known_base = snapshot.base_executable or kind == "system" or not under(base, snapshot.prefix)
    start = (usable_path(base) if known_base else None) or python
    return _ArmPython(
        "The installers of python.org and Apple hold both architectures: start that Python as arm64, and make a new "
        "environment (if the Terminal itself runs under Rosetta, untick 'Open using Rosetta' in its Get Info window). "
        "If it says 'Bad CPU type', this Python is for Intel only: install an arm64 Python from python.org or "
        "Miniforge, then make a new environment.",
        f"arch -arm64 {start} -m venv --clear .venv",
    )


def _of_222(snapshot: Snapshot) -> str:
    """Return what is known of MPS in the last torch with Intel wheels, which was built with it."""
    torch = newest_intel_torch()[0]
    if snapshot.mps_state == "usable":
        return f"MPS computes here with it; newer fixes and operators do not come to {torch}"
    tried = ", and here it does not compute" if snapshot.mps_state == "present but unusable" else ""
    return f"{torch} has MPS built in, which works for some{tried}"


def rosetta(snapshot: Snapshot) -> Diagnosis | None:
    """An Intel Python on an Apple chip runs translated and is stuck at torch 2.2.2."""
    if not is_intel_python(snapshot) or not has_apple_chip(snapshot):
        return None
    signs = [f"this Python{f' in {snapshot.prefix}' if snapshot.prefix else ''} is built for {snapshot.machine}"]
    signs += ["the process is translated (sysctl.proc_translated = 1)"] if snapshot.translated else []
    signs += ["the chip is Apple's (hw.optional.arm64 = 1)"] if snapshot.apple_silicon else []
    signs += [f"the chip is {snapshot.chip!r}"] if "Apple" in (snapshot.chip or "") else []
    subdir = snapshot.variable("CONDA_SUBDIR")
    signs += [f"CONDA_SUBDIR is {subdir.value}"] if subdir is not None else []
    torch, arm = newest_intel_torch()[0], _arm_python(snapshot)
    return Diagnosis(
        severity="error",
        code="rosetta",
        what=f"This is an Intel Python under Rosetta on an Apple chip: it is stuck at torch {torch}, and the course "
        f"needs {course_bounds().torch_from}.",
        how_known="; ".join(signs),
        fix=f"{arm.fix} Intel wheels end at torch {torch}, so pip finds no newer one; {_of_222(snapshot)}.",
        command=arm.command,
        source="Lightning #14634, pytorch #149260; x86_64 wheels end at torch 2.2.2, which links Metal",
    )


def intel_mac(snapshot: Snapshot) -> Diagnosis | None:
    """A genuine Intel Mac ends at torch 2.2.2."""
    if not is_intel_python(snapshot) or has_apple_chip(snapshot) is not False:
        return None
    torch, torchvision = newest_intel_torch()
    python = known(snapshot.python)
    signs = [f"machine is {snapshot.machine}"]
    signs += ["not translated"] if snapshot.translated is False else []
    signs += [f"the chip is {snapshot.chip!r}"] if snapshot.chip else []
    fix = "Use a Mac with an Apple chip, or Linux, where every lesson runs on the CPU. For old code on this Mac: torch "
    fix += f"{torch} with numpy below 2, Python 3.8 to 3.12; {_of_222(snapshot)} with an AMD GPU."
    command = pip_install(snapshot, f"torch=={torch}", f"torchvision=={torchvision}", "numpy<2")
    if python is not None and not (3, 8) <= python.line <= (3, 12):
        fix += f" It has no wheel for Python {python}: make an environment with Python 3.12 first."
        command = new_environment(snapshot, "3.12")
    return Diagnosis(
        severity="error",
        code="intel-mac",
        what=f"This is a genuine Intel Mac: torch {torch} is the last for it, and the course needs an Apple chip or "
        "Linux.",
        how_known="; ".join(signs),
        fix=fix,
        command=command,
        source="pytorch #137281: macOS x86_64 builds ended; newest x86_64 wheel is torch 2.2.2, for Python 3.8 to 3.12",
    )


def intel_python(snapshot: Snapshot) -> Diagnosis | None:
    """An Intel Python on a Mac whose chip is unknown: either of the two."""
    if not is_intel_python(snapshot) or has_apple_chip(snapshot) is not None:
        return None
    return Diagnosis(
        severity="error",
        code="intel-python",
        what="This is an Intel Python on a Mac: under Rosetta if the chip is Apple's, else this is an Intel Mac.",
        how_known=f"machine is {snapshot.machine}; chip and translation are unknown",
        fix="Ask the Mac: 1 means an Apple chip, so install an arm64 Python; an error means an Intel Mac, whose last "
        f"torch is {newest_intel_torch()[0]}.",
        command="sysctl -n hw.optional.arm64",
        source="Lightning #14634: platform.machine() alone does not tell Rosetta from Intel",
    )


def virtual_mac(snapshot: Snapshot) -> Diagnosis | None:
    """A virtual Mac offers a paravirtual GPU, on which MPS may be available and yet unusable."""
    signs = virtual_signs(snapshot)
    hosted = is_mac(snapshot) and in_ci(snapshot) and snapshot.mps_state == "present but unusable"
    if not is_mac(snapshot) or not (signs or hosted):
        return None
    usable = snapshot.mps_state == "usable"
    broken = snapshot.mps_state == "present but unusable" or snapshot.mps_available is False
    severity: Severity = "note" if usable else "error" if broken else "warning"
    known = [*signs, *([f"it runs in {snapshot.ci}"] if in_ci(snapshot) else [])]
    if broken and snapshot.mps_available:
        known.append("torch says available, the computation failed")
    if usable:
        what = "This is a virtual Mac; MPS computes here, but its times are not those of the chip's own GPU."
        fix = "Test here, measure on a real Mac."
    else:
        what = "This is a virtual Mac (a CI runner or a virtual machine): MPS may be reported as available, yet fails."
        fix = "Use a real Mac for MPS; in CI run on the CPU, and let a probe decide which tests want MPS. Of GitHub's "
        fix += (
            "runners, macos-15 has been seen to compute on MPS; macos-26 cannot compile torch 2.14's Metal 4 shaders."
        )
    return Diagnosis(
        severity=severity,
        code="virtual-mac",
        what=what,
        how_known="; ".join(known),
        fix=fix,
        command=None if usable else "COURSE_DEVICE=cpu course lab",
        source="pytorch #125197, actions/runner-images #9918 (torch 2.3 to 2.14), kornia #4159; GitHub's runner limits "
        "exclude MPS",
    )


def old_sdk_python(snapshot: Snapshot) -> Diagnosis | None:
    """A Python that is told 10.16 was built for an SDK older than macOS 11."""
    if not is_mac(snapshot) or not (snapshot.os_version or "").startswith("10.16"):
        return None
    masked = snapshot.variable("SYSTEM_VERSION_COMPAT") is not None
    reason = "SYSTEM_VERSION_COMPAT is set" if masked else "it was built for an SDK older than macOS 11"
    return Diagnosis(
        severity="warning",
        code="macos-masked",
        what="This Python is told macOS 10.16, which stands for any macOS from 11 on, so tools misjudge what fits.",
        how_known=f"os_version is 10.16; the kernel is {snapshot.kernel or 'unknown'}; {reason}, or both",
        fix="Unset SYSTEM_VERSION_COMPAT." if masked else "Use a newer Python; ask macOS itself for its version.",
        command=unset(snapshot, "SYSTEM_VERSION_COMPAT")
        if masked
        else "SYSTEM_VERSION_COMPAT=0 sw_vers -productVersion",
        source="Python documentation of platform.mac_ver(); Apple's compatibility version since macOS 11",
    )


RULES: tuple[Rule, ...] = (
    rosetta,
    intel_mac,
    intel_python,
    virtual_mac,
    old_sdk_python,
)
