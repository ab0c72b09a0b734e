"""Time a callable honestly: warm up, wait for the device before each reading of the clock, repeat, keep raw times.

torch.utils.benchmark.Timer serves as the yardstick (benchmarks/timer_agreement.py) and not as the engine: it reports
no first call, takes no number of readings, runs on one thread unless told otherwise, and waits for MPS only from
torch 2.9 on (before, it measured how long it takes to queue work: pytorch #152199).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from course_utils import emulation
from course_utils.benchmarking.measurement import WIDE_SPREAD, Timing
from course_utils.benchmarking.stopwatch import Stopwatch
from course_utils.devices import chips
from course_utils.devices import probe as device_probe
from course_utils.devices.machine import this_chip

MIN_READINGS = 9
EMULATED = "an emulated device computes on the CPU and has no time of its own"


@dataclass(frozen=True)
class TimerSettings:
    """How to measure; `benchmark` documents each setting.

    Raises:
        ValueError: when a setting makes no sense; the message names the value.
    """

    warmup: int = 3
    repetitions: int | None = None
    min_time_s: float = 0.5
    max_time_s: float = 10.0
    flop: float | None = None
    peak_flops: float | None = None
    synchronize: Callable[[], None] | None = None
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        if self.warmup < 1:
            raise ValueError(f"warmup is {self.warmup}; at least 1 call has to come before the first reading")
        if self.repetitions is not None and self.repetitions < 1:
            raise ValueError(
                f"repetitions is {self.repetitions}; a median needs at least 1 reading, 9 or more are better"
            )
        if not 0 < self.min_time_s <= self.max_time_s:
            raise ValueError(
                f"min_time_s={self.min_time_s} and max_time_s={self.max_time_s}; needed: 0 < min_time_s <= max_time_s"
            )


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
        warmup: calls before the first reading (at least 1: the first call is always measured apart). Fewer are made
            when they would take half of `max_time_s`.
        repetitions: this many readings; by default as many as a stable median needs.
        min_time_s: read the clock at least until this much time was measured, seconds.
        max_time_s: the longest that the whole measurement may take, warm-up included, seconds. The call that runs
            when the time is over is finished and is the last one.
        flop: floating-point operations of one call, for the check against the chip's peak.
        peak_flops: the device's peak in FLOP/s; by default the published one of this machine's chip.
        synchronize: waits for the device; by default `synchronize(device)`.
        clock: reads the time in seconds; a toy device brings its own (`toy_device.ToyDevice`).

    Returns:
        The timing, with raw times and warnings.

    Raises:
        TypeError: when `fn` cannot be called, or a call of it only makes a generator or coroutine.
        ValueError: when an option makes no sense, the device cannot be used here, or the clock goes backwards; the
            message names the value.
    """
    if not callable(fn):
        raise TypeError(
            f"benchmark needs something to call, got {type(fn).__name__} {fn!r}; pass the function itself, without ()"
        )
    settings = TimerSettings(
        warmup=warmup,
        repetitions=repetitions,
        min_time_s=min_time_s,
        max_time_s=max_time_s,
        flop=flop,
        peak_flops=peak_flops,
        synchronize=synchronize,
        clock=clock,
    )
    check_inputs(inputs)
    on = device_probe.pick_device() if device is None else device_probe.require_usable(device)
    if is_emulated(on):
        raise ValueError(f"device {str(on)!r} is emulated: {EMULATED}; measure on device='cpu', or on a Mac")
    return measure(fn, inputs, on, label or name_of(fn), settings)


def measure(
    fn: Callable[..., Any], inputs: Sequence[Any], on: torch.device, label: str, settings: TimerSettings
) -> Timing:
    """Measure `fn(*inputs)` on a device that is known to work; `benchmark` documents the rest.

    Raises:
        TypeError: when a call of `fn` only makes a generator or coroutine.
        ValueError: when `fn` is a module on another device, or the clock goes backwards.
    """
    _check_module_device(fn, on)
    arguments = tree_map_only(torch.Tensor, lambda tensor: tensor.to(on), tuple(inputs))
    stopwatch = Stopwatch(
        fn,
        arguments,
        wait=settings.synchronize or (lambda: device_probe.synchronize(on)),
        clock=settings.clock,
        limit_s=settings.max_time_s,
    )
    with stopwatch:
        first_call_s = stopwatch.first_call()
        warmup_calls, latest_s = _warm_up(stopwatch, first_call_s, settings)
        calls, more_calls, latest_s = stopwatch.calls_per_reading(latest_s)
        warmup_calls += more_calls
        times_s = _readings(stopwatch, calls, settings)
    if not times_s:  # the time was over during the warm-up: its last call is the only reading
        calls, warmup_calls, times_s = 1, warmup_calls - 1, (latest_s,)
    return Timing(
        label=label,
        device=str(on),
        times_s=times_s,
        calls_per_reading=calls,
        first_call_s=first_call_s,
        warmup_calls=warmup_calls,
        torch_version=torch.__version__,
        threads=torch.get_num_threads(),
        chip=this_chip(),
        flop=settings.flop,
        peak_flops=settings.peak_flops if settings.peak_flops is not None else chips.peak_flops_here(on.type),
    )


def name_of(fn: Callable[..., Any]) -> str:
    """Return a callable's name for tables: a function's name, else the class's."""
    return str(getattr(fn, "__name__", type(fn).__name__))


def is_emulated(device: torch.device) -> bool:
    """Return whether a device is the emulated MPS, which has no times."""
    return device.type == "mps" and emulation.is_active()


def check_inputs(inputs: Any) -> None:
    """Raise a TypeError when the inputs are one tensor, which would be unpacked row by row."""
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


def _warm_up(stopwatch: Stopwatch, first_call_s: float, settings: TimerSettings) -> tuple[int, float]:
    """Make the warm-up calls after the first; return how many there are with it, and what the latest took."""
    made, latest_s = 1, first_call_s
    while made < settings.warmup and stopwatch.left_s > settings.max_time_s / 2:
        latest_s, _ = stopwatch.run(1)
        made += 1
    return made, latest_s


def _readings(stopwatch: Stopwatch, calls: int, settings: TimerSettings) -> tuple[float, ...]:
    """Take readings until there are enough or the time is over, which may leave none."""
    times_s: list[float] = []
    measured_s = 0.0
    while not stopwatch.over:
        reading_s, made = stopwatch.run(calls)
        times_s.append(reading_s / made)
        measured_s += reading_s
        if settings.repetitions is not None:
            if len(times_s) >= settings.repetitions:
                break
        elif measured_s >= settings.max_time_s or (
            measured_s >= settings.min_time_s and len(times_s) >= MIN_READINGS and _spread(times_s) <= WIDE_SPREAD
        ):
            break
    return tuple(times_s)


def _spread(times_s: Sequence[float]) -> float:
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return (third - first) / median if median > 0 else math.inf
