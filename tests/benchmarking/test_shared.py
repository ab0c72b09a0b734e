"""Times that readers shared: found by workload and size, drawn hollow, and none where nobody shared any."""

import re

import matplotlib.pyplot as plt
import pytest
from support.described_documents import CPU_S, MPS_S, SIZES, described, product
from support.paths import ROOT

from course_utils.benchmarking.document import DocumentError
from course_utils.benchmarking.figure import FACE
from course_utils.benchmarking.measurement import Comparison
from course_utils.benchmarking.plots import plot_comparison, plot_sweep
from course_utils.benchmarking.shared import plot_shared, shared_times
from course_utils.benchmarking.sweep import Sweep
from course_utils.exercises.reader_files import reader_files

TWO = {"chip": None, "system": "Linux (x86_64)", "cores": 2, "torch_version": "2.13.0"}


@pytest.fixture
def folder(tmp_path):
    """Two shared documents: a Mac's, and one of a machine whose chip has no name."""
    (tmp_path / "a.json").write_text(described().to_json(), encoding="utf-8")
    cpu_only = tuple(Comparison(one.label, one.timings[:1]) for one in described().comparisons)
    (tmp_path / "b.json").write_text(described(TWO, cpu_only).to_json(), encoding="utf-8")
    return tmp_path


def test_times_of_a_workload_are_found(folder):
    """Every machine, device and size is there once, with chip, torch and file; of one size only that size."""
    found = shared_times("matmul", folder=folder)

    seen = sorted((one.source, one.device, one.size, one.seconds) for one in found)
    expected = [("measured/a.json", "cpu", *pair) for pair in zip(SIZES, CPU_S, strict=True)]
    expected += [("measured/a.json", "mps", *pair) for pair in zip(SIZES, MPS_S, strict=True)]
    expected += [("measured/b.json", "cpu", *pair) for pair in zip(SIZES, CPU_S, strict=True)]
    assert [row[:3] for row in seen] == [row[:3] for row in expected]
    assert [row[3] for row in seen] == pytest.approx([row[3] for row in expected])
    assert {one.size for one in shared_times("matmul", size=256, folder=folder)} == {256}
    assert {one.credit for one in found} == {
        "Apple M4, torch 2.14.1, by a reader: measured/a.json",
        "2 CPU cores, Linux (x86_64), torch 2.13.0, by a reader: measured/b.json",
    }


def test_other_workloads_do_not_count(folder):
    """A model's times are not the product's, and a training step is not a forward pass."""
    assert shared_times("resnet18", folder=folder) == ()
    step = Comparison("ResNet-18, train, batch 8", product(64, 1e-3, 1e-4).timings)
    (folder / "c.json").write_text(described({}, (step,)).to_json(), encoding="utf-8")

    assert shared_times("resnet18", folder=folder) == ()
    assert {one.size for one in shared_times("resnet18", "train", folder=folder)} == {8}


def test_without_documents_nothing_is_drawn(tmp_path, monkeypatch):
    """In a course where nobody shared anything, and outside any course, there is nothing."""
    assert shared_times("matmul", folder=tmp_path) == ()
    assert shared_times("matmul", folder=tmp_path / "none") == ()
    monkeypatch.setattr("course_utils.exercises.course.FOLDER", tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    assert shared_times("matmul") == ()


def test_a_file_that_is_none_is_named(folder):
    """What is not a document is not passed over: the message has its name."""
    (folder / "broken.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DocumentError, match=re.escape("broken.json")):
        shared_times("matmul", folder=folder)


def test_they_are_drawn_hollow(folder, capsys):
    """Beside one's own lines and rows, theirs are hollow, named by chip, and the sentence says whose they are."""
    own = described().comparisons
    sweep = Sweep("Matrix product, float32", "matrix side", SIZES, own)
    figures = [plot_sweep(sweep, published=shared_times("matmul", folder=folder))]
    figures.append(plot_comparison(own[1], published=shared_times("matmul", size=256, folder=folder)))
    said = capsys.readouterr().out

    hollow = [line for line in figures[0].axes[0].lines if line.get_markerfacecolor() == FACE]
    assert {str(line.get_label()).partition(" (")[2][:8] for line in hollow} == {"Apple M4", "2 CPU co"}
    assert len(hollow) == 3
    assert len(figures[0].legends) == 1, "so many lines are named below the chart, where they cover none"
    assert said.count("by a reader") >= 4
    plt.close("all")


def test_one_cell_measures_only_beside_others(folder, capsys, monkeypatch):
    """Where somebody shared a size it is measured here and drawn beside; else nothing is measured or said."""
    figure = plot_shared("matmul", size=64, folder=folder, min_time_s=0.05, max_time_s=0.1)
    assert "by a reader" in capsys.readouterr().out
    assert len(figure.axes[0].get_yticklabels()) >= 4
    monkeypatch.setattr("course_utils.benchmarking.shared.compare_devices", None)

    assert plot_shared("matmul", size=128, folder=folder) is None
    assert plot_shared("resnet18", "train", folder=folder) is None
    assert capsys.readouterr().out == ""
    plt.close("all")


def test_readers_get_them():
    """The folder's page, and with it every document, is laid out with the lessons."""
    assert (ROOT / "measured" / "README.md").is_file()
    assert "measured/README.md" in reader_files()
