"""Rules about environment variables: CPU fallback, memory watermarks, OpenMP's override, the course's device."""

from __future__ import annotations

from course_utils.devices.environment_variables import (
    COURSE_DEVICE,
    DEFAULT_RATIOS,
    FALLBACK,
    HIGH_WATERMARK,
    LARGEST_RATIO,
    LOW_WATERMARK,
    WatermarkRatio,
    fallback_is_on,
    watermark_ratio,
)
from course_utils.doctor.findings import Diagnosis, Severity
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.conditions import in_ci, is_mac
from course_utils.doctor.snapshot import Snapshot

DEFAULT_HIGH, DEFAULT_LOW = DEFAULT_RATIOS[HIGH_WATERMARK], DEFAULT_RATIOS[LOW_WATERMARK]
FALLBACK_SOURCE = "aten/src/ATen/mps/MPSFallback.mm (torch 1.13 to 2.15): read once, when libtorch loads"
WATERMARK_SOURCE = "aten/src/ATen/mps/MPSAllocator.h and .mm (torch 2.0 to 2.15)"


def _severity(snapshot: Snapshot, severity: Severity) -> Severity:
    """Off a Mac nothing reads these variables: what would be wrong there is a note."""
    return severity if is_mac(snapshot) else "note"


def _unset(snapshot: Snapshot, name: str) -> str:
    """Return what removes a variable: in a shell, or in a notebook, whose kernel then has to be restarted."""
    return f'import os; os.environ.pop("{name}", None)  # then restart' if snapshot.in_notebook else f"unset {name}"


def _fallback(snapshot: Snapshot) -> bool | None:
    """Return whether the fallback variable switches the CPU fallback on; None where it ends `import torch`."""
    variable = snapshot.variable(FALLBACK)
    try:
        return variable is not None and fallback_is_on({FALLBACK: variable.value})
    except ValueError:
        return None


def fallback_not_a_number(snapshot: Snapshot) -> Diagnosis | None:
    """Set to a word, the fallback variable makes torch throw while it loads: it wants an integer."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or _fallback(snapshot) is not None:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "error"),
        code="fallback-not-a-number",
        what=f"{FALLBACK} is {variable.value!r}, which is not a number: on a Mac torch fails while it loads.",
        how_known=f"{FALLBACK}={variable.value}; torch reads it with std::stoi, which throws",
        fix="Set it to 1 to switch the CPU fallback on, or leave it unset.",
        command=_unset(snapshot, FALLBACK),
        source=FALLBACK_SOURCE,
    )


def fallback_too_late(snapshot: Snapshot) -> Diagnosis | None:
    """The fallback variable was set after torch had loaded, so torch does not know it."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or variable.before_torch is not False:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "warning"),
        code="fallback-too-late",
        what=f"{FALLBACK} was set too late: torch had loaded before and does not know {variable.value!r}.",
        how_known=f"{FALLBACK}={variable.value} now, and not when torch loaded in this process",
        fix="Restart the kernel, and set it before the first `import torch`, in the first cell, or in the shell.",
        command=f"%env {FALLBACK}={variable.value}" if snapshot.in_notebook else f"export {FALLBACK}={variable.value}",
        source=FALLBACK_SOURCE + "; InvokeAI #2508, Visionatrix #212",
    )


def fallback_order_unknown(snapshot: Snapshot) -> Diagnosis | None:
    """Set within this process, torch loaded: only the order of the cells tells whether it works."""
    variable = snapshot.variable(FALLBACK)
    if variable is None or variable.before_torch is not None or snapshot.in_notebook is None:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "warning"),
        code="fallback-order-unknown",
        what=f"{FALLBACK} is set and torch is loaded; if `import torch` ran first, the variable is too late.",
        how_known=f"{FALLBACK}={variable.value}; when it was set is unknown",
        fix="If in doubt, restart the kernel and set it in the first cell, before anything imports torch.",
        command=f"%env {FALLBACK}={variable.value}",
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
        command=_unset(snapshot, FALLBACK),
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
        command=_unset(snapshot, FALLBACK),
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
        command=f"%env {lost[0]}=1" if lost[0] == FALLBACK else f"%env {lost[0]}=VALUE",
        source="IPython documentation: each ! line runs in a shell of its own",
    )


def _ratios(snapshot: Snapshot) -> dict[str, WatermarkRatio]:
    """Return the two watermarks as torch reads them."""
    environ = {variable.name: variable.value for variable in snapshot.variables or ()}
    return {name: watermark_ratio(name, environ) for name in (HIGH_WATERMARK, LOW_WATERMARK)}


def _read_as(ratio: WatermarkRatio) -> str:
    """Return how torch reads a watermark that is not written as a plain number."""
    return f", which torch reads as {ratio.value:g}" if ratio.misread else ""


def watermark_invalid(snapshot: Snapshot) -> Diagnosis | None:
    """A watermark has to be a number from 0 to 2."""
    wrong = next((ratio for ratio in _ratios(snapshot).values() if not ratio.accepted), None)
    if wrong is None:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "error"),
        code="watermark-invalid",
        what=f"{wrong.name} is {wrong.text!r}{_read_as(wrong)}; it has to be a number from 0 to {LARGEST_RATIO:g}: "
        "torch refuses it at the first use of MPS.",
        how_known=f"{wrong.name}={wrong.text}",
        fix=f"Unset it; the defaults are {DEFAULT_HIGH} (high) and {DEFAULT_LOW} (low).",
        command=_unset(snapshot, wrong.name),
        source=WATERMARK_SOURCE,
    )


