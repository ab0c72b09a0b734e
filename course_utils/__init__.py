"""Tools of the course *PyTorch on Apple Silicon*: they measure on the reader's own machine.

`import course_utils` is cheap: torch loads with the first tool that needs it.

    from course_utils import benchmark, pick_device
    benchmark(torch.matmul, inputs=(a, b), device=pick_device())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from course_utils.data.package import VERSION

__version__ = VERSION

# public name -> the module that holds it; this is the whole public surface
_HOME = {
    "Audit": "auditing",
    "audit": "auditing",
    "Probe": "devices.probe",
    "pick_device": "devices.probe",
    "probe_mps": "devices.probe",
    "synchronize": "devices.probe",
    "Comparison": "benchmarking.measurement",
    "Timing": "benchmarking.measurement",
    "format_duration": "reporting.units",
    "benchmark": "benchmarking.timer",
    "compare_devices": "benchmarking.compare",
    "Workload": "benchmarking.workloads",
    "load_workload": "benchmarking.workloads",
    "workload_names": "benchmarking.workloads",
    "Published": "data.published",
    "published_times": "data.published",
    "plot_shared": "benchmarking.shared",
    "shared_times": "benchmarking.shared",
    "Sweep": "benchmarking.sweep",
    "sweep_devices": "benchmarking.sweep",
    "MeasuredOperation": "benchmarking.roofline",
    "Roofline": "benchmarking.roofline",
    "plot_timeline": "benchmarking.lesson_figures",
    "plot_rates": "benchmarking.lesson_figures",
    "plot_number_formats": "benchmarking.lesson_figures",
    "plot_counts": "benchmarking.lesson_figures",
    "plot_attention": "benchmarking.attention_figures",
    "plot_bytes_over_length": "benchmarking.attention_figures",
    "plot_break_even": "benchmarking.time_figures",
    "plot_times": "benchmarking.time_figures",
    "plot_waiting": "benchmarking.time_figures",
    "plot_budgets": "benchmarking.project_figures",
    "plot_errors": "benchmarking.project_figures",
    "plot_memory_parts": "benchmarking.project_figures",
    "plot_readings": "benchmarking.project_figures",
    "plot_resumed": "benchmarking.project_figures",
    "show_images": "benchmarking.project_figures",
    "plot_comparison": "benchmarking.plots",
    "plot_raw_times": "benchmarking.plots",
    "plot_roofline": "benchmarking.plots",
    "plot_sweep": "benchmarking.plots",
    "Task": "exercises.task",
    "bring_files": "exercises.reader_files",
    "in_student_process": "exercises.task",
    "compare_prediction": "exercises.kept_predictions",
    "predict": "exercises.kept_predictions",
    "ToyDevice": "benchmarking.toy_device",
    "find_chip": "devices.chips",
    "Digits": "data.digits",
    "load_alice": "data.alice",
    "load_digits": "data.digits",
    "estimate_memory": "memory",
    "fits": "memory",
    "memory_budget": "memory",
    "ask_known_faults": "numerics.known_faults",
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
    "ask_known_faults",
    "audit",
    "benchmark",
    "bring_files",
    "compare_devices",
    "compare_numerics",
    "compare_prediction",
    "estimate_memory",
    "find_chip",
    "fits",
    "format_duration",
    "in_student_process",
    "load_alice",
    "load_digits",
    "load_workload",
    "memory_budget",
    "pick_device",
    "plot_attention",
    "plot_break_even",
    "plot_budgets",
    "plot_bytes_over_length",
    "plot_comparison",
    "plot_counts",
    "plot_errors",
    "plot_memory_parts",
    "plot_number_formats",
    "plot_rates",
    "plot_raw_times",
    "plot_readings",
    "plot_resumed",
    "plot_roofline",
    "plot_shared",
    "plot_sweep",
    "plot_timeline",
    "plot_times",
    "plot_waiting",
    "predict",
    "probe_mps",
    "published_times",
    "shared_times",
    "show_images",
    "sweep_devices",
    "synchronize",
    "workload_names",
]

if TYPE_CHECKING:
    from course_utils.auditing import Audit, audit
    from course_utils.benchmarking.attention_figures import plot_attention, plot_bytes_over_length
    from course_utils.benchmarking.compare import compare_devices
    from course_utils.benchmarking.lesson_figures import plot_counts, plot_number_formats, plot_rates, plot_timeline
    from course_utils.benchmarking.measurement import Comparison, Timing
    from course_utils.benchmarking.plots import plot_comparison, plot_raw_times, plot_roofline, plot_sweep
    from course_utils.benchmarking.project_figures import (
        plot_budgets,
        plot_errors,
        plot_memory_parts,
        plot_readings,
        plot_resumed,
        show_images,
    )
    from course_utils.benchmarking.roofline import MeasuredOperation, Roofline
    from course_utils.benchmarking.shared import plot_shared, shared_times
    from course_utils.benchmarking.sweep import Sweep, sweep_devices
    from course_utils.benchmarking.time_figures import plot_break_even, plot_times, plot_waiting
    from course_utils.benchmarking.timer import benchmark
    from course_utils.benchmarking.toy_device import ToyDevice
    from course_utils.benchmarking.workloads import Workload, load_workload, workload_names
    from course_utils.data.alice import load_alice
    from course_utils.data.digits import Digits, load_digits
    from course_utils.data.published import Published, published_times
    from course_utils.devices.chips import find_chip
    from course_utils.devices.probe import Probe, pick_device, probe_mps, synchronize
    from course_utils.exercises.kept_predictions import compare_prediction, predict
    from course_utils.exercises.reader_files import bring_files
    from course_utils.exercises.task import Task, in_student_process
    from course_utils.memory import estimate_memory, fits, memory_budget
    from course_utils.numerics import compare_numerics
    from course_utils.numerics.known_faults import ask_known_faults
    from course_utils.reporting.units import format_duration


def __getattr__(name: str) -> Any:
    """Load the module that holds `name` on first use (PEP 562)."""
    if name in _HOME:
        return getattr(importlib.import_module(f"course_utils.{_HOME[name]}"), name)
    raise AttributeError(f"module 'course_utils' has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")


def __dir__() -> list[str]:
    return __all__
