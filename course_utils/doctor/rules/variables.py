"""Rules about environment variables: the CPU fallback, OpenMP's override, the course's device."""

from __future__ import annotations

from course_utils.devices.environment_variables import COURSE_DEVICE, FALLBACK, fallback_is_on
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import set_variable, unset
from course_utils.doctor.rules.conditions import course_device_works, in_ci, mac_severity
from course_utils.doctor.snapshot import Snapshot

# how people write that they do not want it
NO = ("", "no", "n", "off", "false", "f", "none", "disable", "disabled")
FALLBACK_SOURCE = "aten/src/ATen/mps/MPSFallback.mm (torch 1.13 to 2.15): read once, when libtorch loads"


def _fallback(snapshot: Snapshot) -> bool | None:
    """Return whether the fallback variable switches the CPU fallback on; None where it ends `import torch`."""
    variable = snapshot.variable(FALLBACK)
    try:
        return variable is not None and fallback_is_on({FALLBACK: variable.value})
    except ValueError:
        return None


def _meant(snapshot: Snapshot) -> str:
    """Return the command that does what somebody meant who set the fallback variable, never with the value itself."""
    variable = snapshot.variable(FALLBACK)
    off = _fallback(snapshot) is False or (variable is not None and variable.value.strip().lower() in NO)
    return unset(snapshot, FALLBACK) if off else set_variable(snapshot, FALLBACK, "1")


def fallback_not_a_number(snapshot: Snapshot) -> Diagnosis | None:
    """Set to a word, the fallback variable makes torch throw while it loads: it wants an integer."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or _fallback(snapshot) is not None:
        return None
    late = variable.before_torch is False
    when = "the next `import torch`, after a restart, fails" if late else "torch fails while it loads"
    return Diagnosis(
        severity=mac_severity(snapshot, "error"),
        code="fallback-not-a-number",
        what=f"{FALLBACK} is {variable.value!r}, which is not a number: on a Mac {when}.",
        how_known=f"{FALLBACK}={variable.value}; torch reads it with std::stoi, which throws",
        fix="Set it to 1, before the first `import torch`, to switch the CPU fallback on, or leave it unset.",
        command=_meant(snapshot),
        source=FALLBACK_SOURCE,
    )


def fallback_too_late(snapshot: Snapshot) -> Diagnosis | None:
    """The fallback variable was set after torch had loaded, so torch does not know it."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or variable.before_torch is not False:
        return None
    return Diagnosis(
        severity=mac_severity(snapshot, "warning"),
        code="fallback-too-late",
        what=f"{FALLBACK} was set too late: torch had loaded before and does not know {variable.value!r}.",
        how_known=f"{FALLBACK}={variable.value} now, and not when torch loaded in this process",
        fix="Restart the kernel, and set it before the first `import torch`, in the first cell, or in the shell.",
        command=_meant(snapshot),
        source=FALLBACK_SOURCE + "; InvokeAI #2508, Visionatrix #212",
    )


def fallback_order_unknown(snapshot: Snapshot) -> Diagnosis | None:
    """Set within this process, torch loaded: only the order of the cells tells whether it works."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or variable.before_torch is not None or snapshot.in_notebook is None:
        return None
    return Diagnosis(
        severity=mac_severity(snapshot, "warning"),
        code="fallback-order-unknown",
        what=f"{FALLBACK} is set and torch is loaded; if `import torch` ran first, the variable is too late.",
        how_known=f"{FALLBACK}={variable.value}; when it was set is unknown",
        fix="If in doubt, restart the kernel and set it in the first cell, before anything imports torch.",
        command=_meant(snapshot),
        source=FALLBACK_SOURCE,
    )


def fallback_in_ci(snapshot: Snapshot) -> Diagnosis | None:
    """In CI, the fallback hides missing operators, which tests are there to find."""
    if not in_ci(snapshot) or not _fallback(snapshot):
        return None
    return Diagnosis(
        severity="warning",
        code="fallback-in-ci",
        what=f"{FALLBACK} is set in CI: operators that MPS lacks run on the CPU there, and no test fails.",
        how_known=f"{FALLBACK} is set; it runs in {snapshot.ci}",
        fix="Remove it from the workflow, so that a missing operator raises NotImplementedError.",
        command=unset(snapshot, FALLBACK),
        source="aten/src/ATen/mps/MPSFallback.mm: one warning a process, then silence (torch 1.13 to 2.15)",
    )


def fallback_on(snapshot: Snapshot) -> Diagnosis | None:
    """The fallback is on: not wrong, but worth knowing when times or lessons surprise."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or not _fallback(snapshot) or in_ci(snapshot) or variable.before_torch is False:
        return None
    return Diagnosis(
        severity="note",
        code="fallback-on",
        what="The CPU fallback is on: operators that MPS lacks run on the CPU, with a warning for the first one only.",
        how_known=f"{FALLBACK}={variable.value}",
        fix="Unset it while you measure or follow the lessons on missing operators.",
        command=unset(snapshot, FALLBACK),
        source="aten/src/ATen/mps/MPSFallback.mm (torch 1.13 to 2.15)",
    )


