"""The rule about silent faults: torch, macOS and chip that together are known to compute wrong results."""

from __future__ import annotations

from course_utils.data.known_faults import KnownFault, all_known_faults
from course_utils.data.versions import exactly
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import install_torch
from course_utils.doctor.rules.conditions import best_torch, is_intel_python, macos, macos_text, torch_version
from course_utils.doctor.snapshot import NONE, Snapshot

# named in full; the command names the others
NAMED = 3
ASK = "course compare --known"


def known_wrong(snapshot: Snapshot) -> Diagnosis | None:
    """Name the faults that the reports place on this torch, macOS and chip, where another of these is without them."""
    torch, version = torch_version(snapshot), macos(snapshot)
    if torch is None or version is None or snapshot.mps_state != "usable" or is_intel_python(snapshot):
        return None
    chip = None if snapshot.chip == NONE else snapshot.chip
    faults = [
        fault
        for fault in all_known_faults()
        if _is_particular(fault) and fault.fits(torch=str(torch), macos=str(version), chip=chip)
    ]
    if not faults:
        return None
    faults.sort(key=lambda fault: not (fault.chips or fault.macos_from or fault.macos_below))  # this machine's first
    named = faults[:NAMED]
    others = f"; and {len(faults) - NAMED} more" if len(faults) > NAMED else ""
    newest = best_torch(snapshot)
    mended = [fault for fault in faults if newest and fault.repaired_in and exactly(newest).at_least(fault.repaired_in)]
    install = f"Install torch {newest}, which repairs {len(mended)} of {len(faults)}. " if mended else ""
    return Diagnosis(
        severity="warning" if mended else "note",
        code="known-wrong-results",
        what=f"torch {torch} on {macos_text(snapshot)}, {chip or 'chip unknown'}: wrong results without an error are "
        f"reported for {len(faults)} kind{'s' if len(faults) > 1 else ''} of call.",
        how_known="; ".join(f"{fault.title} ({fault.id})" for fault in named) + others,
        fix=f"{install}For the first: {named[0].way_around}. `{ASK}` checks this Mac for all of them.",
        command=install_torch(snapshot, newest) if mended and newest else ASK,
        source=", ".join(fault.link for fault in named),
    )


def _is_particular(fault: KnownFault) -> bool:
    """Return whether a fault is one of certain releases, systems or chips, and not of every Mac."""
    return bool(fault.repaired_in or fault.macos_from or fault.macos_below or fault.chips)


RULES: tuple[Rule, ...] = (known_wrong,)
