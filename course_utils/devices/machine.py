"""What has to be known about a machine to repeat a numerical finding: torch, the system's build, the chip.

The same torch gives other answers on another macOS, whose libraries MPS calls: slice assignment broke from macOS 14.3
to 14.4 (pytorch #122016), and a vision model fails on macOS 26 but not on 15 (actions/runner-images #14380).
"""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass

import torch

from course_utils.devices import chips


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
    """Put what a machine answers into words; pure.

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
    """Describe this machine."""
    return describe(
        system=platform.system(),
        release=platform.mac_ver()[0],
        machine=platform.machine(),
        build=_macos_build(),
        chip=chips.this_chip(),
        torch_version=torch.__version__,
    )


def _macos_build() -> str | None:
    if platform.system() != "Darwin":
        return None
    try:
        answer = subprocess.run(["sw_vers", "-buildVersion"], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
