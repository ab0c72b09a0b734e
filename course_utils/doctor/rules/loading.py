"""Rules about torch itself: missing, hidden by another file, broken, dying or hanging when it is imported."""

from __future__ import annotations

import re

from course_utils.data.versions import exactly
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.requirements import (
    course_bounds,
    known,
    newest_intel_torch,
    newest_torch,
    pip_picks,
)
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import (
    free_disk,
    fresh_environment,
    install_tested,
    install_torch,
    reinstall_flags,
    update_first,
)
from course_utils.doctor.rules.conditions import (
    installable,
    is_intel_python,
    is_mac,
    macos,
    macos_text,
    torch_version,
)
from course_utils.doctor.snapshot import NONE, Snapshot

# ENOSPC; EDQUOT on macOS and on Linux
DISK_FULL = (28, 69, 122)
NOTHING_LEFT_BYTES = 10 * 10**6


def _reinstall(snapshot: Snapshot) -> str | None:
    """Return the command that installs the same torch afresh, or the tested one where the same cannot be had."""
    torch, flags = torch_version(snapshot), reinstall_flags(snapshot)
    if torch is not None and installable(snapshot, torch):
        return install_torch(snapshot, str(torch), flags=flags)
    return install_tested(snapshot, flags=flags)


def _first_install(snapshot: Snapshot) -> tuple[str, str | None]:
    """Return how to get a torch that works here, in words and as a command."""
    python, version, bounds = known(snapshot.python), macos(snapshot), course_bounds()
    if is_intel_python(snapshot):
        torch = newest_intel_torch()[0]
        return f"For an Intel Python there is torch {torch} at most, with wheels for Python 3.8 to 3.12.", None
    if is_mac(snapshot) and version is not None:
        tested = newest_torch(version, python, below=bounds.torch_below)
        if tested is None:
            return _no_tested_torch(snapshot), None
        if not exactly(tested).at_least(bounds.torch_from):
            return update_first(snapshot, tested)
        fix = f"Install torch {tested}, the newest tested one that fits this Mac and Python."
        picked = pip_picks(version, python)
        if picked is not None and picked != tested:
            fix += f" (A plain `pip install torch` takes {picked}.)"
        return fix, install_torch(snapshot, tested)
    command = install_tested(snapshot)
    return "Install it with the course: `make lab` does." if command else _no_tested_torch(snapshot), command


def _no_tested_torch(snapshot: Snapshot) -> str:
    """Return why no torch that the lessons were run with can be installed."""
    newest = newest_torch(None, below=course_bounds().torch_below)
    if newest_torch(None, known(snapshot.python), below=course_bounds().torch_below) is None:
        return f"The newest tested torch is {newest}, which has no wheel for Python {snapshot.python}."
    return f"The newest tested torch is {newest}, and none has MPS on {macos_text(snapshot)} with this Python."


def torch_missing(snapshot: Snapshot) -> Diagnosis | None:
    """Without torch there is nothing to compute with."""
    if snapshot.torch_import != "missing" and not (snapshot.torch == NONE and snapshot.torch_import is None):
        return None
    fix, command = _first_install(snapshot)
    return Diagnosis(
        severity="error",
        code="torch-missing",
        what="torch is not installed in this environment.",
        how_known=snapshot.torch_error or f"torch is not among the packages of {snapshot.prefix or 'this environment'}",
        fix=fix,
        command=command,
        source="tags of torch's macOS arm64 wheels, 1.12 to 2.15",
    )


def wrong_architecture(snapshot: Snapshot) -> Diagnosis | None:
    """A library for another processor cannot be loaded: two Pythons share a folder, or conda mixed its platforms."""
    error = snapshot.torch_error or ""
    if "incompatible architecture" not in error and "wrong architecture" not in error:
        return None
    return Diagnosis(
        severity="error",
        code="wrong-architecture",
        what="A library of torch is built for another processor than this Python.",
        how_known=error,
        fix="Make the environment again with one arm64 Python, and install nothing into it with another one.",
        command=fresh_environment(snapshot),
        source="Apple's dyld: one process has one architecture; Lightning #14634",
    )


