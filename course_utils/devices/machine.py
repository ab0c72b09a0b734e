"""Read what this machine is from the system's own programs, and describe it so that a result can be repeated.

The same torch gives other answers on another macOS, whose libraries MPS calls: slice assignment broke from macOS 14.3
to 14.4 (pytorch #122016), and a vision model fails on macOS 26 but not on 15 (actions/runner-images #14380).
"""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Literal

# what a look at a device finds; here, since the doctor needs the word where torch is missing
DeviceState = Literal["usable", "present but unusable", "absent"]


def ask(*command: str, time_limit_s: float = 10.0) -> str | None:
    """Return what a small program prints; None where it is missing, fails, or does not answer in time."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=time_limit_s,
            check=True,
            env=os.environ | {"SYSTEM_VERSION_COMPAT": "0"},  # else sw_vers may answer 10.16 to an old Python
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def sysctl(name: str) -> str | None:
    """Return a value of the kernel, such as "hw.memsize"; None where the system does not know the name."""
    return ask("sysctl", "-n", name)


def sysctl_flag(name: str) -> bool | None:
    """Return a switch of the kernel; None where the system does not know the name."""
    answer = sysctl(name)
    return None if answer not in ("0", "1") else answer == "1"


def sw_vers(option: str) -> str | None:
    """Return macOS's "productVersion" or "buildVersion"; None on any other system."""
    return ask("sw_vers", f"-{option}")


@cache
def this_chip() -> str | None:
    """Return the name of this machine's Apple chip, such as "Apple M1 Pro"; None on any other machine."""
    brand = sysctl("machdep.cpu.brand_string") if platform.system() == "Darwin" else None
    return brand if brand is not None and brand.startswith("Apple") else None


@dataclass(frozen=True)
class Machine:
    """The software and hardware that computed.

    Args:
        torch_version: the torch that ran.
        system: such as "macOS 15.6.1" or "Linux x86_64".
        build: macOS's build, such as "24G90"; None elsewhere or where it is unknown.
        chip: such as "Apple M1 Pro"; None on any other machine.
    """

    torch_version: str
    system: str
    build: str | None
    chip: str | None

    def __str__(self) -> str:
        build = f" (build {self.build})" if self.build else ""
        return f"torch {self.torch_version}, {self.system}{build}, {self.chip or 'no Apple chip'}"


def describe(
    *, system: str, release: str, machine: str, build: str | None, chip: str | None, torch_version: str
) -> Machine:
    """Return a machine's description from what the system answers; pure.

    Args:
        system: `platform.system()`.
        release: `platform.mac_ver()[0]` on a Mac; not used elsewhere.
        machine: `platform.machine()`.
        build: `sw_vers -buildVersion`, or None.
        chip: the chip's name, or None.
        torch_version: `torch.__version__`.
    """
    words = f"macOS {release}" if system == "Darwin" else f"{system} {machine}"
    return Machine(torch_version, words, build if system == "Darwin" else None, chip)


def this_machine() -> Machine:
    """Describe this machine; imports torch."""
    import torch

    system = platform.system()
    return describe(
        system=system,
        release=platform.mac_ver()[0],
        machine=platform.machine(),
        build=sw_vers("buildVersion") if system == "Darwin" else None,
        chip=this_chip(),
        torch_version=torch.__version__,
    )
