"""What torch really allocates on the CPU while a callable runs, from the profiler's memory records.

The yardstick for the estimates. The profiler sees torch's own CPU allocator; what a library such as oneDNN takes by
itself, and the process around it, are outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def measure_cpu_peak(fn: Callable[[], Any]) -> int:
    """Measure the peak that torch's CPU allocator held during a call, beyond what it held before, in bytes.

    Args:
        fn: the callable; what it returns is kept until the measurement ends. Nothing that was alive before the call
            should be freed in it: the profiler does not report such frees.

    Returns:
        Bytes above the start.

    Raises:
        RuntimeError: when the profiler recorded no allocation at all.
    """
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = fn()
    inner = profiler.profiler
    # the public events() adds allocations up by operator; the single records are only here (torch 2.9-2.14)
    events = inner.kineto_results.events() if inner is not None and inner.kineto_results is not None else []
    records = sorted(
        (event.start_ns(), event.nbytes())
        for event in events
        if event.name() == "[memory]" and event.device_type() == DeviceType.CPU
    )
    del result
    if not records:
        raise RuntimeError("the profiler recorded no allocation; the callable allocated nothing on the CPU")
    held = peak = 0
    for _, n_bytes in records:
        held += n_bytes
        peak = max(peak, held)
    return peak
