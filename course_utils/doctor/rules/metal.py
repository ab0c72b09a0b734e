"""Rules about MPS where torch loads on a Mac: not built, hidden, available but unusable, or never tried."""

from __future__ import annotations

import re

from course_utils.data.versions import exactly
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.requirements import macos_needed
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import fresh_environment, install_torch, reinstall_flags
from course_utils.doctor.rules.conditions import (
    best_torch,
    is_intel_python,
    is_mac,
    macos,
    macos_text,
    torch_version,
    virtual_signs,
)
from course_utils.doctor.rules.foreign import torch_shadowed
from course_utils.doctor.rules.releases import macos_against_torch
from course_utils.doctor.snapshot import NONE, Snapshot


def _torch_loads(snapshot: Snapshot) -> bool:
    """Return whether there is a torch to ask for MPS, on a Mac, with an arm64 Python."""
    if not is_mac(snapshot) or is_intel_python(snapshot) or snapshot.torch == NONE or torch_shadowed(snapshot):
        return False
    return snapshot.torch_import in (None, "ok") and (snapshot.torch, snapshot.torch_import) != (None, None)


def torch_without_mps(snapshot: Snapshot) -> Diagnosis | None:
    """A torch that was built without MPS: a CPU-only conda package, or a build of one's own."""
    if not _torch_loads(snapshot) or snapshot.mps_built is not False:
        return None
    torch = torch_version(snapshot)
    if torch is not None and macos_needed(torch) is None:  # older than MPS: another rule says so
        return None
    fitting = best_torch(snapshot)
    conda = " Remove conda's torch first: `conda remove pytorch`." if snapshot.environment_kind == "conda" else ""
    return Diagnosis(
        severity="error",
        code="torch-without-mps",
        what=f"torch {snapshot.torch or ''} was built without MPS.".replace("  ", " "),
        how_known="torch.backends.mps.is_built() is False, in an arm64 Python on a Mac",
        fix=f"Install torch from the Python package index with pip; its arm64 wheels all include MPS.{conda}",
        command=install_torch(snapshot, fitting, flags=reinstall_flags(snapshot))
        if fitting
        else fresh_environment(snapshot),
        source="torch's macOS arm64 wheels 1.12 to 2.15: built with MPS",
    )


def _misleading(snapshot: Snapshot) -> str | None:
    """Return that torch's message asks for a macOS that this Mac has; None where it does not."""
    asked = re.search(r"macOS (\d+(?:\.\d+)?)\+", snapshot.mps_message or "")
    version = macos(snapshot)
    if asked is None or version is None or not version.at_least(asked[1]):
        return None
    return f"torch's message asks for macOS {asked[1]}, which this Mac has, so the message is misleading"


def metal_hidden(snapshot: Snapshot) -> Diagnosis | None:
    """Everything fits and yet torch finds no Metal device: a sandbox hides it from this process."""
    if not _torch_loads(snapshot) or snapshot.mps_built is False or snapshot.mps_available is not False:
        return None
    if virtual_signs(snapshot) or macos_against_torch(snapshot):
        return None
    torch, version = torch_version(snapshot), macos(snapshot)
    sandbox = snapshot.sandbox if snapshot.sandbox not in (None, NONE) else None
    says_no_gpu = "no supported Metal GPU" in (snapshot.mps_message or "")
    need = macos_needed(torch) if torch is not None else None
    missing = [name for name, value in (("the torch version", torch), ("the macOS version", version)) if value is None]
    missing += ["whether torch was built with MPS"] if snapshot.mps_built is None else []
    if need is None and torch is not None:  # older than MPS: another rule says so
        return None
    if missing and not sandbox and not says_no_gpu:
        return Diagnosis(
            severity="error",
            code="cause-unknown",
            what="MPS is not available, and the snapshot does not say enough to tell why.",
            how_known="mps_available is False; unknown: " + ", ".join(missing),
            fix="Save the snapshot again, on the machine itself.",
            command="course doctor --save machine.json",
            source="PyTorch's MPS notes (torch 1.12 to 2.15)",
        )
    signs = [f"{macos_text(snapshot)} and torch {snapshot.torch} fit, and is_available() is False"]
    signs = [] if missing else signs
    signs += [f"this process runs in a sandbox: {sandbox}"] if sandbox else []
    signs += ["torch says that it finds no supported Metal GPU"] if says_no_gpu else []
    signs += [text] if (text := _misleading(snapshot)) else []
    signs += ["a virtual machine is not excluded"] if snapshot.virtual_machine is None else []
    surely = "A sandbox" if sandbox else "Most likely a sandbox"
    return Diagnosis(
        severity="error",
        code="sandboxed",
        what=f"Metal is hidden from this process: torch finds no GPU. {surely} (of an editor, an agent or an app) does "
        "it.",
        how_known="; ".join(signs),
        fix="Run it in the Terminal app, logged in at the Mac, outside any sandbox; if MPS is missing there "
        "too, restart the Mac, then send the snapshot. Another torch does not help.",
        command="course doctor",
        source="openai/codex #10199 (macOS 26.2); pytorch #167679, #177819 (misleading text in 2.9 to 2.14); torch "
        "2.15's own message names sandboxes",
    )


def mps_unusable(snapshot: Snapshot) -> Diagnosis | None:
    """Available, says torch, and a computation fails or is wrong."""
    if not _torch_loads(snapshot) or snapshot.mps_state != "present but unusable":
        return None
    reason = snapshot.mps_reason or "the computation failed"
    nothing_used = "MPS allocated: 0 bytes" in reason
    wrong = "differs" in reason
    what = "MPS is present but unusable: torch says available, and a small computation fails."
    if wrong:
        what = "MPS is present but unusable: it computes, and the result differs from the CPU's."
    fix = (
        "If this is a virtual machine or a CI runner, use a real Mac. On a real Mac restart it, unset all PYTORCH_MPS "
    )
    fix += "variables, and try the newest torch that fits."
    fitting = best_torch(snapshot)
    torch = torch_version(snapshot)
    newer = fitting is not None and torch is not None and not torch.at_least(str(exactly(fitting)))
    return Diagnosis(
        severity="error",
        code="mps-unusable",
        what=what,
        how_known=reason + ("; out of memory with nothing allocated is what virtual Macs say" if nothing_used else ""),
        fix=fix,
        command=install_torch(snapshot, fitting) if newer and fitting else "COURSE_DEVICE=cpu course lab",
        source="pytorch #125197, actions/runner-images #9918 (torch 2.3 to 2.14)",
    )


def mps_unproved(snapshot: Snapshot) -> Diagnosis | None:
    """Available is a flag; only a computation shows that MPS works."""
    if not _torch_loads(snapshot) or snapshot.mps_built is False or snapshot.mps_available is False:
        return None
    if snapshot.mps_state is not None or macos_against_torch(snapshot) or virtual_signs(snapshot):
        return None
    torch = torch_version(snapshot)
    if torch is not None and macos_needed(torch) is None:
        return None
    flag = "unknown" if snapshot.mps_available is None else "True"
    return Diagnosis(
        severity="warning",
        code="mps-unproved",
        what="Nothing in the snapshot rules MPS out, but nothing was computed on it.",
        how_known=f"mps_available is {flag}, mps_state is unknown",
        fix="Run the doctor on the machine itself: it multiplies two matrices on MPS and compares with the CPU.",
        command="course doctor",
        source="pytorch #125197: is_available() is True on Macs that cannot run a kernel",
    )


RULES: tuple[Rule, ...] = (torch_without_mps, metal_hidden, mps_unusable, mps_unproved)
