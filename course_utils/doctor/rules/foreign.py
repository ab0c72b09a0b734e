"""Rules about a torch that does not come from this environment: a file called torch, PYTHONPATH, the user's folder."""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass

from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import quoted, usable_path
from course_utils.doctor.rules.conditions import environment_of, under
from course_utils.doctor.snapshot import PathOrigin, Snapshot

_USER_SITE = re.compile(r"/\.local/lib/python3[.\d]*/site-packages$|/Library/Python/3[.\d]*/lib/python/site-packages$")
_ENVIRONMENT = re.compile(r"/(?:\.?venv|\.?virtualenv|env)[^/]*$|/envs?/|/\.virtualenvs/", re.IGNORECASE)


def torch_shadowed(snapshot: Snapshot) -> Diagnosis | None:
    """A file or folder of the reader's that is called torch hides the package."""
    path = snapshot.torch_file or ""
    own_file = re.search(r"[/\\]torch\.py$", path) is not None
    own_folder = "holds no Tensor" in (snapshot.torch_error or "")
    if not own_file and not own_folder:
        return None
    movable = usable_path(path) if own_file else None
    return Diagnosis(
        severity="error",
        code="torch-shadowed",
        what="Something else is called torch and is imported instead of the package.",
        how_known=f"import torch loads {snapshot.torch_file or 'a folder without torch in it'}"
        + (f"; {snapshot.torch_error}" if snapshot.torch_error else ""),
        fix="Rename that file or folder, and remove its __pycache__; look into PYTHONPATH too.",
        command=f"mv {movable} {quoted(path[:-8] + 'my_torch.py')}" if movable else None,
        source="Python documentation, the module search path: the script's folder and PYTHONPATH come first",
    )


WAYS: dict[PathOrigin, str] = {
    "environment": "this environment",
    "base Python": "the Python that this environment was made from",
    "PYTHONPATH": "PYTHONPATH",
    "user site": "the user's own folder of packages",
    "current folder": "the current folder",
    "other": "an entry of the path that nothing explains",
}


@dataclass(frozen=True)
class _Foreign:
    """The torch that is imported, where it is not this environment's."""

    folder: str
    version: str | None
    via: PathOrigin
    hidden: str | None  # the environment's torch, in words; None where it has none or nothing is known


def _foreign(snapshot: Snapshot) -> _Foreign | None:
    """Return the torch that comes first on the path without belonging to this environment; None where all is right."""
    if torch_shadowed(snapshot) is not None:
        return None
    return _foreign_copy(snapshot) if snapshot.torch_copies else _foreign_file(snapshot)


def _foreign_copy(snapshot: Snapshot) -> _Foreign | None:
    """Find the foreign torch in the list of all copies."""
    first, *others = snapshot.torch_copies or ()
    harmless = first.via in ("environment", "base Python")
    harmless |= first.via == "user site" and snapshot.environment_kind == "system" and not others
    harmless |= first.via == "other" and not others  # a build of the reader's own, linked into the environment
    if harmless:
        return None
    hidden = " and ".join(f"{copy.version} in {copy.folder}" for copy in others) or None
    return _Foreign(first.folder, first.version, first.via, hidden)


def _foreign_file(snapshot: Snapshot) -> _Foreign | None:
    """Find the foreign torch by the file that was imported; older snapshots have no list of copies."""
    match = re.fullmatch(r"(.+)/torch/__init__\.py", snapshot.torch_file or "")
    prefix = snapshot.prefix
    if match is None or prefix is None or under(match[1], prefix) or prefix.startswith("/nix/"):
        return None
    folder = match[1]
    via = _origin(snapshot, folder)
    environment = snapshot.environment_kind in ("venv", "uv", "conda")
    environment |= snapshot.environment_kind is None and _ENVIRONMENT.search(prefix) is not None
    base = snapshot.base_executable
    if via != "PYTHONPATH" and (not environment or (base and under(folder, environment_of(base)))):
        return None
    version = snapshot.torch if snapshot.torch_import == "ok" else None
    if via == "other" and "+git" in (version or ""):  # a build of the reader's own
        return None
    return _Foreign(folder, version, via, f"the one in {prefix}, if it has one")


def _origin(snapshot: Snapshot, folder: str) -> PathOrigin:
    """Return how a folder came onto Python's path, as far as variables and its name tell."""
    variable = snapshot.variable("PYTHONPATH")
    entries = variable.value.split(":") if variable is not None else []
    if folder in [os.path.normpath(entry) for entry in entries if entry]:
        return "PYTHONPATH"
    return "user site" if _USER_SITE.search(folder) else "other"


def torch_foreign(snapshot: Snapshot) -> Diagnosis | None:
    """Another torch comes first on Python's path, so nothing that is installed here changes what is imported."""
    foreign = _foreign(snapshot)
    if foreign is None:
        return None
    place = f"{foreign.folder}/torch"
    hides = f" and hides {foreign.hidden}" if foreign.hidden else ""
    of_version = f", torch {foreign.version}," if foreign.version not in (None, "unknown") else ""
    fix, command = _way_out(snapshot, foreign, place)
    return Diagnosis(
        severity="warning",
        code="torch-foreign",
        what=f"Another torch comes first: {place}{of_version} is imported{hides}, whatever is installed here.",
        how_known=f"import torch loads {snapshot.torch_file or place}, by way of {WAYS[foreign.via]}; "
        f"this environment is {snapshot.prefix}",
        fix=fix,
        command=command,
        source="Python documentation: PYTHONPATH comes before an environment's packages; PEP 370: the user's folder",
    )


def _way_out(snapshot: Snapshot, foreign: _Foreign, place: str) -> tuple[str, str | None]:
    """Return what removes the cause, in words and as a command."""
    if foreign.via == "user site":
        start = "PYTHONNOUSERSITE=1 course lab" if snapshot.in_notebook else "export PYTHONNOUSERSITE=1"
        return (
            f"Keep Python out of the user's folder with PYTHONNOUSERSITE=1, or remove {place} there; then start "
            "JupyterLab again. Installing another torch here does not help.",
            start,
        )
    if foreign.via == "current folder":
        return f"Start Python in another folder than {foreign.folder}.", "cd ~"
    if foreign.via == "other" and snapshot.torch_copies:
        return f"Find what puts {foreign.folder} onto the path (a .pth file, or code), and remove it.", "python -m site"
    return (
        "Unset PYTHONPATH, in this shell and where it is set (~/.zshrc, ~/.bash_profile), and start JupyterLab again "
        "from that shell. Installing another torch here does not help.",
        "unset PYTHONPATH",
    )


RULES: tuple[Rule, ...] = (torch_shadowed, torch_foreign)
