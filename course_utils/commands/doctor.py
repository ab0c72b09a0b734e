"""`course doctor`, first form: versions, and which devices work here, each with its reason."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib import metadata

from course_utils.commands import require_torch

SUMMARY = "say which devices work on this machine, and why others do not"
PACKAGES = ("torch", "torchvision", "jupyterlab", "nbgrader", "matplotlib")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def versions() -> dict[str, str | None]:
    """Read the installed versions of what the course needs; None where a package is missing."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def run(arguments: argparse.Namespace) -> int:
    """Print the state of this machine.

    Returns:
        0 when MPS is usable, 1 when it is not.
    """
    require_torch()
    from course_utils import chips, devices

    probes = [devices.probe_mps(), devices.probe_cuda()]
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    if platform.system() == "Darwin":
        system = f"macOS {platform.mac_ver()[0]} ({platform.machine()}, {chips.this_chip() or 'no Apple chip'})"
    picked = str(devices.pick_device())
    if arguments.json:
        report = {
            "system": system,
            "python": platform.python_version(),
            "versions": versions(),
            "devices": [{"device": p.device, "state": p.state, "reason": p.reason} for p in probes],
            "picked": picked,
        }
        print(json.dumps(report, indent=2))
    else:
        print(f"system   {system}")
        print(f"python   {platform.python_version()} at {sys.prefix}")
        print("packages " + ", ".join(f"{name} {version or 'missing'}" for name, version in versions().items()))
        for probe in probes:
            print(f"{'[ok]' if probe.usable else '[--]'}     {probe}")
        print(f"[ok]     cpu: usable - every lesson runs on it; lessons here will use: {picked}")
    return 0 if probes[0].usable else 1
