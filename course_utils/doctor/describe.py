"""Build a redacted snapshot of this machine."""

from __future__ import annotations

import dataclasses
import getpass
import os
import platform
from typing import Any

from course_utils.doctor.machine import read_machine
from course_utils.doctor.privacy import scrub
from course_utils.doctor.snapshot import NONE, Snapshot, TorchCopy, Variable
from course_utils.doctor.surroundings import read_surroundings
from course_utils.doctor.torch_probe import TIME_LIMIT_S, probe_torch

LONGEST_TEXT = 600


def describe(*, time_limit_s: float = TIME_LIMIT_S) -> Snapshot:
    """Describe this machine and this Python environment.

    torch is imported in a child process, so it may be missing, broken, crash or hang; all of that is described.

    Args:
        time_limit_s: how long the child process may take, seconds.

    Returns:
        The snapshot, without user names, credentials, or environment variables other than the relevant ones.
    """
    found: dict[str, Any] = read_machine() | read_surroundings()
    found |= {"python": platform.python_version()}
    torch = probe_torch(time_limit_s=time_limit_s)
    says = torch.pop("torch_version", None)
    # the module's own version also knows a source build, which pip's records may lack
    if says and (found["torch"] == NONE or torch.get("torch_import") == "ok"):
        found["torch"] = says
    found |= torch
    home, user = os.path.expanduser("~"), _user()
    return Snapshot(**{name: _shareable(value, home, user) for name, value in found.items()})


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container may run a user without a name
        return None


def _shareable(value: Any, home: str, user: str | None) -> Any:
    """Make one value of a snapshot shareable: scrubbed, printable, on one line, of bounded length."""
    if isinstance(value, str):
        flat = "".join(sign if sign.isprintable() else " " for sign in value)
        return scrub(" ".join(flat.split()), home=home, user=user)[:LONGEST_TEXT]
    if isinstance(value, Variable):
        return dataclasses.replace(value, value=_shareable(value.value, home, user))
    if isinstance(value, TorchCopy):
        return dataclasses.replace(value, folder=_shareable(value.folder, home, user))
    if isinstance(value, tuple):
        return tuple(_shareable(item, home, user) for item in value)
    return value
