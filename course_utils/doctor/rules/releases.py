"""Rules about versions: macOS, torch, Python, torchvision and NumPy that do not go together."""

from __future__ import annotations

from course_utils.data.versions import exactly
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.requirements import (
    course_bounds,
    known,
    macos_needed,
    newest_intel_torch,
    newest_torch,
    pairs,
    pip_picks,
    pythons_of,
    torch_of,
    torchvision_for,
)
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import (
    UPDATE_MACOS,
    install_tested,
    install_torch,
    new_environment,
    pip_install,
    update_first,
)
from course_utils.doctor.rules.conditions import (
    best_torch,
    has_apple_chip,
    installable,
    is_intel_python,
    is_mac,
    macos,
    macos_text,
    torch_version,
)
from course_utils.doctor.snapshot import NONE, Snapshot


def macos_against_torch(snapshot: Snapshot) -> Diagnosis | None:
    """Compare macOS with what this torch needs; pip does not, since it reads only the wheel's tag."""
    torch, version = torch_version(snapshot), macos(snapshot)
    if torch is None or version is None or is_intel_python(snapshot) or snapshot.mps_state == "usable":
        return None
    need = macos_needed(torch)
    if need is None or version.at_least(need.macos):
        return None
    python = known(snapshot.python)
    at_least = "" if need.certain else "at least "
    known_by = f"{macos_text(snapshot)}; torch {snapshot.torch} needs {at_least}macOS {need.macos} for MPS"
    if torch.line == (2, 5):
        known_by += ", although its message asks for 12.3"
    picked = pip_picks(version, python)
    if picked and torch.line == exactly(picked).line:
        known_by += f"; pip picks {picked} here, since its wheel's tag allows this macOS"
    fitting = best_torch(snapshot)
    if fitting and exactly(fitting).at_least(course_bounds().torch_from):
        return Diagnosis(
            severity="error",
            code="torch-too-new",
            what=f"torch {snapshot.torch} is too new for {macos_text(snapshot)}: pip installed it, and its MPS needs "
            f"macOS {need.macos}.",
            how_known=known_by,
            fix=f"Install torch {fitting}, the newest whose MPS works here; or update macOS to {need.macos} or newer.",
            command=install_torch(snapshot, fitting),
            source=need.source,
        )
    alone = newest_torch(version)
    if fitting:
        other = (
            f"Until then torch {fitting} is the newest with MPS here; the course needs {course_bounds().torch_from}."
        )
    elif alone:
        low, high = pythons_of(exactly(alone)) or ("3.8", "3.12")
        other = f"Until then torch {alone} is the newest with MPS here, and it needs a Python from {low} to {high}."
    else:
        other = "No torch has MPS on this macOS; the lessons run on its CPU."
    return Diagnosis(
        severity="error",
        code="macos-too-old",
        what=f"{macos_text(snapshot)} is too old for torch {snapshot.torch}, whose MPS needs {at_least}macOS "
        f"{need.macos}.",
        how_known=known_by,
        fix=f"Update macOS to 14 or newer, 15 for torch 2.15 (System Settings > General > Software Update). {other}",
        command=install_torch(snapshot, fitting) if fitting else UPDATE_MACOS,
        source=need.source,
    )


def torch_too_old(snapshot: Snapshot) -> Diagnosis | None:
    """A torch before the course's bound does not wait for MPS in its own Timer, and lacks what lessons use."""
    torch, bounds = torch_version(snapshot), course_bounds()
    if torch is None or torch.at_least(bounds.torch_from):
        return None
    if is_intel_python(snapshot) and not has_apple_chip(snapshot):  # there the machine itself is the finding
        return None
    without_mps = macos_needed(torch) is None
    fitting = best_torch(snapshot)
    fix = f"Install {bounds.torch_requirement}."
    command = install_tested(snapshot, flags="--upgrade")
    if is_intel_python(snapshot):
        fix, command = f"There is no newer one for an Intel Python: its wheels end at {newest_intel_torch()[0]}.", None
    elif is_mac(snapshot) and (fitting is None or not exactly(fitting).at_least(bounds.torch_from)):
        fix, command = update_first(snapshot, fitting)
    elif is_mac(snapshot) and fitting is not None:
        fix, command = f"Install torch {fitting}.", install_torch(snapshot, fitting)
    what = (
        f"torch {snapshot.torch} is too old: before 2.9 torch.utils.benchmark.Timer does not wait for MPS, so it times "
        "only the queueing."
    )
    if without_mps:
        what = f"torch {snapshot.torch} is too old: MPS exists from torch 1.12 on."
    return Diagnosis(
        severity="error" if without_mps and is_mac(snapshot) else "warning",
        code="torch-too-old",
        what=what,
        how_known=f"torch is {snapshot.torch}; the course needs {bounds.torch_from} or newer",
        fix=fix,
        command=command,
        source="torch/utils/benchmark/utils/timer.py of the wheels of torch 2.8.0 and 2.9.0",
    )


