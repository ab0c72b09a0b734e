"""Verdicts for operators outside aten: torchvision's, by the torchvision that belongs to a torch, and quantized ones.

torchvision's minor version is torch's plus 15 (torch 2.9 and torchvision 0.24) up to 0.29, which goes with every newer
torch.
"""

from __future__ import annotations

from course_utils.data.versions import line_of, order
from course_utils.operators.hand_registered import torchvision_kernels
from course_utils.operators.table import OperatorVerdict

_NEWEST_TORCHVISION = (0, 29)
_WHEELS = "holds for the wheels that torchvision publishes; a build of your own may differ"


def torchvision_of(torch_release: str) -> str:
    """Return the line of torchvision that belongs to a torch: "0.24" for "2.9.1"."""
    _, minor, _ = order(torch_release)
    major, newest = _NEWEST_TORCHVISION
    return f"{major}.{min(minor + 15, newest)}"


def library_verdict(name: str, torch_release: str) -> OperatorVerdict | None:
    """Return the verdict on an operator of a library that was looked at; None for any other library.

    Args:
        name: such as "torchvision::nms" or "quantized::linear_dynamic".
        torch_release: such as "2.14.1".

    Raises:
        LookupError: when torchvision has no such operator; the message lists those that it has.
    """
    namespace, _, _ = name.partition("::")
    if namespace == "quantized":
        return _verdict(
            name, torch_release, native=False, since="torch registers no quantized operator for MPS, up to 2.15"
        )
    if namespace != "torchvision":
        return None
    kernels = torchvision_kernels()
    if name not in kernels:
        raise LookupError(f"torchvision has no operator {name}; those it has: {', '.join(sorted(kernels))}")
    first, belongs = kernels[name], torchvision_of(torch_release)
    if first is None:
        return _verdict(name, torch_release, native=False, since="no torchvision up to 0.29 has an MPS kernel for it")
    native = order(belongs) >= order(first)
    yours = "" if native else f", torchvision {belongs} belongs to torch {line_of(torch_release)}"
    return _verdict(name, torch_release, native=native, since=f"native since torchvision {first}{yours}")


def _verdict(name: str, torch_release: str, *, native: bool, since: str) -> OperatorVerdict:
    namespace = name.partition("::")[0]
    return OperatorVerdict(
        overload=name,
        status="native" if native else "missing",
        reason=f"an MPS kernel of {namespace}" if native else "no kernel for MPS",
        error_name=None if native else name,
        cpu_fallback=not native,
        sparse=(),
        first_native_release=None,
        since=since,
        newer_release=None,
        torch_release=torch_release,
        warnings=(_WHEELS,) if namespace == "torchvision" else (),
    )
