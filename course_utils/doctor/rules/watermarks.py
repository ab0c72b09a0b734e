"""Rules about the memory watermarks of MPS, read as torch reads them."""

from __future__ import annotations

from course_utils.devices.environment_variables import (
    DEFAULT_RATIOS,
    HIGH_WATERMARK,
    LARGEST_RATIO,
    LOW_WATERMARK,
    WatermarkRatio,
    watermark_ratio,
)
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import set_variable, unset
from course_utils.doctor.rules.conditions import mac_severity
from course_utils.doctor.snapshot import Snapshot

DEFAULT_HIGH, DEFAULT_LOW = DEFAULT_RATIOS[HIGH_WATERMARK], DEFAULT_RATIOS[LOW_WATERMARK]
WATERMARK_SOURCE = "aten/src/ATen/mps/MPSAllocator.h and .mm (torch 2.0 to 2.15)"


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
        severity=mac_severity(snapshot, "error"),
        code="watermark-invalid",
        what=f"{wrong.name} is {wrong.text!r}{_read_as(wrong)}; it has to be a number from 0 to {LARGEST_RATIO:g}: "
        "torch refuses it at the first use of MPS.",
        how_known=f"{wrong.name}={wrong.text}",
        fix=f"Unset it; the defaults are {DEFAULT_HIGH} (high) and {DEFAULT_LOW} (low).",
        command=unset(snapshot, wrong.name),
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
        severity=mac_severity(snapshot, "error"),
        code="watermark-order",
        what=f"The high watermark, {high.value:g}, is below the low one, {low.value:g}{default}: torch refuses both "
        f"(invalid low watermark ratio {low.value:g}).",
        how_known=f"{HIGH_WATERMARK} is {high.text or 'unset'}, {LOW_WATERMARK} is {low.text or 'unset'}",
        fix="Set both, the low one not above the high one, before torch loads; or unset both.",
        command=_set_both(snapshot, high.value, fitting),
        source=WATERMARK_SOURCE,
    )


def _set_both(snapshot: Snapshot, high: float, low: float) -> str:
    """Return what sets both watermarks; a notebook takes one line for each."""
    if snapshot.in_notebook:
        setting = f"{HIGH_WATERMARK}='{high:g}', {LOW_WATERMARK}='{low:g}'"
        return f"import os; os.environ.update({setting})  # in the first cell, after a restart"
    return f"export {HIGH_WATERMARK}={high:g} {LOW_WATERMARK}={low:g}"


def watermark_zero(snapshot: Snapshot) -> Diagnosis | None:
    """A high watermark of 0 removes the memory limit."""
    high = _ratios(snapshot)[HIGH_WATERMARK]
    if high.value != 0:
        return None
    return Diagnosis(
        severity=mac_severity(snapshot, "warning"),
        code="watermark-zero",
        what=f"{HIGH_WATERMARK} is {high.text!r}{_read_as(high)}: MPS has no memory limit, so a job that is too large "
        "makes macOS swap, and torch itself warns of system failure.",
        how_known=f"{HIGH_WATERMARK}={high.text}",
        fix="Unset it and make the job smaller: a smaller batch, half precision, or checkpointing.",
        command=unset(snapshot, HIGH_WATERMARK),
        source=WATERMARK_SOURCE + "; torch's out-of-memory message warns of system failure",
    )


def watermark_misread(snapshot: Snapshot) -> Diagnosis | None:
    """Torch reads what a watermark begins with and ignores the rest."""
    read = [ratio for ratio in _ratios(snapshot).values() if ratio.misread and ratio.accepted]
    misread = next((ratio for ratio in read if (ratio.name, ratio.value) != (HIGH_WATERMARK, 0)), None)
    if misread is None:
        return None
    return Diagnosis(
        severity=mac_severity(snapshot, "warning"),
        code="watermark-misread",
        what=f"{misread.name} is {misread.text!r}{_read_as(misread)}: it takes what the text begins with.",
        how_known=f"{misread.name}={misread.text}; torch reads it with strtod",
        fix="Write the number alone, or unset it.",
        command=unset(snapshot, misread.name),
        source=WATERMARK_SOURCE,
    )


def watermark_too_late(snapshot: Snapshot) -> Diagnosis | None:
    """A watermark that torch did not see when it loaded may have no effect."""
    late = [
        name for name in (HIGH_WATERMARK, LOW_WATERMARK) if (v := snapshot.variable(name)) and v.before_torch is False
    ]
    if not late:
        return None
    ratio = _ratios(snapshot)[late[0]]
    return Diagnosis(
        severity=mac_severity(snapshot, "warning"),
        code="watermark-too-late",
        what=f"{', '.join(late)} was set after torch had loaded: once MPS was used, it has no effect.",
        how_known=f"{late[0]} changed in this process after torch loaded",
        fix="Restart the kernel and set it in the first cell or in the shell; or call "
        "torch.mps.set_per_process_memory_fraction, which works at any time.",
        command=set_variable(snapshot, late[0], f"{ratio.value:g}") if ratio.accepted else unset(snapshot, late[0]),
        source="pytorch #96814; " + WATERMARK_SOURCE + ": read once",
    )


RULES: tuple[Rule, ...] = (
    watermark_invalid,
    watermark_order,
    watermark_zero,
    watermark_misread,
    watermark_too_late,
)
