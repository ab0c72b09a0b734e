"""`predict` and `compare_prediction`: the reader's predictions of this process and in the course's folder .course/.

The file is `.course/predictions.json`: {lesson: {name: {"predicted", "unit", "measured"}}}. The first comparison with a
number is the one that counts: a prediction that is corrected after the measurement is shown, and not kept.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from course_utils.exercises.course import find_course_root
from course_utils.exercises.known_results import FOLDER
from course_utils.exercises.prediction import (
    UNKNOWN_LESSON,
    ComparedPrediction,
    Prediction,
    TrackRecord,
    as_number,
    with_unit,
)
from course_utils.reporting.files import write_file
from course_utils.reporting.wrapped import wrapped

FILE = "predictions.json"
Kept = dict[str, dict[str, dict[str, Any]]]

# what this process was told, by lesson and name; the file may not be writable
_made: dict[tuple[str, str], Prediction] = {}


def predict(name: str, value: Any, unit: str = "") -> Prediction:
    """Note what you expect before you measure it; `compare_prediction` says afterwards how close it was.

    Args:
        name: what is predicted, such as "time of the product".
        value: your number, above 0; `...` while you have none.
        unit: its unit, such as "ms".

    Returns:
        The prediction, which is printed. A number is kept in `.course/predictions.json`; dots keep nothing.

    Raises:
        ValueError: when the value is neither dots nor a finite number above 0.
    """
    prediction = Prediction.of(name, value, unit, current_lesson())
    _made[prediction.lesson, name] = prediction
    if prediction.value is not None:
        problem = _keep(prediction.lesson, name, {"predicted": prediction.value, "unit": unit})
        prediction = replace(prediction, warnings=problem)
    print(wrapped(str(prediction)))
    return prediction


def compare_prediction(name: str, measured: Any) -> ComparedPrediction:
    """Compare what was measured with what was predicted under the same name, and print both with their factor.

    Args:
        name: the name that `predict` was given.
        measured: what came out, in the unit of the prediction; 0 or more.

    Returns:
        The comparison, which is printed. The first one with a number is kept for `course progress`.

    Raises:
        ValueError: when the measured value is not a finite number, 0 or more.
    """
    number, lesson = as_number(measured), current_lesson()
    made = _made.get((lesson, name))
    warnings: tuple[str, ...] = ()
    kept: dict[str, Any] = {}
    if made is None or made.value is None:
        found, warnings = _read()
        kept = found.get(lesson, {}).get(name, {})
    predicted = made.value if made is not None and made.value is not None else kept.get("predicted")
    unit = made.unit if made is not None else kept.get("unit", "")
    compared = ComparedPrediction(name, predicted, number, unit, lesson, warnings)
    if predicted is not None:
        row = {"predicted": predicted, "unit": unit, "measured": number}
        compared = replace(compared, warnings=_keep(lesson, name, row))
    print(wrapped(str(compared)))
    return compared


def current_lesson() -> str:
    """Return the name of the notebook that this kernel runs, such as "04_measuring_time"; empty where it is not told.

    jupyter_server (2.0 and newer) tells it by JPY_SESSION_NAME, VS Code by a variable in the notebook.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    told = getattr(shell, "user_ns", {}).get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    name = re.match(r"(\d\d_\w+)\.ipynb", Path(str(told)).name)
    return name[1] if name else UNKNOWN_LESSON


def track_record(root: Path) -> TrackRecord:
    """Read how well the reader predicts.

    Args:
        root: the course's root.
    """
    return read_record(root / FOLDER / FILE)


def read_record(path: Path) -> TrackRecord:
    """Read a file of predictions: those that were compared, in the order of the lessons."""
    kept, problem = _read_file(path)
    compared = [
        ComparedPrediction(name, row["predicted"], row["measured"], row["unit"], lesson)
        for lesson, rows in sorted(kept.items(), key=lambda item: (not item[0], item[0]))
        for name, row in rows.items()
        if "measured" in row
    ]
    return TrackRecord(tuple(compared), problem)


def _file() -> Path:
    return find_course_root() / FOLDER / FILE


def _read() -> tuple[Kept, tuple[str, ...]]:
    try:
        return _read_file(_file())
    except FileNotFoundError:
        return {}, ()  # not in a course: nothing was kept


def _read_file(path: Path) -> tuple[Kept, tuple[str, ...]]:
    """Read the kept predictions; what is not there is empty, what cannot be read is a warning."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, ()
    except (OSError, UnicodeDecodeError) as error:
        return {}, (
            f"{path.parent.name}/{path.name} cannot be read ({type(error).__name__}); remove it to start again",
        )
    try:
        return _checked(json.loads(text)), ()
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}, (f"{path.parent.name}/{path.name} does not hold predictions; remove it to start again",)


def _checked(data: Any) -> Kept:
    """Return what a file holds.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: when it does not hold predictions.
    """
    kept: Kept = {}
    for lesson, rows in data.items():
        for name, row in rows.items():
            unit = str(row["unit"])
            checked = {"predicted": Prediction.of(name, row["predicted"]).value, "unit": unit}
            if "measured" in row:
                checked["measured"] = as_number(row["measured"])
            kept.setdefault(lesson, {})[name] = checked
    return kept


def _keep(lesson: str, name: str, row: dict[str, Any]) -> tuple[str, ...]:
    """Keep a row, unless one with a measurement is there already.

    Returns:
        Why it could not be kept; empty when it was, or when an earlier comparison counts.
    """
    try:
        path = _file()
        kept, problem = _read_file(path)
        earlier = kept.get(lesson, {}).get(name, {})
        if "measured" in earlier and "measured" in row and earlier["predicted"] != row["predicted"]:
            return (f"what counts is your first one, {with_unit(earlier['predicted'], earlier['unit'])}",)
        if problem or "measured" in earlier:
            return problem
        kept.setdefault(lesson, {})[name] = row
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json.dumps(kept, indent=1))
    except OSError as error:  # not in a course, or a folder that cannot be written
        return (f"it is kept until the kernel ends, not for `course progress` ({error.strerror or error})",)
    return ()
