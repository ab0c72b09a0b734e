"""`course bench`: measure the workloads on this machine; a table, a chart, JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_torch

if TYPE_CHECKING:
    from course_utils.benchmarking.measurement import Comparison
    from course_utils.benchmarking.workloads import Workload

SUMMARY = "measure the course's workloads on this machine's devices"
INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--only", metavar="NAMES", help="workloads to measure, separated by commas (default: all)")
    parser.add_argument("--mode", choices=("forward", "train", "both"), default="both", help="default: both")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples in one call (default: 1)")
    parser.add_argument(
        "--max-time", type=positive_number, default=5.0, metavar="S", help="seconds for one measurement at most"
    )
    parser.add_argument("--json", action="store_true", help="print JSON with all raw times instead of the table")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="where the chart goes (default: bench.png)")
    parser.add_argument("--no-chart", action="store_true", help="draw no chart")


def choose_workloads(only: str | None, mode: str, batch: int) -> list[Workload]:
    """List the workloads to measure.

    Raises:
        UsageError: for an unknown workload (with the nearest names) or a batch below 1.
    """
    from course_utils.benchmarking.workloads import MODES, load_workload, workload_names

    names = [name.strip() for name in only.split(",") if name.strip()] if only is not None else list(workload_names())
    if not names:
        raise UsageError(f"--only names no workload; there are: {', '.join(workload_names())}")
    modes = MODES if mode == "both" else tuple(m for m in MODES if m == mode)
    try:
        for name in names:
            load_workload(name, batch=batch)
        chosen = [
            load_workload(name, each, batch=batch)
            for name in names
            for each in modes
            if name != "matmul" or each == "forward"
        ]
    except ValueError as error:
        raise UsageError(str(error)) from error
    if not chosen:
        raise UsageError("matmul has no backward pass to measure; use --mode forward")
    return chosen


def measure(workloads: list[Workload], *, max_time_s: float, quiet: bool) -> tuple[list[Comparison], bool]:
    """Measure one workload after the other.

    Returns:
        What was measured, and whether Ctrl-C ended it early; what was finished by then is kept.
    """
    from tqdm import tqdm

    from course_utils.benchmarking.compare import compare_devices, probe_for

    done: list[Comparison] = []
    probed = probe_for(None)
    with tqdm(workloads, unit="workload", disable=quiet, leave=False) as bar:
        try:
            for workload in bar:
                bar.set_description(workload.label)
                done.append(
                    compare_devices(workload, probed=probed, min_time_s=min(0.5, max_time_s), max_time_s=max_time_s)
                )
        except KeyboardInterrupt:
            return done, True
    return done, False


def bench_table(comparisons: list[Comparison]) -> str:
    """Write one table for all comparisons; devices that did not run are named once, below it."""
    from course_utils.reporting.tables import text_table

    rows = [["workload", *comparisons[0].rows()[0]]]
    for comparison in comparisons:
        rows += [[comparison.label, *row] for row in comparison.rows()[1:]]
    missing = dict.fromkeys(pair for comparison in comparisons for pair in comparison.missing)
    lines = text_table(rows, indent="")
    lines += [f"{device} is {reason}" for device, reason in missing]
    lines += [f"warning: {c.label}, {warning}" for c in comparisons for warning in c.warnings]
    return "\n".join(lines)


def run(arguments: argparse.Namespace) -> int:
    """Measure and report.

    Returns:
        0 when all was measured, 130 after Ctrl-C.
    """
    require_torch()
    workloads = choose_workloads(arguments.only, arguments.mode, arguments.batch)
    chart = None if arguments.no_chart else arguments.chart or (None if arguments.json else Path("bench.png"))
    if chart is not None and not chart.resolve().parent.is_dir():
        raise UsageError(f"the chart cannot be written to {chart}: there is no folder {chart.resolve().parent}")
    quiet = arguments.json or not sys.stderr.isatty()
    comparisons, interrupted = measure(workloads, max_time_s=arguments.max_time, quiet=quiet)
    if interrupted:
        print(f"stopped after {len(comparisons)} of {len(workloads)} measurements", file=sys.stderr)
    if arguments.json:
        print(json.dumps([comparison.to_dict() for comparison in comparisons], indent=2))
    elif comparisons:
        print(bench_table(comparisons))
    if chart is not None and comparisons:
        _write_chart(comparisons, chart, quiet=arguments.json)
    return INTERRUPTED if interrupted else 0


def _write_chart(comparisons: list[Comparison], chart: Path, *, quiet: bool) -> None:
    import contextlib
    import io

    from course_utils.benchmarking.plots import plot_comparison

    # the table has said it all; the sentence of each row would only repeat it
    with contextlib.redirect_stdout(io.StringIO()):
        figure = plot_comparison(comparisons, title="The course's workloads on this machine")
    try:
        figure.savefig(chart, dpi=150)
    except (OSError, ValueError) as error:
        raise UsageError(f"the chart cannot be written to {chart}: {error}") from error
    if not quiet:
        print(f"chart: {chart}")
