"""A rehearsal: the course runs as on a Mac, with the emulated device in the place of the real one.

The course believes that MPS is built in and works, and counts from above, as it does on a Mac. The emulated device's
own book counts from inside at the same time; `differences` compares the two. Times are the CPU's, taken once or twice,
and stand under the device "mps:rehearsal", never under "mps".
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

from course_utils.benchmarking import compare, timer
from course_utils.benchmarking.stopwatch import Stopwatch
from course_utils.emulation import EmulatedMps, Ledger, context, emulated_mps, select_device
from course_utils.emulation.counted_device import CountedMps, counted_mps
from course_utils.emulation.host_waits import queues_kernel
from course_utils.exercises import task
from course_utils.exercises.outcome import Report
from course_utils.numerics import run as numerics_run

REHEARSED = "mps:rehearsal"


def differences(above: Ledger, inside: Ledger, *, lines: bool = True) -> list[str]:
    """Return where two books of the same events differ: copies, waits, fallbacks, and operators that queue a kernel.

    C++ makes a tensor of Python numbers with the dispatch mode switched off, so that the allocations and reads in it
    are seen from inside only; none of them queues a kernel, and the copy and the reads are in both books as events.

    Args:
        above: counted by a dispatch mode, as on a Mac.
        inside: counted by the emulated device.
        lines: whether the callers' lines have to be equal too.
    """
    found = []
    for kind in ("copies", "waits", "fallbacks"):
        events = [getattr(above, kind), getattr(inside, kind)]
        books = [[event if lines else replace(event, location=None) for event in book] for book in events]
        if books[0] != books[1]:
            only = [[event for event in books[i] if event not in books[1 - i]][:2] for i in (0, 1)]
            found.append(
                f"{kind}: {len(books[0])} above, {len(books[1])} inside; above only {only[0]}; inside {only[1]}"
            )
    operators = [{name: n for name, n in book.operators.items() if queues_kernel(name)} for book in (above, inside)]
    if operators[0] != operators[1]:
        only = [sorted(set(operators[i].items()) - set(operators[1 - i].items())) for i in (0, 1)]
        found.append(f"operators: above {only[0]}; inside {only[1]}")
    return found


@dataclass
class Rehearsal:
    """What a rehearsal saw.

    Args:
        device: the emulated device.
        books: pairs of ledgers, from above and from inside, one for each time the course asked for a ledger.
    """

    device: EmulatedMps
    books: list[tuple[Ledger, Ledger]] = field(default_factory=list)

    def differences(self) -> list[str]:
        """Return where the books differ."""
        return [line for above, inside in self.books for line in differences(above, inside)]

    def entries(self) -> int:
        """Return how many events were compared."""
        return sum(len(b.copies) + len(b.waits) + len(b.fallbacks) for b, _ in self.books)


class _Compared(CountedMps):
    """Counts on both sides, and keeps both books whenever one is asked for."""

    def __init__(self, counted: CountedMps, seen: Rehearsal) -> None:
        super().__init__(counted._recorder)
        self.seen = seen

    def ledger(self) -> Ledger:
        above = super().ledger()
        self.seen.books.append((above, self.seen.device.ledger()))
        return above

    def clear_ledger(self) -> None:
        super().clear_ledger()
        self.seen.device.clear_ledger()


@contextmanager
def rehearsal() -> Iterator[Rehearsal]:
    """Make the course believe, for the length of a block, that the emulated device is a real MPS device."""
    with ExitStack() as stack:
        seen = Rehearsal(stack.enter_context(emulated_mps(missing="raise")))
        runtime = seen.device._runtime

        @contextmanager
        def compared(*, fallback: bool = False) -> Iterator[CountedMps]:
            runtime.policy, runtime.has_warned = ("fallback" if fallback else "raise"), False
            seen.device.clear_ledger()
            # the checker's own copies, for its look at each operator, are behind every mode and in no book from above
            blind = mock.patch.object(numerics_run, "_looks", return_value=False)
            with blind, counted_mps(over_emulation=True) as counted:
                here = _Compared(counted, seen)
                yield here
                here.ledger()
            runtime.policy = "raise"

        def timed(fn: Any, inputs: Any, on: Any, label: str, settings: Any) -> Any:
            timing = measure(fn, inputs, on, label, replace(settings, repetitions=1, warmup=1))
            timing = replace(timing, times_s=(*timing.times_s, timing.first_call_s))  # two calls are two readings here
            return replace(timing, device=REHEARSED) if on.type == "mps" else timing

        measure = timer.measure
        for owner, name, value in (
            (select_device, "counted_mps", compared),
            (context, "is_running", lambda: False),
            (timer, "measure", timed),
            (compare, "measure", timed),
            (torch.mps.Event, "elapsed_time", lambda start, end: 1.0),  # the emulated device's own refuses
            (Stopwatch, "calls_per_reading", lambda _, one_call_s: (1, 0, one_call_s)),
        ):
            stack.enter_context(mock.patch.object(owner, name, value))
        yield seen


@dataclass
class CellRun:
    """What one code cell did.

    Args:
        cell: its id.
        output: what it printed, and its last value as text.
        error: what it raised, "" for nothing.
        empty_figures: what is missing in its figures.
        figures: how many figures it drew.
        reports: the tasks that it checked.
    """

    cell: str
    output: str
    error: str = ""
    empty_figures: tuple[str, ...] = ()
    figures: int = 0
    reports: tuple[Report, ...] = ()


class _Main(ModuleType):
    """The module that pickle looks in for what a notebook defines."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        super().__init__("__main__")
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._namespace:
            raise AttributeError(f"module '__main__' has no attribute {name!r}")
        return self._namespace[name]


