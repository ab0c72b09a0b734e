"""Time a callable honestly: warm up, wait for the device before each reading of the clock, repeat, keep raw times.

torch.utils.benchmark.Timer serves as the yardstick (benchmarks/timer_agreement.py) and not as the engine: it reports
no first call, takes no number of readings, runs on one thread unless told otherwise, and waits for MPS only from
torch 2.9 on (before, it measured how long it takes to queue work: pytorch #152199).
"""

from __future__ import annotations

import copy
import statistics
import time
import timeit
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch.utils._pytree import tree_map_only

from course_utils import emulation
from course_utils.benchmarking.measurement import WIDE_SPREAD, Comparison, Timing, doubts
from course_utils.devices import chips
from course_utils.devices import probe as device_probe
from course_utils.devices.machine import this_chip

# one reading lasts at least this long, so that reading the clock and waiting (0.1 to 0.3 ms on MPS, pytorch #184778)
# weigh little against the calls in it
READING_S = 0.005
MIN_READINGS = 9
MAX_CALLS_PER_READING = 1_000_000
EMULATED = "an emulated device computes on the CPU and has no time of its own"


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


def benchmark(
    fn: Callable[..., Any],
    *,
    device: str | torch.device | None = None,
    inputs: Sequence[Any] = (),
    label: str | None = None,
    warmup: int = 3,
    repetitions: int | None = None,
    min_time_s: float = 0.5,
    max_time_s: float = 10.0,
    flop: float | None = None,
    peak_flops: float | None = None,
    synchronize: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Measure how long one call of `fn(*inputs)` takes on a device.

    The calls of one reading run back to back; the device is waited for before the clock is read, at both ends.
    Inputs are moved to the device first, outside the measurement.

    Args:
        fn: the callable; whatever it raises comes back unchanged.
        device: where the inputs go and what is waited for; by default `pick_device()`.
        inputs: positional arguments; tensors in them, also in lists, tuples and dicts, are moved to the device.
        label: what is measured; by default the callable's name.
        warmup: calls before the first reading (at least 1: the first call is always measured apart).
        repetitions: exactly this many readings; by default as many as a stable median needs.
        min_time_s: read the clock at least until this much time was measured, seconds.
        max_time_s: stop after this much measured time, however wide the spread, seconds.
        flop: floating-point operations of one call, for the check against the chip's peak.
        peak_flops: the device's peak in FLOP/s; by default the published one of this machine's chip.
        synchronize: waits for the device; by default `synchronize(device)`.
        clock: reads the time in seconds; a toy device brings its own (`toy_device.ToyDevice`).

    Returns:
        The timing, with raw times and warnings.

    Raises:
        TypeError: when `fn` cannot be called.
        ValueError: when an option makes no sense or the device cannot be used here; the message names the value.
    """
    if not callable(fn):
        raise TypeError(
            f"benchmark needs something to call, got {type(fn).__name__} {fn!r}; pass the function itself, without ()"
        )
    _check_options(warmup=warmup, repetitions=repetitions, min_time_s=min_time_s, max_time_s=max_time_s)
    _check_inputs(inputs)
    on = device_probe.pick_device() if device is None else device_probe.require_usable(device)
    if _is_emulated(on):
        raise ValueError(f"device {str(on)!r} is emulated: {EMULATED}; measure on device='cpu', or on a Mac")
    _check_module_device(fn, on)
    arguments = tree_map_only(torch.Tensor, lambda tensor: tensor.to(on), tuple(inputs))
    wait = synchronize or (lambda: device_probe.synchronize(on))

    def wait_and_read() -> float:
        wait()
        return clock()

    # timeit runs the calls in a tight loop with the garbage collector off
    timer = timeit.Timer("fn(*arguments)", timer=wait_and_read, globals={"fn": fn, "arguments": arguments})
    first_call_s = timer.timeit(1)
    latest_s = first_call_s
    for _ in range(warmup - 1):
        latest_s = timer.timeit(1)
    calls, extra_calls = _calls_per_reading(timer, latest_s)
    times_s = _readings(timer, calls, repetitions=repetitions, min_time_s=min_time_s, max_time_s=max_time_s)
    timing = Timing(
        label=label or name_of(fn),
        device=str(on),
        times_s=times_s,
        calls_per_reading=calls,
        first_call_s=first_call_s,
        warmup_calls=warmup + extra_calls,
        torch_version=torch.__version__,
        threads=torch.get_num_threads(),
        chip=this_chip(),
        flop=flop,
        peak_flops=peak_flops if peak_flops is not None else chips.peak_flops_here(on.type),
    )
    return replace(timing, warnings=doubts(timing))


def compare_devices(
    work: Portable | Callable[..., Any],
    *,
    inputs: Sequence[Any] = (),
    devices_to_try: Iterable[str | torch.device] | None = None,
    label: str | None = None,
    **options: Any,
) -> Comparison:
    """Measure the same work on several devices.

    Args:
        work: a workload, a module (a copy of it goes to each device), or a function of its inputs.
        inputs: the arguments, for modules and functions; moved to each device.
        devices_to_try: by default the CPU, MPS, and CUDA where it works; a device that does not work here is listed
            as missing with its reason, and never given a time.
        label: what is measured.
        options: passed on to `benchmark`.

    Returns:
        The comparison; a device that is missing has no timing in it.
    """
    wanted = list(devices_to_try) if devices_to_try is not None else _default_devices()
    timings: list[Timing] = []
    missing: list[tuple[str, str]] = []
    name = label or (work.label if isinstance(work, Portable) else name_of(work))
    for candidate in wanted:
        found = device_probe.probe(candidate)
        if not found.usable:
            missing.append((str(candidate), f"{found.state}: {found.reason}"))
            continue
        on = device_probe.parse_device(candidate)
        if _is_emulated(on):
            missing.append((str(candidate), EMULATED))
            continue
        fn, arguments, flop = _set_up(work, inputs, on)
        timings.append(benchmark(fn, device=on, inputs=arguments, label=name, **({"flop": flop} | options)))
    return Comparison(label=name, timings=tuple(timings), missing=tuple(missing))


def name_of(fn: Callable[..., Any]) -> str:
    """Name a callable for tables: a function's name, else the class's."""
    return str(getattr(fn, "__name__", type(fn).__name__))


def _is_emulated(device: torch.device) -> bool:
    return device.type == "mps" and emulation.is_active()


def _default_devices() -> list[str]:
    # CUDA is listed only where it works: on a course about Macs its absence is no news
    return ["cpu", "mps"] + (["cuda"] if device_probe.probe_cuda().usable else [])


def _set_up(
    work: Portable | Callable[..., Any], inputs: Sequence[Any], device: torch.device
) -> tuple[Callable[..., Any], Sequence[Any], float | None]:
    if isinstance(work, Portable):
        fn, arguments = work.on(device)
        # counting costs a run on the CPU: only where a peak is known to compare with
        return fn, arguments, work.flop if chips.peak_flops_here(device.type) else None
    if isinstance(work, torch.nn.Module):
        return copy.deepcopy(work).to(device), inputs, None
    return work, inputs, None


def _check_options(*, warmup: int, repetitions: int | None, min_time_s: float, max_time_s: float) -> None:
    if warmup < 1:
        raise ValueError(f"warmup is {warmup}; at least 1 call has to come before the first reading")
    if repetitions is not None and repetitions < 1:
        raise ValueError(f"repetitions is {repetitions}; a median needs at least 1 reading, 9 or more are better")
    if not 0 < min_time_s <= max_time_s:
        raise ValueError(f"min_time_s={min_time_s} and max_time_s={max_time_s}; needed: 0 < min_time_s <= max_time_s")


def _check_inputs(inputs: Any) -> None:
    if isinstance(inputs, torch.Tensor):
        raise TypeError("inputs is one tensor; pass a tuple of arguments: inputs=(x,)")


def _check_module_device(fn: Callable[..., Any], device: torch.device) -> None:
    if isinstance(fn, torch.nn.Module):
        for name, parameter in fn.named_parameters():
            if parameter.device.type != device.type:
                raise ValueError(
                    f"parameter {name!r} is on {parameter.device}, but the benchmark is asked for {device}: "
                    f"move the module first with .to({str(device)!r}), or use compare_devices"
                )


def _calls_per_reading(timer: timeit.Timer, one_call_s: float) -> tuple[int, int]:
    """Find how many calls fill one reading; return that number and how many calls finding it took."""
    calls, spent = 1, 0
    reading_s = one_call_s
    while reading_s < READING_S and calls < MAX_CALLS_PER_READING:
        # aim a little above, and at most tenfold at a time: the first estimates of tiny calls are mostly waiting
        enough = round(1.2 * calls * READING_S / max(reading_s, 1e-9))
        calls = min(max(calls + 1, enough), 10 * calls, MAX_CALLS_PER_READING)
        reading_s = timer.timeit(calls)
        spent += calls
    return calls, spent


def _readings(
    timer: timeit.Timer, calls: int, *, repetitions: int | None, min_time_s: float, max_time_s: float
) -> tuple[float, ...]:
    times_s: list[float] = []
    measured_s = 0.0
    while True:
        reading_s = timer.timeit(calls)
        times_s.append(reading_s / calls)
        measured_s += reading_s
        if repetitions is not None:
            if len(times_s) >= repetitions:
                return tuple(times_s)
        elif measured_s >= max_time_s or (
            measured_s >= min_time_s and len(times_s) >= MIN_READINGS and _spread(times_s) <= WIDE_SPREAD
        ):
            return tuple(times_s)


def _spread(times_s: Sequence[float]) -> float:
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return (third - first) / median if median > 0 else float("inf")
