"""The commands that rules advise: for the environment at hand, and safe to paste whatever a snapshot holds.

Text of a snapshot enters a command quoted, or not at all: the file may come from somebody else's machine.
"""

from __future__ import annotations

import re
import shlex

from course_utils.data.versions import exactly
from course_utils.doctor.requirements import course_bounds, known, torchvision_for
from course_utils.doctor.rules.conditions import course_device_works, is_mac, macos, tested_torch
from course_utils.doctor.snapshot import NONE, Snapshot

UPDATE_MACOS = "softwareupdate --list"
# a place of this machine that the snapshot's writer replaced: another person's home folder, or a user's name
_REDACTED = re.compile(r"\*")


def quoted(text: str) -> str:
    """Return a word of a snapshot, quoted for a shell; ~ at its start stays the home folder."""
    if text.startswith("~/"):
        return "~/" + shlex.quote(text[2:])
    return shlex.quote(text)


def usable_path(text: str | None) -> str | None:
    """Return a path as a word for a shell; None where it is unknown, relative, or was made unreadable."""
    if text is None or not text.startswith(("/", "~/")) or _REDACTED.search(text) or not text.isprintable():
        return None
    return quoted(text)


def python_name(snapshot: Snapshot) -> str:
    """Return how this Python is called: an activated environment has a `python`, a system may have only `python3`."""
    return "python3" if snapshot.environment_kind == "system" and snapshot.system != "Windows" else "python"


def pip_refuses(snapshot: Snapshot) -> bool:
    """Return whether pip may not install into this Python, which is the system's or Homebrew's (PEP 668)."""
    if snapshot.externally_managed is not None:
        return snapshot.externally_managed
    return snapshot.environment_kind == "system" and snapshot.container in (None, NONE) and snapshot.system != "Windows"


def pip_install(snapshot: Snapshot, *requirements: str, flags: str = "") -> str:
    """Return the command that installs into this environment, with uv where uv made it.

    A Python that pip may not touch gets an environment first.
    """
    words = [word if re.fullmatch(r"[\w.=-]+", word) else f'"{word}"' for word in requirements]
    words = [*([flags] if flags else []), *words]
    if snapshot.environment_kind == "uv":
        return " ".join(["uv pip install", *words])
    if pip_refuses(snapshot):
        return " ".join(["python3 -m venv .venv && .venv/bin/python -m pip install", *words])
    return " ".join(["%pip install" if snapshot.in_notebook else f"{python_name(snapshot)} -m pip install", *words])


def install_torch(snapshot: Snapshot, torch: str, *, flags: str = "") -> str:
    """Return the command that installs a torch and the torchvision that pairs with it."""
    return pip_install(snapshot, f"torch=={torch}", torchvision_for(exactly(torch)) or "torchvision", flags=flags)


def install_tested(snapshot: Snapshot, *, flags: str = "") -> str | None:
    """Return the command that installs the newest tested torch; None where there is none for this machine."""
    tested = tested_torch(snapshot)
    if tested is None:
        return None
    if is_mac(snapshot):
        return install_torch(snapshot, tested, flags=flags)
    return pip_install(snapshot, course_bounds().torch_requirement, "torchvision", flags=flags)


def reinstall_flags(snapshot: Snapshot) -> str:
    """Return the options that make pip or uv install a package again that is there already."""
    return "--reinstall" if snapshot.environment_kind == "uv" else "--force-reinstall --no-cache-dir"


def new_environment(snapshot: Snapshot, python: str = "3.12") -> str:
    """Return the command that makes an environment with another Python, by the tool that made this one."""
    if snapshot.environment_kind == "conda":
        return f'conda create -n course "python={python}"'
    if snapshot.environment_kind == "uv":
        return f"uv venv --clear --python {python} .venv"
    if snapshot.system == "Windows":
        return f"py -{python} -m venv --clear .venv"
    return f"python{python} -m venv --clear .venv"


def fresh_environment(snapshot: Snapshot) -> str:
    """Return the command that makes the course's environment again, from one source."""
    if snapshot.environment_kind == "conda":
        platform = "CONDA_SUBDIR=osx-arm64 " if is_mac(snapshot) else ""
        return f"{platform}conda env create -f environment.yml -n course-fresh"
    if (snapshot.prefix or "").endswith("/.venv"):
        return "rm -r .venv && make lab"
    return "make lab"


def start_lab(snapshot: Snapshot) -> str:
    """Return the command that opens the lessons, on the CPU where COURSE_DEVICE names what does not work here."""
    return "course lab" if course_device_works(snapshot) is not False else "COURSE_DEVICE=cpu course lab"


def update_first(snapshot: Snapshot, most: str | None) -> tuple[str, str | None]:
    """Return what has to be updated before a torch of the course fits, in words and as a command.

    Args:
        snapshot: the Mac.
        most: the newest torch that its macOS and its Python allow now; None where there is none with MPS.
    """
    version, python, bounds = macos(snapshot), known(snapshot.python), course_bounds()
    old_macos = version is not None and not version.at_least("14")
    suits = python is not None and bounds.suits_python(python)
    updates = ["update macOS to 14 or newer"] if old_macos else []
    updates += [] if suits else [f"take a Python from {bounds.python_from} to {bounds.python_to}"]
    allowed = f"torch {most} at most" if most else "no torch with MPS"
    fix = f"This macOS and Python allow {allowed}, and the course needs {bounds.torch_from}: {' and '.join(updates)}."
    return fix, UPDATE_MACOS if old_macos else new_environment(snapshot)


def free_disk(snapshot: Snapshot) -> str:
    """Return the command that empties the cache of what installs packages here."""
    if snapshot.environment_kind == "conda":
        return "conda clean --all"
    return "uv cache clean" if snapshot.environment_kind == "uv" else f"{python_name(snapshot)} -m pip cache purge"


def unset(snapshot: Snapshot, name: str) -> str:
    """Return what removes a variable: in a shell, or in a notebook's first cell.

    A restarted kernel gets JupyterLab's variables again, so the cell has to run before torch loads.
    """
    if snapshot.in_notebook:
        return f'import os; os.environ.pop("{name}", None)  # in the first cell, after a restart'
    return f"set {name}=" if snapshot.system == "Windows" else f"unset {name}"


def set_variable(snapshot: Snapshot, name: str, value: str) -> str:
    """Return what sets a variable: in a shell, or in a notebook's first cell.

    Args:
        snapshot: the machine.
        name: the variable.
        value: one of ours, never a snapshot's text.
    """
    if snapshot.in_notebook:
        return f"%env {name}={value}"
    return f"set {name}={value}" if snapshot.system == "Windows" else f"export {name}={value}"