def code_cells(path: Path) -> list[tuple[str, str]]:
    """Return id and source of the code cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]


def run_cells(cells: list[tuple[str, str]], folder: Path, namespace: dict[str, Any]) -> list[CellRun]:
    """Run code cells until one raises, with the working directory, the import path and the `__main__` of a notebook."""
    runs: list[CellRun] = []
    threads = torch.get_num_threads()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "path", [str(folder), *sys.path]),
    ):
        modules, main = set(sys.modules), sys.modules["__main__"]
        sys.modules["__main__"] = _Main(namespace)
        try:
            for name, source in cells:
                runs.append(_run(name, source, namespace))
                if runs[-1].error:
                    break
        finally:
            sys.modules["__main__"] = main
            torch.set_num_threads(threads)
            beside = {path.name for path in folder.iterdir() if path.is_dir()}  # what lessons import from their folder
            for module in set(sys.modules) - modules:
                if module.partition(".")[0] in beside:
                    del sys.modules[module]
    return runs


def _run(name: str, source: str, namespace: dict[str, Any]) -> CellRun:
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source, file)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    written, shown, reported = io.StringIO(), [], len(task.reports)
    with (
        contextlib.redirect_stdout(written),
        contextlib.redirect_stderr(written),
        mock.patch.object(plt, "show", side_effect=lambda: shown.extend(_take_figures())),
    ):
        try:
            exec(compile(tree, file, "exec"), namespace)
            value = eval(compile(last, file, "eval"), namespace) if last is not None else None
        except Exception as error:
            return CellRun(name, written.getvalue(), f"{type(error).__name__}: {error}")
    shown += _take_figures()
    shown += [value] if isinstance(value, Figure) and value not in shown else []
    output = written.getvalue() + ("" if value is None else str(value))
    empty = tuple(problem for figure in shown for problem in _what_is_empty(figure))
    return CellRun(name, output, empty_figures=empty, figures=len(shown), reports=tuple(task.reports[reported:]))


def _take_figures() -> list[Figure]:
    figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    return figures


def _what_is_empty(figure: Figure) -> list[str]:
    """Return a line for each axes without marks: no image, no point, no bar with a length."""
    found = []
    for place, axes in enumerate(figure.axes):
        points = any(len(line.get_xdata()) for line in axes.lines) or any(
            len(collection.get_offsets()) or len(collection.get_paths()) for collection in axes.collections
        )
        bars = any(patch.get_window_extent().width and patch.get_window_extent().height for patch in axes.patches)
        if not (points or bars or axes.images):
            found.append(f"axes {place} ({axes.get_title() or axes.get_ylabel() or 'no title'}) shows no mark")
    if not figure.axes:
        found.append("a figure without axes")
    return found
