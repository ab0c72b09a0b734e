"""Looking at an installed torch: the environment is asked, the history rebuilt, lessons run beside it."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from course_utils.operators.history import read_history
from scripts import check_new_torch
from scripts.build_operator_history import merge

NATIVE = "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU, MPS: f\n"
MISSING = "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"


def code(cell_id, *texts, tags=("nbval-check-output",)):
    """Make a cell that printed texts."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]
    return {"id": cell_id, "metadata": {"tags": list(tags)}, "outputs": outputs}


def test_the_history_gets_the_release():
    """The release's own operator list decides its column; the others stay."""
    known = merge(None, {"2.13.0": MISSING, "2.14.1": NATIVE}, {})
    data, warnings = check_new_torch.rebuilt_history(known, "2.14.2", MISSING)

    assert data["releases"] == ["2.13.0", "2.14.2"]
    assert read_history(data).letters == {"f": "mm"}
    assert warnings == ()


def test_another_list_than_the_published_one_is_a_warning():
    """A torch whose operator list is not that of the published wheel of the same release is named."""
    known = merge(None, {"2.14.1": NATIVE}, {})

    assert known["yaml_sha256"]["2.14.1"] == hashlib.sha256(NATIVE.encode()).hexdigest()
    assert check_new_torch.rebuilt_history(known, "2.14.1", NATIVE)[1] == ()
    assert "not the one in the macOS wheel" in check_new_torch.rebuilt_history(known, "2.14.1", MISSING)[1][0]


def test_a_release_that_nobody_looked_at_is_a_warning():
    """For a line whose hand registrations are unknown the report says so."""
    _, warnings = check_new_torch.rebuilt_history(merge(None, {"2.14.1": NATIVE}, {}), "2.99.0", NATIVE)

    assert "2.99" in warnings[0]


def test_only_marked_cells_are_compared():
    """A cell whose output is compared gives its first line that differs; others may print what they like."""
    stored = [code("a", "1\n", "2\n"), code("b", "time 1\n", tags=()), code("c", "3\n")]
    now = [code("a", "1\n2\n"), code("b", "time 2\n", tags=()), code("c", "3\n4\n")]

    assert check_new_torch.compare_cells(stored, now) == (("c", "4", "(nothing)"),)


def test_what_lacks_is_named():
    """An environment without what lessons need is named with what to install, by the package's name."""
    answer = json.dumps({"missing": ["yaml", "ipykernel"]})

    with pytest.raises(check_new_torch.UnusableEnvironmentError, match="lacks pyyaml, ipykernel; install it there"):
        check_new_torch.read_probe(Path("other/bin/python"), answer)


def test_this_environment_is_described():
    """The environment that runs the tests has a torch with an operator list."""
    found = check_new_torch.look_at(Path(sys.executable))

    assert found.yaml.exists()
    assert found.words.startswith(f"torch {found.torch}, torchvision ")
    assert "+" not in found.release


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--python", "no/such/python"], "cannot be run"),
        (["--lessons", "77"], "no lesson 77; there are 00"),
    ],
)
def test_wrong_usage_is_a_sentence(arguments, words, capsys):
    """Wrong arguments are exit code 2 with one sentence."""
    assert check_new_torch.main(arguments) == 2
    assert words in capsys.readouterr().err


def lesson(tmp_path, *cells):
    """Write a lesson of code cells, with what they stored."""
    made = [
        {"cell_type": "code", "execution_count": None, "source": source, **code(f"l99-{number}", *stored)}
        for number, (source, *stored) in enumerate(cells)
    ]
    path = tmp_path / "99_a.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_a_lesson_runs_with_the_other_interpreter(tmp_path):
    """The kernel is the interpreter that was asked for, it has the course, and stored outputs are compared."""
    path = lesson(
        tmp_path,
        ("import sys, course_utils; print(sys.executable)", f"{sys.executable}\n"),
        ("print(1 + 1)", "3\n"),
    )
    run = check_new_torch.run_lesson(path, Path(sys.executable))

    assert run.error is None
    assert run.different == (("l99-1", "2", "3"),)


def test_an_error_ends_a_lesson(tmp_path):
    """A cell that raises is reported by its error, and nothing is compared."""
    run = check_new_torch.run_lesson(lesson(tmp_path, ("1 / 0", "2\n")), Path(sys.executable))

    assert run.error == "ZeroDivisionError: division by zero"
    assert run.different == ()


def test_the_claims_are_compared_without_a_run(capsys):
    """--no-run runs no lesson, and the package's history stays as it is."""
    before = check_new_torch.KNOWN_HISTORY.read_bytes()
    exit_code = check_new_torch.main(["--no-run", "--lessons", "07"])
    printed = capsys.readouterr().out

    assert printed.startswith("# torch ")
    assert "0 lessons were run" in printed
    assert exit_code in (0, 1)
    assert check_new_torch.KNOWN_HISTORY.read_bytes() == before