def torch_untested(snapshot: Snapshot) -> Diagnosis | None:
    """A torch beyond the course's bound may be fine; the lessons were not run with it."""
    torch, bounds = torch_version(snapshot), course_bounds()
    if torch is None or not torch.at_least(bounds.torch_below):
        return None
    return Diagnosis(
        severity="note",
        code="torch-untested",
        what=f"torch {snapshot.torch} is newer than what the lessons were run with.",
        how_known=f"torch is {snapshot.torch}; the course's bounds are {bounds.torch_requirement}",
        fix="Carry on; if a lesson behaves differently, install the newest tested torch.",
        command=install_tested(snapshot),
        source="the course's pyproject.toml",
    )


def python_out_of_range(snapshot: Snapshot) -> Diagnosis | None:
    """The course, and each torch, run on a range of Pythons."""
    python, bounds = known(snapshot.python), course_bounds()
    if python is None or bounds.suits_python(python):
        return None
    fitting = newest_torch(None, python, below=bounds.torch_below)
    tested = newest_torch(None, below=bounds.torch_below)
    reach = f"its newest torch wheel is {fitting}"
    if fitting is None:
        reach = f"the newest tested torch, {tested}, has no wheel for it"
    nearest = bounds.python_to if exactly(bounds.python_to).line < python.line else "3.12"
    return Diagnosis(
        severity="error" if snapshot.torch == NONE or fitting is None else "warning",
        code="python-out-of-range",
        what=f"Python {snapshot.python} is outside the course's range, {bounds.python_from} to {bounds.python_to}.",
        how_known=f"python is {snapshot.python}; {reach}",
        fix=f"Make an environment with a Python from {bounds.python_from} to {bounds.python_to}, such as {nearest}.",
        command=new_environment(snapshot, nearest),
        source="tags of torch's macOS arm64 wheels, 1.12 to 2.15 (2.9 to 2.14: Python 3.10 to 3.14)",
    )


def torchvision_mismatch(snapshot: Snapshot) -> Diagnosis | None:
    """A torchvision that was built for another torch fails at import or at its first operator."""
    torch, torchvision = torch_version(snapshot), known(snapshot.torchvision)
    if torch is None or torchvision is None or pairs(torch, torchvision) is not False:
        return None
    needed = torchvision_for(torch)
    return Diagnosis(
        severity="warning",
        code="torchvision-mismatch",
        what=f"torchvision {snapshot.torchvision} was built for {torch_of(torchvision)}, not for torch "
        f"{snapshot.torch}.",
        how_known=f"torch is {snapshot.torch}, torchvision is {snapshot.torchvision}",
        fix=f"Install the one that pairs: {needed or 'the torchvision that was released with this torch'}.",
        command=install_torch(snapshot, str(torch)) if installable(snapshot, torch) else None,
        source="Requires-Dist of torchvision's wheels: up to 0.29.0 one torch, from 0.29.1 torch>=2.14.0",
    )


def torchvision_missing(snapshot: Snapshot) -> Diagnosis | None:
    """The lessons take their models from torchvision."""
    torch = torch_version(snapshot)
    if snapshot.torchvision != NONE or torch is None:  # where torch is missing too, one command installs both
        return None
    needed = torchvision_for(torch) or "torchvision"
    return Diagnosis(
        severity="warning",
        code="torchvision-missing",
        what="torchvision is not installed; lessons take their models from it.",
        how_known="torchvision is not among the installed packages",
        fix="Install the one that pairs with this torch.",
        command=pip_install(snapshot, needed),
        source="the course's pyproject.toml",
    )


def numpy_missing(snapshot: Snapshot) -> Diagnosis | None:
    """Torch loads without NumPy; the figures, torchvision's pictures and .numpy() do not."""
    torch = torch_version(snapshot)
    if snapshot.numpy != NONE or torch is None:
        return None
    return Diagnosis(
        severity="error",
        code="numpy-missing",
        what="NumPy is not installed: .numpy(), torch.from_numpy, Matplotlib and so every lesson with a figure fail.",
        how_known="numpy is not among the installed packages; torch loads without it",
        fix="Install it.",
        command=pip_install(snapshot, "numpy" if torch.at_least("2.3") else "numpy<2"),
        source="torch's wheels do not require NumPy (Requires-Dist, torch 2.9 to 2.15); Matplotlib's do",
    )


def numpy_too_new(snapshot: Snapshot) -> Diagnosis | None:
    """A torch before 2.3 was built against NumPy 1 and loses its bridge to NumPy 2."""
    torch, numpy = torch_version(snapshot), known(snapshot.numpy)
    if torch is None or numpy is None or torch.at_least("2.3") or not numpy.at_least("2"):
        return None
    return Diagnosis(
        severity="warning",
        code="numpy-too-new",
        what=f"NumPy {snapshot.numpy} is too new for torch {snapshot.torch}, which was built against NumPy 1: .numpy() "
        "fails.",
        how_known=f"numpy is {snapshot.numpy}, torch is {snapshot.torch}",
        fix="Install a NumPy below 2, or a torch from 2.3 on where the machine allows it.",
        command=pip_install(snapshot, "numpy<2"),
        source="pytorch #137281: torch 2.2.2 and NumPy 2",
    )


RULES: tuple[Rule, ...] = (
    macos_against_torch,
    python_out_of_range,
    torch_too_old,
    torchvision_mismatch,
    numpy_missing,
    numpy_too_new,
    torchvision_missing,
    torch_untested,
)
