"""Pick a device, find out whether MPS really works, and wait for a device.

`torch.backends.mps.is_available()` is True on virtual Macs that cannot run a single kernel
(pytorch #125197, actions/runner-images #9918), so a device counts as usable only after a small
computation on it gave the CPU's answer.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from course_utils.devices.environment_variables import COURSE_DEVICE
from course_utils.devices.machine import DeviceState
from course_utils.reporting.wrapped import wrapped

PREFERENCE = ("mps", "cuda", "cpu")


@dataclass(frozen=True)
class Probe:
    """What one look at a device found.

    Args:
        device: "mps" or "cuda".
        state: "usable", "present but unusable" (torch offers it, but it failed or answered wrongly) or "absent".
        reason: one sentence that says how this is known.
    """

    device: str
    state: DeviceState
    reason: str

    @property
    def usable(self) -> bool:
        """True only where a computation on the device gave the CPU's answer."""
        return self.state == "usable"

    def __str__(self) -> str:
        return wrapped(f"{self.device}: {self.state} - {self.reason}")


def judge(device: str, *, offered: bool, why_not: str, attempt: Callable[[], float]) -> Probe:
    """Return the probe that a machine's answers amount to; pure but for the `attempt` it is given.

    Args:
        device: "mps" or "cuda".
        offered: whether torch says that the device is available.
        why_not: the reason to state when it is not offered.
        attempt: computes on the device and returns the largest absolute difference from the CPU.

    Returns:
        The probe. Whatever `attempt` raises becomes "present but unusable" with the error's first line.
    """
    if not offered:
        return Probe(device, "absent", why_not)
    try:
        difference = attempt()
    except Exception as error:  # torch raises RuntimeError, TypeError, NotImplementedError here
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        return Probe(
            device,
            "present but unusable",
            f"torch offers it, but a 64x64 matrix product failed: {first_line} (virtual Macs and CI runners do this)",
        )
    # 64 products of numbers below 1 in float32: rounding stays below 1e-4; NaN fails the comparison too
    if not difference <= 1e-4:
        return Probe(
            device,
            "present but unusable",
            f"a 64x64 matrix product on it differs from the CPU's by {difference:.3g}",
        )
    return Probe(device, "usable", f"a 64x64 matrix product on it equals the CPU's (difference {difference:.1g})")


def why_mps_is_absent(*, system: str, machine: str, built: bool) -> str:
    """Return why torch offers no MPS, as far as three values tell; `course doctor` knows more causes.

    Args:
        system: `platform.system()`, such as "Darwin" or "Linux".
        machine: `platform.machine()`, such as "arm64" or "x86_64".
        built: `torch.backends.mps.is_built()`.
    """
    if system != "Darwin":
        return f"this is {system or 'an unknown system'} ({machine}); MPS exists only on macOS with an Apple chip"
    if machine != "arm64":
        # torch 2.2.2 has MPS built in, which works for some under Rosetta or on an AMD GPU; no newer wheel follows
        return (
            f"this Python is built for {machine}, whose last torch is 2.2.2; on an Apple chip install an arm64 Python"
        )
    if not built:
        return "this torch was built without MPS; install torch from PyPI with pip in an arm64 Python"
    # torch 2.9-2.14 need macOS 14, torch 2.15 needs macOS 15 (text in the wheels' libtorch_cpu.dylib)
    return "torch was built with MPS but finds no usable Metal device: macOS too old for it, a sandbox or a virtual Mac"


def _difference_from_cpu(device: str) -> float:
    """Return the largest absolute difference between a small matrix product on the device and on the CPU."""
    generator = torch.Generator().manual_seed(0)
    left = torch.rand(64, 64, generator=generator)
    right = torch.rand(64, 64, generator=generator)
    on_device = (left.to(device) @ right.to(device)).cpu()
    return float((on_device - left @ right).abs().max())


def probe_mps() -> Probe:
    """Return whether MPS works here: allocate, compute, and compare with the CPU.

    Returns:
        A probe with one of three states, each with its reason.
    """
    return judge(
        "mps",
        offered=torch.backends.mps.is_available(),
        why_not=why_mps_is_absent(
            system=platform.system(), machine=platform.machine(), built=torch.backends.mps.is_built()
        ),
        attempt=lambda: _difference_from_cpu("mps"),
    )