def watermark_order(snapshot: Snapshot) -> Diagnosis | None:
    """The low watermark must not be above the high one, and has a default that is easily forgotten."""
    high, low = _ratios(snapshot).values()
    if (high.text is None and low.text is None) or not (high.accepted and low.accepted):
        return None
    if high.value == 0 or low.value <= high.value:
        return None
    default = " (the default)" if low.text is None else ""
    fitting = min(high.value, round(high.value * DEFAULT_LOW / DEFAULT_HIGH, 2))
    return Diagnosis(
        severity=_severity(snapshot, "error"),
        code="watermark-order",
        what=f"The high watermark, {high.value:g}, is below the low one, {low.value:g}{default}: torch refuses both "
        f"(invalid low watermark ratio {low.value:g}).",
        how_known=f"{HIGH_WATERMARK} is {high.text or 'unset'}, {LOW_WATERMARK} is {low.text or 'unset'}",
        fix="Set both, the low one not above the high one, before torch loads; or unset both.",
        command=f"export {HIGH_WATERMARK}={high.value:g} {LOW_WATERMARK}={fitting:g}",
        source=WATERMARK_SOURCE,
    )


def watermark_zero(snapshot: Snapshot) -> Diagnosis | None:
    """A high watermark of 0 removes the memory limit."""
    high = _ratios(snapshot)[HIGH_WATERMARK]
    if high.value != 0:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "warning"),
        code="watermark-zero",
        what=f"{HIGH_WATERMARK} is {high.text!r}{_read_as(high)}: MPS has no memory limit, so a job that is too large "
        "can freeze the whole Mac.",
        how_known=f"{HIGH_WATERMARK}={high.text}",
        fix="Unset it and make the job smaller: a smaller batch, half precision, or checkpointing.",
        command=_unset(snapshot, HIGH_WATERMARK),
        source=WATERMARK_SOURCE + "; torch's out-of-memory message warns of system failure",
    )


def watermark_misread(snapshot: Snapshot) -> Diagnosis | None:
    """Torch reads what a watermark begins with and ignores the rest."""
    read = [ratio for ratio in _ratios(snapshot).values() if ratio.misread and ratio.accepted]
    misread = next((ratio for ratio in read if (ratio.name, ratio.value) != (HIGH_WATERMARK, 0)), None)
    if misread is None:
        return None
    return Diagnosis(
        severity=_severity(snapshot, "warning"),
        code="watermark-misread",
        what=f"{misread.name} is {misread.text!r}{_read_as(misread)}: it takes what the text begins with.",
        how_known=f"{misread.name}={misread.text}; torch reads it with strtod",
        fix="Write the number alone, or unset it.",
        command=_unset(snapshot, misread.name),
        source=WATERMARK_SOURCE,
    )


def watermark_too_late(snapshot: Snapshot) -> Diagnosis | None:
    """A watermark that torch did not see when it loaded may have no effect."""
    late = [
        name for name in (HIGH_WATERMARK, LOW_WATERMARK) if (v := snapshot.variable(name)) and v.before_torch is False
    ]
    if not late:
        return None
    variable = snapshot.variable(late[0])
    return Diagnosis(
        severity=_severity(snapshot, "warning"),
        code="watermark-too-late",
        what=f"{', '.join(late)} was set after torch had loaded: once MPS was used, it has no effect.",
        how_known=f"{late[0]} changed in this process after torch loaded",
        fix="Restart the kernel and set it in the first cell or in the shell; or call "
        "torch.mps.set_per_process_memory_fraction, which works at any time.",
        command=f"%env {late[0]}={variable.value if variable else ''}",
        source="pytorch #96814; " + WATERMARK_SOURCE + ": read once",
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
        fix="Unset it, and make an environment in which torch and what else carries OpenMP come from one source.",
        command=_unset(snapshot, "KMP_DUPLICATE_LIB_OK"),
        source="pytorch #78490; the OpenMP runtime's own text calls it unsafe and undocumented",
    )


def course_device_set(snapshot: Snapshot) -> Diagnosis | None:
    """COURSE_DEVICE overrides the choice of the device."""
    variable = snapshot.variable(COURSE_DEVICE)
    if variable is None or not variable.value or (variable.value == "mps" and snapshot.mps_state == "usable"):
        return None
    return Diagnosis(
        severity="note",
        code="course-device-set",
        what=f"COURSE_DEVICE is {variable.value!r}: the lessons use that device, whatever else works.",
        how_known=f"COURSE_DEVICE={variable.value}",
        fix="Unset it to let the course choose.",
        command=_unset(snapshot, COURSE_DEVICE),
        source="course_utils.devices.probe",
    )


RULES: tuple[Rule, ...] = (
    fallback_not_a_number,
    watermark_invalid,
    watermark_order,
    watermark_zero,
    watermark_misread,
    watermark_too_late,
    fallback_too_late,
    fallback_order_unknown,
    export_in_a_cell,
    fallback_in_ci,
    fallback_on,
    kmp_duplicate_ok,
    course_device_set,
)
