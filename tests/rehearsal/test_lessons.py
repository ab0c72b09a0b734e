"""The rehearsal: every lesson and exercise runs as on a Mac, and shows there what it shows on Linux.

The emulated device stands in for the real one (`support.rehearsal`). What only a Mac can show, such as its times, is
not rehearsed; that a cell runs, counts, draws and says nothing false is.
"""

import itertools
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from support import submissions
from support.paths import ROOT
from support.rehearsal import code_cells, rehearsal, run_cells

from course_utils.exercises import task

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COUNTING_EXERCISES = ("03_devices", "05_models_cpu_and_mps", "11_capstone")
# what an output must not say where the device is a real one
FALSE_ON_A_MAC = re.compile(r"emulated|nothing was counted|counts nothing|not counted on|no times: this is not MPS")
# wrong in what is counted, so that a visible check has to say so: grade id -> what is wrong
MISCOUNTED = [
    (name, grade_id, what)
    for name in COUNTING_EXERCISES
    for grade_id, variants in submissions.wrong_solutions(name).items()
    for what in variants
    if re.search("read|wait|the loop as it was|an if in each step|converted on the CPU", what)
]


def outside(cell) -> bool:
    """Return whether a cell has to run without the stand-in: torch.export works with fake tensors of its own."""
    return "torch.export." in cell[1]


def rehearse(cells, folder: Path):
    """Run cells as on a Mac; return the runs, the differences between the books, and how many events were compared."""
    runs, differing, entries, namespace = [], [], 0, {"__name__": "__main__"}
    for is_outside, group in itertools.groupby(cells, key=outside):
        with nullcontext() if is_outside else rehearsal() as seen:
            runs += run_cells(list(group), folder, namespace)
        if seen is not None:
            differing += seen.differences()
            entries += seen.entries()
        if runs[-1].error:
            break
    return runs, differing, entries


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson(path):
    """All cells run; the books are equal; no figure is empty; no output speaks of an emulated device."""
    cells = code_cells(path)
    runs, differing, entries = rehearse(cells, path.parent)
    counts = any("mps_or_emulated()" in source or "mps_or_emulated(f" in source for _, source in cells)

    assert [(run.cell, run.error) for run in runs if run.error] == []
    assert len(runs) == len(cells)
    assert differing == []
    assert [(run.cell, run.empty_figures) for run in runs if run.empty_figures] == []
    assert [(run.cell, run.output) for run in runs if FALSE_ON_A_MAC.search(run.output)] == []
    assert (entries > 0) == counts
    print(f"{path.stem}: {len(runs)} cells, {entries} entries equal")


@pytest.mark.parametrize("name", submissions.EXERCISES)
def test_exercise(name):
    """The instructor's solution passes all checks, hidden ones included, with equal books."""
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    task.reports.clear()
    runs, differing, entries = rehearse(code_cells(path), path.parent)
    reports = list(task.reports)
    outcomes = [outcome for report in reports for outcome in report.outcomes]

    assert [(run.cell, run.error) for run in runs if run.error] == []
    assert [str(outcome) for outcome in outcomes if not outcome.passed] == []
    assert len(reports) == len(submissions.check_cells(submissions.source_notebook(name)))
    assert differing == []
    assert (entries > 0) == (name in (*COUNTING_EXERCISES, "10_from_mac_to_cloud"))
    print(f"{name}: {len(runs)} cells, {entries} entries equal")


@pytest.mark.parametrize("name", COUNTING_EXERCISES)
def test_miscounts_are_found_on_a_mac(name):
    """A solution that waits or copies too often fails a *visible* check on a real device too."""
    wrong = [(grade_id, what) for exercise, grade_id, what in MISCOUNTED if exercise == name]
    assert wrong
    notebook = submissions.released_notebook(name)
    path = ROOT / "exercises" / name / f"{name}.ipynb"
    plain = [cell for cell in code_cells(path) if not re.search(r"-check$", cell[0])]
    checks = dict(code_cells(path))
    right = dict(code_cells(ROOT / "solutions" / name / f"{name}.ipynb"))
    given = {cell[0] for cell in plain} - {cell["id"] for cell in submissions.solution_cells(notebook).values()}
    namespace = {"__name__": "__main__"}
    with rehearsal():
        setup = [(identifier, source) for identifier, source in plain if identifier in given]
        assert [run.error for run in run_cells(setup, path.parent, namespace) if run.error] == []
        for grade_id, what in wrong:
            task.reports.clear()
            code = submissions.wrong_solutions(name)[grade_id][what]
            run_cells([(grade_id, code), (f"{grade_id}-check", checks[f"{grade_id}-check"])], path.parent, namespace)
            (report,) = task.reports
            assert not report.passed, f"{grade_id}: {what} passes the visible checks"
            task.reports.clear()
            run_cells([(grade_id, right[grade_id]), ("check", checks[f"{grade_id}-check"])], path.parent, namespace)
            assert task.reports[0].passed, str(task.reports[0])
