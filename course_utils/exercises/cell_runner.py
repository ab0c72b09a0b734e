"""Run a notebook's code cells in this process and report each; started by `course_utils.exercises.runner` as a child.

    python -m course_utils.exercises.cell_runner WRITE_FD < cells.json

Standard input: a JSON list of [number, source]. One JSON line for each finished cell goes to the file descriptor.
IPython's shell runs the cells, without a kernel and without nbformat, so that a check costs what the code costs.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
from typing import Any

from course_utils.exercises.cell_line import error_at
from course_utils.exercises.cell_shell import make_shell
from course_utils.exercises.compiler_on_demand import put_off_compiler

MAX_OUTPUT_CHARACTERS = 20_000


def main() -> None:
    """Run the cells that stand on standard input."""
    cells: list[tuple[int, str]] = json.load(sys.stdin)
    with open(int(sys.argv[1]), "w", encoding="utf-8", buffering=1) as results:
        # a cell that calls input() gets an end of file at once instead of waiting
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        from IPython.utils.capture import capture_output

        put_off_compiler()
        shell = make_shell()
        # the first cell loads torch, and nothing of it goes before the end: the collector would look at all of it again
        # and again, and once more at the end, which takes as long as a third of the loading
        gc.disable()
        atexit.register(gc.freeze)
        for place, (number, source) in enumerate(cells):
            print(json.dumps({"started": number}), file=results)
            written_before = _size_of_stderr()
            with capture_output(display=False) as captured:
                outcome = shell.run_cell(source, store_history=False)
            error = outcome.error_before_exec or outcome.error_in_exec
            finished = {
                "finished": number,
                "error": None if error is None else error_at(error),
                "output": captured.stdout[:MAX_OUTPUT_CHARACTERS],
                "stderr": (captured.stderr + _stderr_after(written_before))[:MAX_OUTPUT_CHARACTERS],
                "value": outcome.result if isinstance(outcome.result, int | float) else None,
                "reports": _take_reports(),
            }
            print(json.dumps(finished), file=results)
            if place == 0:
                gc.freeze()
                gc.enable()


def _size_of_stderr() -> int:
    try:
        return os.fstat(2).st_size
    except OSError:  # a cell closed it
        return 0


def _stderr_after(position: int) -> str:
    """Return what libraries wrote past Python, where standard error is a file that can be read back."""
    written = _size_of_stderr() - position
    return os.pread(2, written, position).decode("utf-8", "replace") if written > 0 else ""


def _take_reports() -> list[dict[str, Any]]:
    """Return the tasks checked since the last call, as plain data."""
    checks = sys.modules.get("course_utils.exercises.task")
    if checks is None:
        return []
    from dataclasses import asdict

    taken = [asdict(report) for report in checks.reports]
    checks.reports.clear()
    return taken


if __name__ == "__main__":
    main()
