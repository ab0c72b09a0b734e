"""Rules about torch itself: missing, hidden by another file, broken, dying or hanging when it is imported."""

from __future__ import annotations

import re

from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.requirements import course_bounds, known, newest_intel_torch, pip_picks, torchvision_for
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.conditions import (
    best_torch,
    install_torch,
    is_intel_python,
    is_mac,
    macos,
    pip_install,
    torch_version,
)
from course_utils.doctor.snapshot import NONE, Snapshot


def _reinstall(snapshot: Snapshot) -> str:
    """Return the command that installs the same torch afresh."""
    torch = torch_version(snapshot)
    flags = "--reinstall" if snapshot.environment_kind == "uv" else "--force-reinstall --no-cache-dir"
    if torch is None:
        return pip_install(snapshot, course_bounds().torch_requirement, "torchvision", flags=flags)
    return pip_install(snapshot, f"torch=={torch}", torchvision_for(torch) or "torchvision", flags=flags)


def torch_missing(snapshot: Snapshot) -> Diagnosis | None:
    """Without torch there is nothing to compute with."""
    if snapshot.torch_import != "missing" and not (snapshot.torch == NONE and snapshot.torch_import is None):
        return None
    fitting = best_torch(snapshot) if is_mac(snapshot) else None
    fix = "Install it with the course: `make lab` does."
    command: str | None = pip_install(snapshot, course_bounds().torch_requirement, "torchvision")
    version = macos(snapshot)
    if is_intel_python(snapshot):
        fix, command = f"For an Intel Python there is torch {newest_intel_torch()[0]} at most.", None
    elif fitting is not None and version is not None:
        fix = f"Install torch {fitting}, the newest tested one that fits this Mac and Python."
        command = install_torch(snapshot, fitting)
        picked = pip_picks(version, known(snapshot.python))
        if picked is not None and picked != fitting:
            fix += f" (A plain `pip install torch` takes {picked}.)"
    return Diagnosis(
        severity="error",
        code="torch-missing",
        what="torch is not installed in this environment.",
        how_known=snapshot.torch_error or f"torch is not among the packages of {snapshot.prefix or 'this environment'}",
        fix=fix,
        command=command,
        source="tags of torch's macOS arm64 wheels, 1.12 to 2.15",
    )


def torch_shadowed(snapshot: Snapshot) -> Diagnosis | None:
    """A file or folder of one's own called torch hides the package."""
    path = snapshot.torch_file or ""
    own_file = re.search(r"[/\\]torch\.py$", path) is not None
    own_folder = "holds no Tensor" in (snapshot.torch_error or "")
    if not own_file and not own_folder:
        return None
    return Diagnosis(
        severity="error",
        code="torch-shadowed",
        what="Something else is called torch and is imported instead of the package.",
        how_known=f"import torch loads {snapshot.torch_file or 'a folder without torch in it'}"
        + (f"; {snapshot.torch_error}" if snapshot.torch_error else ""),
        fix="Rename that file or folder, and remove its __pycache__; look into PYTHONPATH too.",
        command=f"mv {path} {path[:-8]}my_torch.py" if own_file and re.fullmatch(r"[\w./~-]+", path) else None,
        source="Python documentation, the module search path: the script's folder and PYTHONPATH come first",
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
        command="make clean && make lab" if snapshot.environment_kind is None else _fresh(snapshot),
        source="Apple's dyld: one process has one architecture; Lightning #14634",
    )


def _fresh(snapshot: Snapshot) -> str:
    """Return the command that makes the environment afresh."""
    if snapshot.environment_kind == "conda":
        return "CONDA_SUBDIR=osx-arm64 conda env create -f environment.yml"
    return "rm -r .venv && make lab"


def torch_broken(snapshot: Snapshot) -> Diagnosis | None:
    """Installed, and importing it raises."""
    if snapshot.torch_import != "raised" or wrong_architecture(snapshot):
        return None
    return Diagnosis(
        severity="error",
        code="torch-broken",
        what="torch is installed and does not load: importing it raises an error.",
        how_known=snapshot.torch_error or "the import raised",
        fix="Install it afresh; should that not help, make a new environment.",
        command=_reinstall(snapshot),
        source="the import was tried in a process of its own",
    )


def torch_aborts(snapshot: Snapshot) -> Diagnosis | None:
    """Importing torch ends the process."""
    if snapshot.torch_import not in ("killed", "exited"):
        return None
    fix = "Install it afresh; should that not help, make a new environment, with torch from one source only."
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
    """Importing torch does not come back."""
    if snapshot.torch_import != "timed out":
        return None
    return Diagnosis(
        severity="error",
        code="torch-hangs",
        what="Importing torch does not come back.",
        how_known=snapshot.torch_error or "the time limit was reached",
        fix="Try once more, since a first import from a slow disk or under a virus scanner takes long; then see where "
        "it waits, and install it afresh.",
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
    torch_shadowed,
    wrong_architecture,
    torch_broken,
    torch_aborts,
    torch_hangs,
    torch_unknown,
)
