"""pytest's hooks for the whole course: what needs a real MPS device says so, and the end of a run counts it."""

from __future__ import annotations

import atexit
import gc
import json
import os
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from course_utils.devices.probe import Probe

WANTS_MPS = "wants-mps"
# inductor believes the processor's flags, and compiles no test programs for them (half a minute on two cores)
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")


atexit.register(gc.freeze)  # torch is not collected object by object before a worker ends


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let Python's collector look at what tests make, and not again and again at all that torch has loaded."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def mps_probe() -> Probe:
    """Probe MPS once in this process."""
    from course_utils.devices.probe import probe_mps

    return probe_mps()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked needs_mps where MPS does not work, with the probe's reason."""
    marked = [item for item in items if item.get_closest_marker("needs_mps")]
    if marked and not mps_probe().usable:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"needs a real MPS device; {mps_probe()}"))


def cells_that_want_mps(notebook: Path) -> int:
    """Count the cells of a notebook that are tagged as measuring MPS where there is one."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return sum(WANTS_MPS in cell["metadata"].get("tags", []) for cell in cells)


def notebooks_in(node_ids: Iterator[str], root: Path) -> list[Path]:
    """List the notebooks whose cells were run."""
    files = {node_id.split("::")[0] for node_id in node_ids}
    return sorted(root / name for name in files if name.endswith(".ipynb"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many tests and notebook cells wanted MPS, and whether they had it."""
    reports = [report for kind in ("passed", "failed", "skipped") for report in terminalreporter.getreports(kind)]
    tests = len({report.nodeid for report in reports if "needs_mps" in report.keywords})
    run = notebooks_in((report.nodeid for report in reports), config.rootpath)
    cells = sum(cells_that_want_mps(path) for path in run)
    if not tests and not cells:
        return
    probe = mps_probe()
    terminalreporter.section("MPS")
    had = "had one" if probe.usable else "had none"
    terminalreporter.write_line(f"{tests} tests need a real MPS device and {had}")
    terminalreporter.write_line(f"{cells} cells in {len(run)} notebooks wanted MPS and {had}")
    terminalreporter.write_line(str(probe))
