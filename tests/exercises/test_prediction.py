"""Predictions: a number is kept and compared once, dots are not, and the record says how close the reader comes."""

import json
import math

import numpy as np
import pytest
import torch

from course_utils import compare_prediction, predict
from course_utils.cli import main as cli
from course_utils.exercises import kept_predictions
from course_utils.exercises.prediction import ComparedPrediction, TrackRecord, with_unit


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a course without exercises, in whose lesson 07 the kernel runs."""
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept_predictions, "_made", {})
    in_lesson(monkeypatch, "07_fallback")
    return tmp_path


def in_lesson(monkeypatch, name):
    monkeypatch.setenv("JPY_SESSION_NAME", f"/somewhere/notebooks/{name}.ipynb" if name else "")


def new_kernel(monkeypatch):
    monkeypatch.setattr(kept_predictions, "_made", {})


def kept(root):
    path = root / ".course" / "predictions.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def test_a_number_is_compared(course, capsys):
    """The sentence has both numbers with their unit and the factor; text and file say the same."""
    predict("time of the product", 5, "ms")
    compared = compare_prediction("time of the product", 4.2)

    assert "You said 5 ms; it is 4.2 ms: within a factor of 1.2." in capsys.readouterr().out
    assert compared.is_close
    assert kept(course) == {"07_fallback": {"time of the product": {"predicted": 5.0, "unit": "ms", "measured": 4.2}}}


def test_dots_keep_nothing(course, capsys):
    """As stored, a lesson runs, says what to do, and leaves no file."""
    predict("copies", ..., "MB")
    compared = compare_prediction("copies", 8)

    assert compared.predicted is None
    assert "it is 8 MB (you made no prediction)" in capsys.readouterr().out
    assert not (course / ".course").exists()


def test_any_order_and_another_kernel(course, monkeypatch):
    """Comparing first is no error; a number given before the kernel was restarted is found again."""
    assert compare_prediction("waits", 3).factor is None
    predict("waits", 12)
    new_kernel(monkeypatch)

    assert compare_prediction("waits", 3).factor == 4.0


def test_the_first_comparison_counts(course, capsys):
    """Who corrects the number after the measurement sees the new factor; the record keeps the first one."""
    predict("waits", 12)
    compare_prediction("waits", 3)
    predict("waits", 3)
    capsys.readouterr()

    assert compare_prediction("waits", 3).factor == 1.0
    assert "your first one, 12" in capsys.readouterr().out
    assert [each.predicted for each in kept_predictions.track_record(course).compared] == [12.0]


def test_a_number_may_be_changed_before_it_is_compared(course):
    """Before the measurement the last number counts."""
    predict("waits", 12)
    predict("waits", 2)
    compare_prediction("waits", 3)

    assert [each.predicted for each in kept_predictions.track_record(course).compared] == [2.0]


def test_lessons_do_not_mix(course, monkeypatch):
    """The same name in two lessons, or in one that the kernel does not tell, is three predictions."""
    for lesson in ("07_fallback", "", "08_trust_but_verify"):
        in_lesson(monkeypatch, lesson)
        predict("x", 1)
        compare_prediction("x", 1)
    record = kept_predictions.track_record(course)

    assert [each.lesson for each in record.compared] == ["07_fallback", "08_trust_but_verify", ""]


@pytest.mark.parametrize("name", ["console", "Untitled.ipynb", "07_fallback.py", ""])
def test_other_sessions_are_no_lesson(monkeypatch, name):
    """Only a notebook's name with a number is a lesson."""
    monkeypatch.setenv("JPY_SESSION_NAME", name)

    assert kept_predictions.current_lesson() == ""


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, 0, "5", "5 ms", None, True, [5], 1j, torch.ones(2), 10**400])
def test_what_is_no_number_is_refused(course, value):
    """One sentence says what to do instead; nothing is kept."""
    with pytest.raises(ValueError, match="give a") as refused:
        predict("x", value)

    assert "\n" not in str(refused.value)
    assert kept(course) == {}


@pytest.mark.parametrize("value", [5, 5.0, np.int64(5), np.float32(5), torch.tensor(5), torch.tensor(5.0)])
def test_numbers_of_all_kinds(course, value):
    """NumPy's and torch's numbers are numbers."""
    predict("x", value)

    assert compare_prediction("x", value).factor == 1.0


@pytest.mark.parametrize("measured", [math.nan, -1, "4"])
def test_a_measurement_is_a_number(course, measured):
    """A lesson that measured no number is wrong, and told so."""
    with pytest.raises(ValueError, match="give a"):
        compare_prediction("x", measured)


def test_nothing_was_measured(course):
    """No factor leads from a number to 0: that prediction was not close."""
    predict("x", 5)

    assert math.isinf(compare_prediction("x", 0).factor)
    json.dumps(kept_predictions.track_record(course).to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"a": 1}', '{"a": {"b": {"predicted": "5", "unit": ""}}}', '{"a": {"b": {}}}', "\xff"]
)
def test_a_spoiled_file_is_named_and_left(course, text, capsys):
    """What is in the file and is not ours is said, not lost; the prediction holds in this kernel."""
    path = course / ".course" / "predictions.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    predict("x", 2)
    compared = compare_prediction("x", 4)

    assert compared.factor == 2.0
    assert compared.warnings
    assert path.read_bytes() == text.encode("latin-1")
    assert kept_predictions.track_record(course).warnings


def test_a_folder_that_cannot_be_written(course):
    """Where nothing can be kept the comparison still works, and says so."""
    (course / ".course").write_text("a file in the folder's place")
    predict("x", 2)
    compared = compare_prediction("x", 2)

    assert compared.factor == 1.0
    assert compared.warnings


def record(*factors):
    rows = [("03_devices", factor) if n < 3 else ("04_measuring_time", factor) for n, factor in enumerate(factors)]
    return TrackRecord(tuple(ComparedPrediction(str(n), f, 1.0, "", lesson) for n, (lesson, f) in enumerate(rows)))


def test_the_record():
    """Counts, median and one mark for each prediction, by lesson, in text and as a table."""
    found = record(1.5, 0.1, 2.0, 0.5, 30.0)

    assert found.title() == "3 of 5 predictions within a factor of 2; the median factor is 2."
    assert [row[1:] for row in found.rows()[1:]] == [("#.#", "2 of 3", "2"), ("#.", "1 of 2", "16")]
    assert ">#.#</td>" in found._repr_html_()


def test_progress_ends_with_the_record(course, capsys):
    """`course progress` shows it after the exercises, in JSON too."""
    folder = course / "exercises" / "01_x"
    folder.mkdir(parents=True)
    (folder / "01_x.ipynb").write_text('{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    predict("waits", 12)
    compare_prediction("waits", 3)
    capsys.readouterr()
    cli.main(["progress", "--no-run"])
    assert "0 of 1 predictions within a factor of 2; the median factor is 4." in capsys.readouterr().out
    cli.main(["progress", "--no-run", "--json"])
    assert json.loads(capsys.readouterr().out)["predictions"]["within_factor_2"] == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5 ms"), (4.2, "4.2 ms"), (0.00012345, "0.000123 ms"), (1234567.8, "1,234,568 ms"), (2e9, "2e+09 ms")],
)
def test_numbers_are_short(value, text):
    """Three digits, whole numbers in full."""
    assert with_unit(value, "ms") == text