def probe_cuda() -> Probe:
    """Return whether CUDA works here, in the same way as `probe_mps`."""
    why_not = "this torch was built without CUDA" if torch.version.cuda is None else "no NVIDIA driver or GPU found"
    return judge(
        "cuda",
        offered=torch.cuda.is_available(),
        why_not=why_not,
        attempt=lambda: _difference_from_cpu("cuda"),
    )


@dataclass(frozen=True)
class ProbedDevices:
    """The course's devices, probed once; pass it on where one call asks for several devices.

    Args:
        probes: what was found, in the course's order of preference.
    """

    probes: tuple[Probe, ...]

    def find(self, kind: str) -> Probe | None:
        """Return what was found for "mps", "cuda" or "cpu"; None for a device that was not probed."""
        return next((found for found in self.probes if found.device == kind), None)

    @property
    def usable(self) -> tuple[str, ...]:
        """The devices that work here, in the course's order of preference."""
        return tuple(found.device for found in self.probes if found.usable)


def probe_devices(devices: Iterable[str] = PREFERENCE) -> ProbedDevices:
    """Probe each of the devices once.

    Raises:
        ValueError: when this torch knows no such device; the message names the value.
    """
    return ProbedDevices(tuple(probe(name) for name in devices))


def probe(device: str | torch.device, *, probed: ProbedDevices | None = None) -> Probe:
    """Return whether a device works here; the CPU always does.

    Args:
        device: such as "mps" or "cuda:0".
        probed: what was found before; a device that it lacks is probed.

    Raises:
        ValueError: when this torch knows no such device; the message names the value.
    """
    kind = parse_device(device).type
    before = probed.find(kind) if probed is not None else None
    if before is not None:
        return before
    if kind == "mps":
        return probe_mps()
    if kind == "cuda":
        return probe_cuda()
    accelerator = torch.accelerator.current_accelerator()
    if kind == "cpu" or (accelerator is not None and accelerator.type == kind):
        return Probe(kind, "usable", "torch computes on it without further conditions")
    return Probe(kind, "absent", f"this machine offers {', '.join(usable_devices())}")


def parse_device(device: str | torch.device) -> torch.device:
    """Return the device that a name stands for.

    Raises:
        ValueError: when this torch knows no such device; the message names the value.
    """
    try:
        return torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"torch {torch.__version__} knows no device {device!r}; this course uses {', '.join(PREFERENCE)}"
        ) from error


def require_usable(device: str | torch.device, *, probed: ProbedDevices | None = None) -> torch.device:
    """Return the device if this machine can compute on it.

    Args:
        device: such as "mps" or "cuda:0".
        probed: what was found before; by default the device is probed.

    Raises:
        ValueError: when torch knows no such device, or it does not work here; the message gives the reason.
    """
    found = probe(device, probed=probed)
    if not found.usable:
        raise ValueError(f"device {str(device)!r} cannot be used here ({found.state}): {found.reason}")
    return parse_device(device)


def usable_devices() -> tuple[str, ...]:
    """Return the devices that work here, in the course's order of preference; the CPU is always among them."""
    return probe_devices().usable


def pick_device(
    name: str | torch.device | None = None,
    *,
    prefer: Iterable[str] = PREFERENCE,
    probed: ProbedDevices | None = None,
) -> torch.device:
    """Pick the device to work on: MPS, else CUDA, else the CPU.

    Args:
        name: a device to use instead of picking; the environment variable COURSE_DEVICE does the same for a
            whole run, and `name` wins over it.
        prefer: the order in which devices are tried.
        probed: what was found before, so that nothing is probed again.

    Returns:
        The first device that computes correctly here, or the one asked for.

    Raises:
        ValueError: when the device asked for is unknown or does not work here, with the reason.
    """
    asked = name if name is not None else os.environ.get(COURSE_DEVICE) or None
    if asked is not None:
        return require_usable(asked, probed=probed)
    for candidate in prefer:
        if probe(candidate, probed=probed).usable:
            return parse_device(candidate)
    return torch.device("cpu")


def synchronize(device: str | torch.device) -> None:
    """Wait until all work queued on the device has finished; on the CPU there is nothing to wait for.

    Raises:
        ValueError: when this torch knows no such device.
    """
    parsed = parse_device(device)
    if parsed.type == "mps":
        torch.mps.synchronize()
    elif parsed.type == "cuda":
        torch.cuda.synchronize(parsed)
    elif parsed.type not in ("cpu", "meta"):
        torch.accelerator.synchronize(parsed)
