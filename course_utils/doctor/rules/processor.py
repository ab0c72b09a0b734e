"""Rules about the processor: an Intel Python or Mac, a virtual Mac, a macOS that hides its version."""

from __future__ import annotations

from course_utils.doctor.findings import Diagnosis, Severity
from course_utils.doctor.requirements import newest_intel_torch
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.conditions import (
    has_apple_chip,
    in_ci,
    is_intel_python,
    is_mac,
    virtual_signs,
)
from course_utils.doctor.snapshot import Snapshot

MINIFORGE = "https://github.com/conda-forge/miniforge/releases/latest/download/Miniforge3-MacOSX-arm64.sh"


def _arm_python(snapshot: Snapshot) -> tuple[str, str]:
    """Return how to get an arm64 Python, in the way that this one was installed: words and command."""
    executable, kind = snapshot.executable or "", snapshot.environment_kind
    if "Python.framework" in executable and "homebrew" not in executable.lower():
        return (
            "The python.org installer holds both architectures: start it as arm64, and make a new environment. If the "
            "Terminal itself runs under Rosetta, untick 'Open using Rosetta' in its Get Info window.",
            "arch -arm64 python3 -m venv --clear .venv",
        )
    if kind == "uv":
        return (
            "Make a new environment with an arm64 Python.",
            "uv venv --clear --python cpython-3.12-macos-aarch64 .venv",
        )
    return (
        "Install an arm64 Python, such as Miniforge for arm64, open a new terminal, and make the environment again"
        + (
            " (an Intel conda keeps making Intel environments; CONDA_SUBDIR=osx-arm64 overrules it)."
            if kind == "conda"
            else "."
        ),
        f"curl -LO {MINIFORGE} && bash Miniforge3-MacOSX-arm64.sh",
    )


def rosetta(snapshot: Snapshot) -> Diagnosis | None:
    """An Intel Python on an Apple chip runs translated, gets torch 2.2.2 at most, and has no MPS."""
    if not is_intel_python(snapshot) or not has_apple_chip(snapshot):
        return None
    signs = [f"this Python is built for {snapshot.machine}"]
    signs += ["the process is translated (sysctl.proc_translated = 1)"] if snapshot.translated else []
    signs += ["the chip is Apple's (hw.optional.arm64 = 1)"] if snapshot.apple_silicon else []
    signs += [f"the chip is {snapshot.chip!r}"] if "Apple" in (snapshot.chip or "") else []
    subdir = snapshot.variable("CONDA_SUBDIR")
    signs += [f"CONDA_SUBDIR is {subdir.value}"] if subdir is not None else []
    fix, command = _arm_python(snapshot)
    return Diagnosis(
        severity="error",
        code="rosetta",
        what="This is an Intel Python under Rosetta on an Apple chip: the Mac can do MPS, this Python cannot.",
        how_known="; ".join(signs),
        fix=f"{fix} Intel wheels end at torch {newest_intel_torch()[0]}, which is why pip finds no newer one.",
        command=command,
        source="Lightning #14634, pytorch #149260: macOS x86_64 wheels end at torch 2.2.2",
    )


def intel_mac(snapshot: Snapshot) -> Diagnosis | None:
    """A genuine Intel Mac ends at torch 2.2.2."""
    if not is_intel_python(snapshot) or has_apple_chip(snapshot) is not False:
        return None
    torch, torchvision = newest_intel_torch()
    signs = [f"machine is {snapshot.machine}"]
    signs += ["not translated"] if snapshot.translated is False else []
    signs += [f"the chip is {snapshot.chip!r}"] if snapshot.chip else []
    return Diagnosis(
        severity="error",
        code="intel-mac",
        what=f"This is a genuine Intel Mac: torch {torch} is the last for it, and the course needs an Apple chip or "
        "Linux.",
        how_known="; ".join(signs),
        fix=f"Use a Mac with an Apple chip, or Linux. For old code on this Mac: torch {torch} with numpy below 2, "
        "Python 3.8 to 3.12.",
        command=f'python -m pip install "torch=={torch}" "torchvision=={torchvision}" "numpy<2"',
        source="pytorch #137281: macOS x86_64 builds ended; newest x86_64 wheel is torch 2.2.2",
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
        what = (
            "This is a virtual Mac (a CI runner or a virtual machine): MPS may be called available and is not usable."
        )
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
        command="unset SYSTEM_VERSION_COMPAT" if masked else "SYSTEM_VERSION_COMPAT=0 sw_vers -productVersion",
        source="Python documentation of platform.mac_ver(); Apple's compatibility version since macOS 11",
    )


RULES: tuple[Rule, ...] = (
    rosetta,
    intel_mac,
    intel_python,
    virtual_mac,
    old_sdk_python,
)
