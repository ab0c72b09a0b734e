"""Operators registered for MPS by hand, which native_functions.yaml does not show; by release of torch.

Data with sources: course_utils/data/mps_cpu_fallbacks.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from course_utils.data.read import read_json
from course_utils.data.versions import line_of, order


@dataclass(frozen=True)
class HandRegistered:
    """What one release of torch registers for MPS outside its yaml; names without "aten::".

    Args:
        cpu_fallback: always run on the CPU with a warning, also without PYTORCH_ENABLE_MPS_FALLBACK.
        refuses_mixed_devices: registered only to refuse arguments on different devices.
        python_registration: registered from Python, made of other operators.
        reached_by_mixed_devices: without an MPS kernel, and called on MPS only by a convolution of mixed devices.
        warnings: what is not known about the list, such as a release that nobody looked at.
    """

    cpu_fallback: frozenset[str] = frozenset()
    refuses_mixed_devices: frozenset[str] = frozenset()
    python_registration: frozenset[str] = frozenset()
    reached_by_mixed_devices: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


@cache
def _data() -> dict[str, Any]:
    return read_json("mps_cpu_fallbacks.json")


def hand_registered(release: str) -> HandRegistered:
    """Return what a release of torch registers for MPS by hand.

    Args:
        release: such as "2.9.1". A release outside the list gets its nearest neighbour's, with a warning.

    Raises:
        ValueError: when it is not a release's name.
    """
    data = _data()
    lists = data["cpu_fallback"]["releases"]
    wanted = line_of(release)
    # the newest line that is not newer than the one asked for, else the oldest there is
    lines = sorted(lists, key=order)
    line = next((known for known in reversed(lines) if order(known) <= order(wanted)), lines[0])
    warnings: tuple[str, ...] = ()
    if line != wanted:
        warnings = (
            f"the operators that torch {wanted} registers for MPS by hand were not looked up; "
            f"the list of {line} is used, so a CPU fallback added or removed since is not seen",
        )
    return HandRegistered(
        cpu_fallback=frozenset(lists[line]),
        refuses_mixed_devices=frozenset(data["refuses_mixed_devices"]["operators"]),
        reached_by_mixed_devices=frozenset(data["reached_by_mixed_devices"]["operators"]),
        python_registration=frozenset(data["python_registration"]["releases"][line]),
        warnings=warnings,
    )


def torchvision_kernels() -> dict[str, str | None]:
    """List torchvision's own operators: for each the first torchvision release with an MPS kernel, or None.

    Returns:
        Names such as "torchvision::nms" with a release such as "0.16"; None where no release up to 0.29 has one.
    """
    data = _data()["torchvision"]
    kernels: dict[str, str | None] = {f"torchvision::{name}": since for name, since in data["first_release"].items()}
    return kernels | {f"torchvision::{name}": None for name in data["without_mps_kernel"]}
