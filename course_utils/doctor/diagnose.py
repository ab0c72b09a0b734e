"""Diagnose a snapshot: all findings, the root cause first. Pure: any machine can be described and diagnosed."""

from __future__ import annotations

from dataclasses import replace

from course_utils.doctor.findings import SEVERITIES, Diagnosis
from course_utils.doctor.rules import (
    Rule,
    foreign,
    known_faults,
    loading,
    metal,
    packaging,
    processor,
    releases,
    systems,
    variables,
    watermarks,
)
from course_utils.doctor.snapshot import Snapshot

# in the order in which one thing rests on another: system, processor, environment, torch, versions, MPS, settings
RULES: tuple[Rule, ...] = (
    *systems.RULES,
    *processor.RULES,
    *packaging.RULES,
    *foreign.RULES,
    *releases.RULES,
    *loading.RULES,
    *metal.RULES,
    *known_faults.RULES,
    *watermarks.RULES,
    *variables.RULES,
)

# consequence -> what brings it about, the likeliest first; the cause is then the finding to act on
CAUSES: dict[str, tuple[str, ...]] = {
    "torch-missing": ("rosetta", "intel-mac", "kernel-elsewhere", "wrong-index", "python-out-of-range"),
    "torch-too-old": ("torch-foreign", "rosetta", "macos-too-old", "kernel-elsewhere", "python-out-of-range"),
    "torch-too-new": ("torch-foreign",),
    "torch-without-mps": ("torch-foreign",),
    "torchvision-mismatch": ("torch-foreign", "torch-too-new", "macos-too-old"),
    "torch-untested": ("torch-foreign", "torch-too-new", "macos-too-old"),
    "numpy-too-new": ("torch-foreign", "rosetta"),
    "numpy-missing": ("kernel-elsewhere",),
    "torch-hangs": ("torch-shadowed", "torch-foreign", "rosetta"),
    "torch-broken": (
        "torch-shadowed",
        "torch-foreign",
        "rosetta",
        "macos-too-old",
        "torch-too-new",
        "python-out-of-range",
    ),
    "torch-aborts": (
        "torch-shadowed",
        "torch-foreign",
        "disk-full",
        "fallback-not-a-number",
        "openmp-duplicate",
        "rosetta",
        "macos-too-old",
        "torch-too-new",
    ),
    "wrong-architecture": ("torch-foreign", "rosetta"),
    "kmp-duplicate-ok": ("openmp-duplicate",),
    "mps-unusable": (
        "disk-full",
        "watermark-invalid",
        "watermark-order",
        "virtual-mac",
        "macos-too-old",
        "torch-too-new",
    ),
    "python-out-of-range": ("kernel-elsewhere",),
    "fallback-order-unknown": ("fallback-not-a-number",),
    "fallback-too-late": ("fallback-not-a-number",),
    "cuda-on-mac": ("container-on-mac",),
    "known-wrong-results": ("torch-foreign", "torch-too-old"),
    "course-device-unusable": ("sandboxed", "torch-too-new", "macos-too-old", "torch-without-mps", "mps-unusable"),
}
# off a Mac, nothing reads these variables
ONLY_ON_A_MAC = frozenset({"fallback-not-a-number", "watermark-invalid", "watermark-order"})


def diagnose(snapshot: Snapshot) -> tuple[Diagnosis, ...]:
    """Return what keeps a machine from using MPS, or from running the course as it should.

    Args:
        snapshot: the machine, from `describe()` or from a file.

    Returns:
        All findings: errors, then warnings, then notes; among equals the cause before what follows from it. Empty
        where MPS is usable and nothing is odd.
    """
    findings = [finding for rule in RULES if (finding := rule(snapshot)) is not None]
    linked = [replace(finding, follows_from=_cause(finding, findings, snapshot)) for finding in findings]
    return tuple(sorted((_inherit_severity(finding, linked) for finding in linked), key=_rank))


def _cause(finding: Diagnosis, findings: list[Diagnosis], snapshot: Snapshot) -> str | None:
    """Return the code of what brings a diagnosis about; None where nothing present does."""
    present = {other.code for other in findings}
    for cause in CAUSES.get(finding.code, ()):
        if cause in present and (snapshot.system == "Darwin" or cause not in ONLY_ON_A_MAC):
            return cause
    return None


def _inherit_severity(finding: Diagnosis, findings: list[Diagnosis]) -> Diagnosis:
    """Return a cause with the severity of the worst that follows from it."""
    severities = [finding.severity, *(other.severity for other in findings if other.follows_from == finding.code)]
    return replace(finding, severity=min(severities, key=SEVERITIES.index))


def _rank(finding: Diagnosis) -> tuple[int, bool]:
    return SEVERITIES.index(finding.severity), finding.follows_from is not None
