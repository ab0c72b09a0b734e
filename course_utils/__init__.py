"""Tools of the course *PyTorch on Apple Silicon*: they measure on the reader's own machine.

`import course_utils` is cheap: torch loads with the first tool that needs it.

    from course_utils import benchmark, pick_device
    benchmark(torch.matmul, inputs=(a, b), device=pick_device())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module that holds it; this is the whole public surface
_HOME = {
    "Audit": "auditing",
    "audit": "auditing",
    "Probe": "devices",
    "pick_device": "devices",
    "probe_mps": "devices",
    "synchronize": "devices",
    "Comparison": "measurement",
    "Timing": "measurement",
    "format_duration": "measurement",
    "benchmark": "timing",
    "compare_devices": "timing",
    "Workload": "workloads",
    "load_workload": "workloads",
    "workload_names": "workloads",
    "Published": "published",
    "published_times": "published",
    "Sweep": "sweeps",
    "sweep_devices": "sweeps",
    "MeasuredOperation": "roofline",
    "Roofline": "roofline",
    "plot_comparison": "plots",
    "plot_raw_times": "plots",
    "plot_roofline": "plots",
    "plot_sweep": "plots",
    "Task": "checks",
    "in_student_process": "checks",
    "ToyDevice": "toy_device",
    "find_chip": "chips",
    "Digits": "digits",
    "load_digits": "digits",
    "estimate_memory": "memory",
    "fits": "memory",
    "memory_budget": "memory",
    "compare_numerics": "numerics",
}

__all__ = [
    "Audit",
    "Comparison",
    "Digits",
    "MeasuredOperation",
    "Probe",
    "Published",
    "Roofline",
    "Sweep",
    "Task",
    "Timing",
    "ToyDevice",
    "Workload",
    "__version__",
    "audit",
    "benchmark",
    "compare_devices",
    "compare_numerics",
    "estimate_memory",
    "find_chip",
    "fits",
    "format_duration",
    "in_student_process",
    "load_digits",
    "load_workload",
    "memory_budget",
    "pick_device",
    "plot_comparison",
    "plot_raw_times",
    "plot_roofline",
    "plot_sweep",
    "probe_mps",
    "published_times",
    "sweep_devices",
    "synchronize",
    "workload_names",
]

if TYPE_CHECKING:
    from course_utils.auditing import Audit, audit
    from course_utils.checks import Task, in_student_process
    from course_utils.chips import find_chip
    from course_utils.devices import Probe, pick_device, probe_mps, synchronize
    from course_utils.digits import Digits, load_digits
    from course_utils.measurement import Comparison, Timing, format_duration
    from course_utils.memory import estimate_memory, fits, memory_budget
    from course_utils.numerics import compare_numerics
    from course_utils.plots import plot_comparison, plot_raw_times, plot_roofline, plot_sweep
    from course_utils.published import Published, published_times
    from course_utils.roofline import MeasuredOperation, Roofline
    from course_utils.sweeps import Sweep, sweep_devices
    from course_utils.timing import benchmark, compare_devices
    from course_utils.toy_device import ToyDevice
    from course_utils.workloads import Workload, load_workload, workload_names


def __getattr__(name: str) -> Any:
    """Load the module that holds `name` on first use (PEP 562)."""
    if name in _HOME:
        return getattr(importlib.import_module(f"course_utils.{_HOME[name]}"), name)
    raise AttributeError(f"module 'course_utils' has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")


def __dir__() -> list[str]:
    return __all__
