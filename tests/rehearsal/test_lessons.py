"""The rehearsal: every lesson and exercise runs as on a Mac, and shows there what it shows on Linux.

The emulated device stands in for the real one (`support.rehearsal`). What only a Mac can show, such as its times, is
not rehearsed; that a cell runs, counts, draws and says nothing false is. Lessons run as a reader filled them
(`support.filled_lessons`); nbval runs them as they are stored.
"""

import itertools
import re
import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from support import submissions
from support.filled_lessons import filling
from support.paths import ROOT
from support.rehearsal import code_cells, rehearsal, run_cells

from course_utils.data.versions import order
from course_utils.exercises import kept_predictions, task

# seen with torch 2.9.1 and not with 2.14.1: it warns of a format even where autocast is switched off, and of the bytes
# that torch.export.load itself reads
_OLDER_WARNINGS = (
    "ignore:In MPS autocast, but the target dtype is not supported:UserWarning",
    "ignore:The given buffer is not writable:UserWarning",
)
pytestmark = [
    pytest.mark.filterwarnings(warning) for warning in _OLDER_WARNINGS if order(torch.__version__) < order("2.14")
]

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COUNTING_EXERCISES = ("03_devices", "05_models_cpu_and_mps", "15_capstone")
USING_THE_DEVICE = (
    *COUNTING_EXERCISES,
    "01_unified_memory",
    "02_installing_mps",
    "04_measuring_time",
    "07_fallback",
    "10_from_mac_to_cloud",
    "11_transformers",
    "13_profile_and_kernels",
    "14_data_in_model_out",
)
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


def outside(cells):
    """Return for each cell whether it has to run without the stand-in.

    torch.export and torch.compile trace with fake tensors of their own, which know real devices only. A helper that
    compiles is called from other cells, so a notebook that compiles runs outside as a whole, on the CPU.
    """
    compiles = any("torch.compile(" in source for _, source in cells)
    return [compiles or re.search(r"\btorch\.export\.\w+\(|\bexport_for\b", source) is not None for _, source in cells]


def rehearse(cells, folder: Path):
    """Run cells as on a Mac; return the runs, the differences between the books, and how many events were compared."""
    runs, differing, entries, namespace = [], [], 0, {"__name__": "__main__"}
    places = zip(outside(cells), cells, strict=True)
    for is_outside, group in itertools.groupby(places, key=lambda place: place[0]):
        with nullcontext() if is_outside else rehearsal() as seen:
            runs += run_cells([cell for _, cell in group], folder, namespace)
        if seen is not None:
            differing += seen.differences()
            entries += seen.entries()
        if runs[-1].error:
            break
    for kept in namespace.values():  # as at the end of a kernel
        if isinstance(kept, tempfile.TemporaryDirectory):
            kept.cleanup()
    return runs, differing, entries


def filled(path: Path):
    """Return the cells of a lesson as a right reader filled them, each wrong filling of a turn before its right one.

    Returns:
        The cells; and for each wrong filling the id of its turn, in the order in which they run.
    """
    cells, filled_in = code_cells(path), filling(path.name[:2])
    if filled_in is None:
        return cells, []
    ids = [name for name, _ in cells]
    turns = [name for name in ids if re.fullmatch(r"l\d\d-turn\d+", name)]
    assert {name for name in ids if re.fullmatch(r"l\d\d-(turn|predict)\d+", name)} == set(filled_in.filled)
    assert set(turns) == {name for name, sources in filled_in.wrong.items() if sources}
    right = dict(cells) | filled_in.filled | filled_in.shorten(dict(cells))
    checks, wrong, order = dict(cells), [], []
    for name, _ in cells:
        turn = name.removesuffix("-check")
        if turn in turns and name != turn:
            # from the turn to its check: what stands between them may use the turn
            between = ids[ids.index(turn) + 1 : ids.index(name)]
            for number, source in enumerate(filled_in.wrong[turn], start=1):
                wrong += [(f"{turn}-wrong{number}", source), *((each, right[each]) for each in between)]
                wrong += [(f"{turn}-wrong{number}-check", checks[name])]
                order.append(f"{turn}-wrong{number}")
            cells_again = [(turn, right[turn]), *((each, right[each]) for each in between)]
            wrong += cells_again if filled_in.wrong[turn] else []
        wrong.append((name, right[name]))
    return wrong, order


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson(path, tmp_path, monkeypatch):
    """All cells run; the books are equal; no figure is empty; no output speaks of an emulated device.

    The notebook lies alone in a folder, as in Colab, so it has to bring what it reads. As a reader filled it, every
    check of every turn passes, every prediction is compared, and wrong fillings fail.
    """
    monkeypatch.setattr(kept_predictions, "_file", lambda: tmp_path / "predictions.json")
    monkeypatch.setattr(kept_predictions, "_made", {})
    task.reports.clear()
    cells, wrong = filled(path)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(path, alone)
    runs, differing, entries = rehearse(cells, alone)
    counts = any("mps_or_emulated()" in source or "mps_or_emulated(f" in source for _, source in cells)

    assert [(run.cell, run.error) for run in runs if run.error] == []
    assert len(runs) == len(cells)
    assert differing == []
    assert [(run.cell, run.empty_figures) for run in runs if run.empty_figures] == []
    assert [(run.cell, run.output) for run in runs if FALSE_ON_A_MAC.search(run.output)] == []
    assert (entries > 0) == counts
    check_turns(path, runs, wrong)
    record = kept_predictions.read_record(tmp_path / "predictions.json")
    asked = [name for name, _ in cells if re.fullmatch(r"l\d\d-predict\d+", name)]
    assert len(record.compared) >= len(asked), f"compared: {[each.name for each in record.compared]}"
    print(f"{path.stem}: {len(runs)} cells, {entries} entries equal, {len(wrong)} wrong fillings, {record.title()}")


def check_turns(path, runs, wrong):
    """Make sure that the checks of a lesson say no to each wrong filling and yes to each right one."""
    checks = [run.cell for run in runs if run.cell.endswith("-check") and run.reports]
    verdicts = {run.cell.removesuffix("-check"): run.reports for run in runs if run.cell in checks}
    right = [turn for turn in verdicts if re.fullmatch(r"l\d\d-turn\d+", turn)]
    if filling(path.name[:2]) is None:
        return
    assert right, f"{path.stem}: no turn was checked"
    for turn in right:
        failed = [str(outcome) for report in verdicts[turn] for outcome in report.outcomes if not outcome.passed]
        assert failed == [], f"{turn}, filled rightly: {failed}"
    assert [turn for turn in wrong if all(report.passed for report in verdicts[turn])] == []


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
    assert (entries > 0) == (name in USING_THE_DEVICE)
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
