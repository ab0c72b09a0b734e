"""Measure the same work on several devices."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import torch

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.benchmarking.timer import EMULATED, TimerSettings, check_inputs, is_emulated, measure, name_of
from course_utils.devices import chips
from course_utils.devices import probe as device_probe
from course_utils.devices.probe import ProbedDevices


@runtime_checkable
class Portable(Protocol):
    """Work that can be set up on any device, such as a `workloads.Workload`."""

    @property
    def label(self) -> str:
        """What is measured, for tables and charts."""

    @property
    def flop(self) -> float | None:
        """Floating-point operations of one call, or None where nobody counted them."""

    def on(self, device: torch.device) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a callable and its inputs, both on the device."""


Work = Portable | Callable[..., Any]


def compare_devices(
    work: Work,
    *,
    inputs: Sequence[Any] = (),
    devices_to_try: Iterable[str | torch.device] | None = None,
    label: str | None = None,
    probed: ProbedDevices | None = None,
    **options: Any,
) -> Comparison:
    """Measure the same work on several devices.

    Args:
        work: a workload, a module (a copy of it goes to each device), or a function of its inputs.
        inputs: the arguments, for modules and functions; moved to each device.
        devices_to_try: by default the CPU, MPS, and CUDA where it works; a device that does not work here is listed
            as missing with its reason, and never given a time.
        label: what is measured.
        probed: what `probe_devices` found; by default each device is probed once.
        options: as for `benchmark`.

    Returns:
        The comparison; a device that is missing has no timing in it.

    Raises:
        TypeError: when the work cannot be called, or there is no such option.
        ValueError: when an option makes no sense, or torch knows no such device; the message names the value.
    """
    if not isinstance(work, Portable) and not callable(work):
        raise TypeError(f"compare_devices needs a workload, a module or a function, got {type(work).__name__} {work!r}")
    settings = TimerSettings(**options)
    check_inputs(inputs)
    wanted = None if devices_to_try is None else list(devices_to_try)
    probed = probed or probe_for(wanted)
    timings: list[Timing] = []
    missing: list[tuple[str, str]] = []
    name = label or (work.label if isinstance(work, Portable) else name_of(work))
    for candidate in default_devices(probed) if wanted is None else wanted:
        found = device_probe.probe(candidate, probed=probed)
        on = device_probe.parse_device(candidate)
        if not found.usable:
            missing.append((str(candidate), f"{found.state}: {found.reason}"))
        elif is_emulated(on):
            missing.append((str(candidate), EMULATED))
        else:
            timings.append(_measure_on(on, work, inputs, name, settings))
    return Comparison(label=name, timings=tuple(timings), missing=tuple(missing))


def probe_for(wanted: Sequence[str | torch.device] | None) -> ProbedDevices:
    """Probe each kind of device that is wanted once; all of the course's by default.

    Raises:
        ValueError: when torch knows no such device; the message names the value.
    """
    if wanted is None:
        return device_probe.probe_devices()
    return device_probe.probe_devices(dict.fromkeys(device_probe.parse_device(device).type for device in wanted))


def default_devices(probed: ProbedDevices) -> list[str]:
    """Return the CPU, MPS, and CUDA where it works: nobody who has a Mac misses it."""
    return ["cpu", "mps"] + (["cuda"] if "cuda" in probed.usable else [])


def _measure_on(on: torch.device, work: Work, inputs: Sequence[Any], name: str, settings: TimerSettings) -> Timing:
    if isinstance(work, Portable):
        fn, arguments = work.on(on)
        # counting costs a run on the CPU: only where a peak is known to compare with
        if settings.flop is None and chips.peak_flops_here(on.type):
            settings = replace(settings, flop=work.flop)
        return measure(fn, arguments, on, name, settings)
    fn = copy.deepcopy(work).to(on) if isinstance(work, torch.nn.Module) else work
    return measure(fn, inputs, on, name, settings)