def disk_full(snapshot: Snapshot) -> Diagnosis | None:
    """Without free space torch cannot be imported, and nothing can be installed."""
    said = f"{snapshot.torch_error or ''} {snapshot.mps_reason or ''}".strip()
    number = re.search(r"\[Errno (\d+)\]", said)
    free, loads = snapshot.disk_free_bytes, snapshot.torch_import == "ok"
    none_left = free is not None and free < NOTHING_LEFT_BYTES and not loads and snapshot.torch_import != "missing"
    if not none_left and (number is None or int(number[1][:6]) not in DISK_FULL):
        return None
    left = "unknown how much is free" if free is None else f"{free / 1e9:.1f} GB are free"
    return Diagnosis(
        severity="error",
        code="disk-full",
        what=f"The disk is full ({left}), so torch {'cannot work' if loads else 'does not load'}.",
        how_known=said or left,
        fix="Free some 10 GB: empty the Trash and the cache below, look at ~/.cache/huggingface, ~/.cache/torch and "
        "other environments with `du -sh`. Then run the doctor again; if torch still does not load, reinstall it.",
        command=free_disk(snapshot),
        source="errno.h: 28 is ENOSPC; 69 (macOS) and 122 (Linux) are EDQUOT, a quota that is used up",
    )


def torch_broken(snapshot: Snapshot) -> Diagnosis | None:
    """Installed, and importing it raises."""
    if snapshot.torch_import != "raised" or wrong_architecture(snapshot) or disk_full(snapshot):
        return None
    return Diagnosis(
        severity="error",
        code="torch-broken",
        what="torch is installed and does not load: importing it raises an error.",
        how_known=snapshot.torch_error or "the import raised",
        fix="Reinstall it; if that does not help, make a new environment.",
        command=_reinstall(snapshot),
        source="the import was tried in a process of its own",
    )


def torch_aborts(snapshot: Snapshot) -> Diagnosis | None:
    """Importing torch ends the process."""
    if snapshot.torch_import not in ("killed", "exited"):
        return None
    fix = "Reinstall it; if that does not help, make a new environment, with torch from one source only."
    if "SIGILL" in (snapshot.torch_error or ""):
        fix = "This processor, or its emulation, lacks an instruction that torch uses: use a native Python. " + fix
    return Diagnosis(
        severity="error",
        code="torch-aborts",
        what="Importing torch ends the process: a notebook would say that its kernel died.",
        how_known=snapshot.torch_error or f"the import was {snapshot.torch_import}",
        fix=fix,
        command=_reinstall(snapshot),
        source="the import was tried in a process of its own",
    )


def torch_hangs(snapshot: Snapshot) -> Diagnosis | None:
    """Importing torch does not finish."""
    if snapshot.torch_import != "timed out":
        return None
    return Diagnosis(
        severity="error",
        code="torch-hangs",
        what="Importing torch does not finish.",
        how_known=snapshot.torch_error or "the time limit was reached",
        fix="Try once more, since a first import from a slow disk or under a virus scanner takes long; then see where "
        "it waits, and reinstall it.",
        command="python -X faulthandler -c 'import faulthandler; faulthandler.dump_traceback_later(60); import torch'",
        source="the import was tried in a process of its own",
    )


def torch_unknown(snapshot: Snapshot) -> Diagnosis | None:
    """A snapshot that says nothing of torch."""
    if snapshot.system is None or snapshot.torch is not None or snapshot.torch_import is not None:
        return None
    return Diagnosis(
        severity="warning",
        code="torch-unknown",
        what="The snapshot does not say whether torch is installed and loads.",
        how_known=snapshot.torch_error or "torch and torch_import are unknown",
        fix="Save the snapshot again, in the environment in question.",
        command="course doctor --save machine.json",
        source="the snapshot itself",
    )


RULES: tuple[Rule, ...] = (
    torch_missing,
    wrong_architecture,
    disk_full,
    torch_broken,
    torch_aborts,
    torch_hangs,
    torch_unknown,
)
