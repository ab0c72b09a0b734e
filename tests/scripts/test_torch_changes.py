"""What another release changes: made-up releases, made-up lessons, and the report about them."""

from dataclasses import replace

import pytest

from course_utils.operators.history import History
from scripts.lesson_claims import Lesson, Myth
from scripts.torch_changes import (
    Changes,
    Run,
    changed_operators,
    count_changes,
    myths_to_read,
    verdict_words,
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


def lesson(*names, verified="3.1.0", myths=()):
    """Make a lesson that names operators."""
    return Lesson("99_a", verified, f"torch {verified} on Linux", tuple(myths), frozenset(names))


def changes(**parts):
    """Make a report in which nothing changed, or what is given."""
    base = Changes(
        release="3.1.0",
        environment="an environment",
        lessons=(lesson(),),
        operators=(),
        myths=(),
        runs=(Run("99_a", 3.0),),
        gained=(),
    )
    return replace(base, **parts)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"default": "missing"}, {"default": "native"}, ("missing", "native")),
        ({"default": "native"}, {"default": "native"}, None),
        ({"default": "native"}, {}, ("native", "not in torch")),
        ({}, {"default": "native"}, ("not in torch", "native")),
        ({"a": "native"}, {"a": "native", "b": "missing"}, None),
        ({"a": "native", "b": "native"}, {"a": "native", "b": "missing"}, ("b: native", "b: missing")),
        (
            {"a": "native", "b": "missing"},
            {"a": "missing", "b": "native"},
            ("a: native, b: missing", "a: missing, b: native"),
        ),
    ],
)
def test_verdicts_of_an_operator_in_words(before, now, words):
    """Overloads that differ are named; one that is only new changes no claim."""
    assert verdict_words(before, now) == words


def test_changed_operators_are_those_that_lessons_name():
    """Only operators that a lesson names are listed, against the release in its own stamp."""
    lessons = [lesson("pdist"), replace(lesson("pdist", "svd", verified="3.0.0"), name="98_b")]
    found = changed_operators(HISTORY, lessons, "3.2.0")

    assert [(change.operator, change.before, change.now, change.lessons) for change in found] == [
        ("pdist", "missing", "native", ("99_a", "98_b")),
        ("svd", "always on the CPU", "native", ("98_b",)),
    ]


def test_the_operator_inside_counts():
    """A function that is made of others is also looked up by the operator that it ends in."""
    (found,) = changed_operators(HISTORY, [lesson("eig")], "3.2.0")

    assert (found.operator, found.now) == ("_eig", "native")


def test_the_same_release_changes_nothing():
    """Compared with its own release, no operator and no myth is listed."""
    named = lesson("pdist", "svd", "isin", "old", "eig", myths=[Myth("a", "b", "every release")])

    assert changed_operators(HISTORY, [named], "3.1.0") == ()
    assert myths_to_read([named], (), "3.1.0") == ()


def test_an_unread_release_is_an_error():
    """A release that the history lacks is no guess."""
    with pytest.raises(LookupError, match=r"3\.7"):
        changed_operators(HISTORY, [lesson("svd", verified="3.7.0")], "3.2.0")


def test_myths_are_read_again_for_a_reason():
    """A row is listed when its operator changed, or when a newer release is past what it speaks of."""
    myths = [
        Myth("`pdist` raises", "It does", "torch 1.5 to 2.9"),
        Myth("b", "It copies", "every release"),
        Myth("c", "It held up to 2.9", "torch"),
        Myth("d", "Since 2.5", "#1"),
    ]
    named = lesson("pdist", myths=myths)
    operators = changed_operators(HISTORY, [named], "3.2.0")
    found = {entry.myth.reads: entry.reasons for entry in myths_to_read([named], operators, "3.2.0")}

    assert found == {
        "`pdist` raises": ("`pdist`: missing, now native", "speaks of releases up to 2.9"),
        "b": ("says “every release”, read with 3.1",),
        "c": ("speaks of releases up to 2.9",),
    }


def test_an_older_release_opens_no_claim():
    """Looking back, only changed operators matter: the dates of a claim speak for themselves."""
    named = lesson(myths=[Myth("b", "It copies", "every release"), Myth("c", "It held up to 2.9", "torch")])

    assert myths_to_read([named], (), "3.0.0") == ()


def test_all_changes_are_counted():
    """Overloads of all operators are counted by what became of them, most first."""
    assert count_changes(HISTORY, "3.1.0", "3.2.0") == (("missing -> native", 2), ("native -> not in torch", 1))


def test_nothing_to_look_at():
    """When nothing changed the report says so in one sentence; without a run it does not claim one."""
    assert changes().nothing
    assert "all lessons ran as stored" in str(changes())
    assert "no lesson was run" in str(changes(runs=()))


@pytest.mark.parametrize(
    "parts",
    [
        {"release": "3.2.0"},
        {"runs": (Run("99_a", 3.0, error="TypeError: gone"),)},
        {"runs": (Run("99_a", 3.0, different=(("l99-cell", "5", "4"),)),)},
        {"warnings": ("nobody looked",)},
    ],
)
def test_each_kind_of_trouble_is_something(parts):
    """Another release than the stamp's, a failed or different run, a doubt: each is something to look at."""
    assert not changes(**parts).nothing


def test_the_report_is_readable_markdown():
    """Each table has its heading, rows have as many cells as the head, and bars in texts are escaped."""
    myth = Myth("`pdist` raises", "It does", "every release")
    named = lesson("pdist", myths=[myth])
    operators = changed_operators(HISTORY, [named], "3.2.0")
    text = str(
        changes(
            release="3.2.0",
            lessons=(named,),
            operators=operators,
            myths=myths_to_read([named], operators, "3.2.0"),
            runs=(Run("99_a", 3.0, error="TypeError: a | b"), Run("98_b", 2.0, different=(("l98-x", "5", "4"),))),
            gained=count_changes(HISTORY, "3.1.0", "3.2.0"),
            warnings=("nobody looked",),
        )
    )

    assert text.startswith("# torch 3.2.0 and the lessons\n")
    assert "| `pdist` | missing | native | 99_a |" in text
    assert "> doubt: nobody looked" in text
    assert "`5`, stored: `4`" in text
    for block in text.split("\n\n"):
        rows = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1, block
