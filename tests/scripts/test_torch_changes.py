"""What another release changes: made-up releases, made-up lessons, and the report about them."""

import json
from dataclasses import replace

import pytest
from support.paths import ROOT

from course_utils.exercises.course import lesson_paths
from course_utils.operators.history import History
from scripts.torch_changes import (
    LessonClaims,
    LessonRun,
    TorchChanges,
    changed_operators,
    code_names,
    ended_claims,
    marked_code,
    operator_names,
    read_claims,
)

LESSONS = lesson_paths(ROOT)
CARD = "# 99 A lesson\n\n| | |\n|---|---|\n| **Last verified** | torch 2.14.1 on Linux (CPU), 2026-11-30 |\n"
MYTHS = (
    "## Myth or fact?\n\n| You will read | What holds | Since, source |\n|---|---|---|\n"
    '| "`linalg.svd` falls back" | Up to 2.13 always; native since 2.14 | [#185954](https://x.org/to 2.99) |\n'
)
# n: native, m: missing, c: always on the CPU, i: composite, -: not there
HISTORY = History(
    releases=("3.0.0", "3.1.0", "3.2.0"),
    letters={
        "svd": "cnn",
        "pdist": "mmn",
        "old": "nn-",
        "isin.Scalar": "nnn",
        "isin.Tensor": "nmm",
        "isin.out": "-nn",
        "eig": "iii",
        "_eig": "mmn",
    },
    sparse={},
    delegates={},
    unread={},
)


def lesson(*names, verified="3.1.0", rows=()):
    """Make a lesson that names operators."""
    return LessonClaims("99_a", verified, tuple(rows), frozenset(operator_names(names)))


NOTHING = TorchChanges("3.1.0", "an environment", operators=(), ended=(), runs=(LessonRun("99_a"),))


def test_a_lesson_is_read():
    """The stamp, the rows of the table, and names in code and in code marks."""
    code = 'table.verdict("aten::pdist")\nx.mode(dim=1)\ntorch.linalg.eigvals(x)'
    cells = [("markdown", CARD), ("code", code), ("markdown", MYTHS)]
    claims = read_claims("99_a", {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]})

    assert claims.verified == "2.14.1"
    assert len(claims.rows) == 1
    assert {"pdist", "mode", "linalg_eigvals", "_linalg_eigvals", "linalg_svd"} <= claims.names


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('raise ModuleNotFoundError("run `make lab`, or in VS Code take " f"the kernel of {course}")', set()),
        ("x = 1  # take the mean", set()),
        ("def mean(x, *, dim):\n    return f(x, dim=0)", set()),
        ("torch.take(x, i)", {"take"}),
        ("model(x).take(i)", {"take"}),
        ("f = x.std().mean", {"mean", "std"}),
        ('f"{x.take(i)} is the mean"', {"take"}),
        ('for name in ("take", "aten::std"): f(name)', {"std", "take"}),
    ],
)
def test_english_words_in_code_are_no_operators(code, expected):
    """Names that code uses count, and strings that are one name; words of sentences and comments do not."""
    assert operator_names(code_names(code)) & {"take", "mean", "std", "dim"} == expected


def test_words_between_code_marks_are_no_code():
    """A block of code before them does not turn the marks of a text inside out."""
    prose = (
        "Use `torch.std`.\n\n```sh\npip install mode\n```\n\nOn an M1, take `torch.mean`, then take `x.eye()` and\n`b`."
    )

    assert operator_names(marked_code(prose)) & {"std", "mode", "take", "mean", "eye", "an"} == {
        "std",
        "mode",
        "mean",
        "eye",
    }


def test_the_newest_release_of_a_stamp_counts():
    """Where a Mac and another machine verified a lesson with different releases, the newer one is compared."""
    card = CARD.replace("2026-11-30", "2026-11-30; torch 2.9.1 on macOS (mps), 2026-11-30")

    assert read_claims("99_a", {"cells": [{"cell_type": "markdown", "source": card}]}).verified == "2.14.1"


