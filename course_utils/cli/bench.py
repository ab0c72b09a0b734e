"""`course bench`: measure the workloads on this machine; a table, a chart, one document to keep or share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.cli.arguments import positive_number
from course_utils.cli.usage import UsageError, require_target, require_torch
from course_utils.reporting.near_names import suggest
from course_utils.reporting.progress_bar import BAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from course_utils.benchmarking.document import BenchDocument
    from course_utils.benchmarking.measurement import Comparison
    from course_utils.benchmarking.workloads import Workload

INTERRUPTED = 130
# sides of the matrices that show from which size on a GPU wins
SWEEP_SIZES = (64, 128, 256, 512, 1024, 2048)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--only", metavar="NAMES", help="workloads to measure, separated by commas (default: all)")
    parser.add_argument("--mode", choices=("forward", "train", "both"), default="both", help="default: both")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="examples in one call (default: 1)")
    parser.add_argument(
        "--sweep", action="store_true", help="measure the matrix product at several sizes too, as measured/ has them"
    )
    parser.add_argument(
        "--max-time", type=positive_number, default=5.0, metavar="S", help="seconds for one measurement at most"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the JSON document to a file")
    parser.add_argument(
        "--beside", type=Path, nargs="+", default=[], metavar="FILE", help="draw saved documents beside this machine's"
    )
    parser.add_argument("--chart", type=Path, metavar="FILE", help="where the chart goes (default: bench.png)")
    parser.add_argument("--no-chart", action="store_true", help="draw no chart")


def choose_workloads(only: str | None, mode: str, batch: int, *, sweep: bool = False) -> list[Workload]:
    """Return the workloads to measure; with `sweep`, the matrix product at several sizes comes first.

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
    if sweep:
        products = [load_workload("matmul", size=size) for size in SWEEP_SIZES]
        chosen = products + [work for work in chosen if work not in products]
    if not chosen:
        raise UsageError("matmul has no backward pass to measure; use --mode forward")
    return chosen


def check_chart(path: Path) -> None:
    """Make sure that a chart can be written before anything is measured.

    Raises:
        UsageError: for a folder that is not there, or an ending that no picture has.
    """
    require_target(path, "the chart")
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    ending = path.suffix.lstrip(".").lower()
    if ending not in known:
        raise UsageError(
            f"the chart cannot be written to {path}: a picture's name ends in .png, .svg or .pdf, for example; "
            f"{path.suffix or 'no ending'!r} is not one ({suggest(ending, known)})"
        )


def read_beside(paths: Sequence[Path]) -> list[BenchDocument]:
    """Read the documents to draw beside.

    Raises:
        UsageError: for a file that cannot be read or is not such a document.
    """
    from course_utils.benchmarking.document import DocumentError, read_document

    found = []
    for path in paths:
        try:
            found.append(read_document(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        except (DocumentError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is not a document of `course bench`: {error}") from error
    return found


def measure(workloads: list[Workload], *, max_time_s: float, quiet: bool) -> tuple[list[Comparison], bool]:
    """Measure one workload after the other.

    Returns:
        What was measured, and whether Ctrl-C ended it early; what was finished by then is kept.
    """
    from tqdm import tqdm

    from course_utils.benchmarking.compare import compare_devices, probe_for

    done: list[Comparison] = []
    probed = probe_for(None)
    min_time_s = min(0.5, max_time_s)
    with tqdm(workloads, bar_format=BAR, disable=quiet, leave=False) as bar:
        try:
            for workload in bar:
                bar.set_description(workload.label)
                done.append(compare_devices(workload, probed=probed, min_time_s=min_time_s, max_time_s=max_time_s))
        except KeyboardInterrupt:
            return done, True
    return done, False


def bench_table(comparisons: Sequence[Comparison], beside: Sequence[BenchDocument] = ()) -> str:
    """Return one table for all comparisons; devices that did not run are named once, below it.

    Args:
        comparisons: what was measured here.
        beside: saved documents, whose rows for the same workloads follow, each with its machine.
    """
    from course_utils.reporting.tables import text_table

    rows = [["workload", *comparisons[0].rows()[0]]]
    for comparison in comparisons:
        rows += [[comparison.label, *row] for row in comparison.rows()[1:]]
        for document in beside:
            for other in document.comparisons:
                if other.label == comparison.label:
                    rows += [["", f"{row[0]} ({document.name})", *row[1:]] for row in other.rows()[1:]]
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
    workloads = choose_workloads(arguments.only, arguments.mode, arguments.batch, sweep=arguments.sweep)
    chart = None if arguments.no_chart else arguments.chart or (None if arguments.json else Path("bench.png"))
    if chart is not None:
        check_chart(chart)
    if arguments.save is not None:
        require_target(arguments.save, "the document")
    beside = read_beside(arguments.beside)
    quiet = arguments.json or not sys.stderr.isatty()
    comparisons, interrupted = measure(workloads, max_time_s=arguments.max_time, quiet=quiet)
    if interrupted:
        print(f"stopped after {len(comparisons)} of {len(workloads)} measurements", file=sys.stderr)
    document = _document(arguments, comparisons, interrupted=interrupted)
    if arguments.json:
        print(document.to_json())
    elif comparisons:
        print(bench_table(comparisons, beside))
    if arguments.save is not None and comparisons:
        _save(document, arguments.save, quiet=arguments.json)
    if chart is not None and comparisons:
        _write_chart(comparisons, beside, chart, quiet=arguments.json)
    return INTERRUPTED if interrupted else 0


def _document(arguments: argparse.Namespace, comparisons: Sequence[Comparison], *, interrupted: bool) -> BenchDocument:
    from course_utils.benchmarking.document import BenchDocument, describe_machine

    settings = {
        "only": arguments.only,
        "mode": arguments.mode,
        "batch": arguments.batch,
        "sweep": arguments.sweep,
        "max_time_s": arguments.max_time,
    }
    return BenchDocument(describe_machine(), settings, tuple(comparisons), interrupted)


def _save(document: BenchDocument, path: Path, *, quiet: bool) -> None:
    from course_utils.reporting.files import write_file

    try:
        write_file(path, document.to_json() + "\n")
    except OSError as error:
        raise UsageError(f"the document cannot be written to {path}: {error.strerror}") from error
    if not quiet:
        print(f"document: {path}")


def _write_chart(
    comparisons: Sequence[Comparison], beside: Sequence[BenchDocument], chart: Path, *, quiet: bool
) -> None:
    import contextlib
    import io

    from course_utils.benchmarking.plots import plot_comparison

    # the table has said it all; the sentence of each row would only repeat it
    with contextlib.redirect_stdout(io.StringIO()):
        figure = plot_comparison(
            comparisons,
            beside=[(document.name, other) for document in beside for other in document.comparisons],
            title="The course's workloads on this machine",
        )
    try:
        figure.savefig(chart, dpi=150)
    except OSError as error:
        raise UsageError(f"the chart cannot be written to {chart}: {error.strerror}") from error
    if not quiet:
        print(f"chart: {chart}")