def export_in_a_cell(snapshot: Snapshot) -> Diagnosis | None:
    """`!export` in a cell sets a variable in a shell that ends with the cell."""
    lost = [name for name in snapshot.shell_exports or () if snapshot.variable(name) is None]
    if not lost:
        return None
    return Diagnosis(
        severity="warning",
        code="export-in-a-cell",
        what=f"{', '.join(lost)}: exported in a notebook cell's shell, which has ended; it never reached this process.",
        how_known=f"a cell exports {', '.join(lost)}, and it is not set in this process",
        fix="Restart the kernel, and use %env in the first cell, before anything imports torch.",
        command=set_variable(snapshot, FALLBACK, "1") if lost[0] == FALLBACK else None,
        source="IPython documentation: each ! line runs in a shell of its own",
    )


def kmp_duplicate_ok(snapshot: Snapshot) -> Diagnosis | None:
    """The switch that lets two OpenMP runtimes run side by side lets them compute wrongly."""
    variable = snapshot.variable("KMP_DUPLICATE_LIB_OK")
    if variable is None or variable.value.strip().lower() not in ("1", "true", "t", "yes", "y", "on", ".true."):
        return None
    return Diagnosis(
        severity="warning",
        code="kmp-duplicate-ok",
        what="KMP_DUPLICATE_LIB_OK lets two OpenMP runtimes run in one process: results may be wrong without a "
        "message.",
        how_known=f"KMP_DUPLICATE_LIB_OK={variable.value}",
        fix="Unset it, and make an environment in which torch and all else that carries OpenMP come from one source.",
        command=unset(snapshot, "KMP_DUPLICATE_LIB_OK"),
        source="pytorch #78490; the OpenMP runtime's own text calls it unsafe and undocumented",
    )


def course_device_set(snapshot: Snapshot) -> Diagnosis | None:
    """COURSE_DEVICE overrides the choice of the device."""
    variable, works = snapshot.variable(COURSE_DEVICE), course_device_works(snapshot)
    if variable is None or not variable.value or works is False or (variable.value == "mps" and works):
        return None
    return Diagnosis(
        severity="note",
        code="course-device-set",
        what=f"COURSE_DEVICE is {variable.value!r}: the lessons use that device, whatever else works.",
        how_known=f"COURSE_DEVICE={variable.value}",
        fix="Unset it to let the course choose.",
        command=unset(snapshot, COURSE_DEVICE),
        source="course_utils.devices.probe",
    )


def course_device_unusable(snapshot: Snapshot) -> Diagnosis | None:
    """COURSE_DEVICE names a device that does not compute here, so every lesson raises."""
    variable = snapshot.variable(COURSE_DEVICE)
    if variable is None or course_device_works(snapshot) is not False:
        return None
    usable = [name for name, state in (("mps", snapshot.mps_state), ("cuda", snapshot.cuda_state)) if state == "usable"]
    return Diagnosis(
        severity="error",
        code="course-device-unusable",
        what=f"COURSE_DEVICE is {variable.value!r}, which does not compute here: every lesson raises ValueError.",
        how_known=f"COURSE_DEVICE={variable.value}; what computes here: {', '.join([*usable, 'cpu'])}",
        fix="Unset it to let the course choose, and find where it is set (~/.zshrc, a kernel's settings).",
        command=unset(snapshot, COURSE_DEVICE),
        source="course_utils.devices.probe",
    )


RULES: tuple[Rule, ...] = (
    fallback_not_a_number,
    fallback_too_late,
    fallback_order_unknown,
    export_in_a_cell,
    fallback_in_ci,
    fallback_on,
    kmp_duplicate_ok,
    course_device_unusable,
    course_device_set,
)