def test_a_lesson_without_a_stamp_is_refused():
    """Without a release in the card there is nothing to compare with."""
    with pytest.raises(ValueError, match="99_a"):
        read_claims("99_a", {"cells": [{"cell_type": "markdown", "source": "# 99 A lesson"}]})


def test_every_lesson_of_the_course_can_be_read():
    """Each lesson has a stamp and at least one row."""
    assert LESSONS
    for path in LESSONS:
        claims = read_claims(path.stem, json.loads(path.read_text(encoding="utf-8")))
        assert claims.rows, path.name
        assert claims.names, path.name


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("pdist", [("pdist", "default: missing", "default: native")]),
        ("svd", []),
        ("old", [("old", "default: native", "not in torch")]),
        ("isin", []),
        ("eig", [("_eig", "default: missing", "default: native")]),
    ],
)
def test_operators_whose_verdict_changed(named, expected):
    """Operators that a lesson names are compared with its own stamp, the one inside a function too."""
    found = changed_operators(HISTORY, [lesson(named)], "3.2.0")

    assert [row[:3] for row in found] == expected


def test_only_the_overload_that_changed_is_named():
    """An overload that changed is named; one that is only new changes no claim."""
    assert changed_operators(HISTORY, [lesson("isin", verified="3.0.0")], "3.1.0") == (
        ("isin", "Tensor: native", "Tensor: missing", "99_a"),
    )


def test_an_unread_release_is_an_error():
    """A release that the history lacks is not guessed."""
    with pytest.raises(LookupError, match=r"3\.7"):
        changed_operators(HISTORY, [lesson("svd", verified="3.7.0")], "3.2.0")


@pytest.mark.parametrize(
    ("row", "release", "listed"),
    [
        ("| a | torch 1.5 to 2.14 | x |", "2.15.0", True),
        ("| a | torch 1.5 to 2.14 | x |", "2.14.2", False),
        ("| a | it held up to 2.9 | x |", "2.15.0", False),
        ("| a | torch 2.9 to 2.14 need macOS 14, 2.15 needs 15 | x |", "2.15.0", False),
        ("| a | torch 2.9 to 2.14 | 2.50 times as fast |", "2.15.0", True),
        ("| a | macOS 14 to 15 | [1.5 to 2.14](https://x.org/to 2.14) |", "2.15.0", True),
        ("| a | since 2.5 | [link](https://x.org/up to 2.14) |", "2.15.0", False),
    ],
)
def test_claims_whose_range_ended(row, release, listed):
    """A row is listed when its range ended after the lesson's stamp and before the new release; links do not count."""
    assert bool(ended_claims([lesson(verified="2.14.1", rows=[row])], release)) is listed


@pytest.mark.parametrize(
    "part",
    [
        {"operators": (("svd", "default: missing", "default: native", "99_a"),)},
        {"ended": (("99_a", "up to 2.14"),)},
        {"runs": (LessonRun("99_a", error="TypeError: gone"),)},
        {"runs": (LessonRun("99_a", different=(("l99-cell", "5", "4"),)),)},
        {"warnings": ("nobody looked",)},
    ],
    ids=str,
)
def test_each_kind_of_change_is_something(part):
    """A changed operator, an ended claim, a failed or different run, a warning: each is something to look at."""
    assert NOTHING.nothing
    assert not replace(NOTHING, **part).nothing


def test_the_report_is_a_markdown_table():
    """Rows have as many cells as the head, and bars in texts are escaped."""
    report = replace(
        NOTHING,
        operators=(("svd", "default: missing", "default: native", "99_a"),),
        runs=(LessonRun("99_a", error="TypeError: a | b"), LessonRun("98_b", different=(("l98-x", "5", "4"),))),
    )
    rows = [line for line in str(report).splitlines() if line.startswith("|")]

    assert "| svd | default: missing | default: native | 99_a |" in rows
    assert "| 98_b | l98-x | 5 | 4 |" in rows
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}
