"""Reading a lesson's claims: its stamp, its myths, and the operators that it names."""

import json

import pytest
from support.paths import ROOT

from scripts.lesson_claims import Myth, operator_name, read_lesson, read_myths

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CARD = "# 99 A lesson\n\n| | |\n|---|---|\n| **Last verified** | torch 2.14.1 on Linux (CPU), 2026-11-30 |\n"
MYTHS = (
    "## Myth or fact?\n\n| You will read | What holds | Since, source |\n|---|---|---|\n"
    '| "`linalg.svd` falls back" | Up to 2.13 always; native since 2.14 | [#185954](https://x.org/2.99) |\n'
)


def notebook(*cells):
    """Make a notebook from (kind, source)."""
    return {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}


def test_a_lesson_is_read():
    """The stamp, the myths, and names in code and prose."""
    code = 'table.verdict("aten::pdist")\nx.mode(dim=1)\ntorch.linalg.eigvals(x)'
    lesson = read_lesson("99_a", notebook(("markdown", CARD), ("code", code), ("markdown", MYTHS)))

    assert lesson.verified == "2.14.1"
    assert lesson.stamp == "torch 2.14.1 on Linux (CPU), 2026-11-30"
    assert len(lesson.myths) == 1
    assert {"pdist", "mode", "linalg_eigvals", "linalg_svd"} <= lesson.names


def test_the_newest_release_of_a_stamp_counts():
    """Where a Mac and another machine verified a lesson with different releases, the newer one is compared."""
    card = CARD.replace("2026-11-30", "2026-11-30; torch 2.9.1 on macOS (mps), 2026-11-30")

    assert read_lesson("99_a", notebook(("markdown", card))).verified == "2.14.1"


def test_a_lesson_without_stamp_is_refused():
    """Without a release in the card there is nothing to compare with, which names the lesson."""
    with pytest.raises(ValueError, match="99_a has no line"):
        read_lesson("99_a", notebook(("markdown", "# 99 A lesson")))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_of_the_course_can_be_read(path):
    """Each lesson has a stamp and at least one myth."""
    lesson = read_lesson(path.stem, json.loads(path.read_text(encoding="utf-8")))

    assert lesson.myths
    assert lesson.verified.startswith("2.")


@pytest.mark.parametrize(
    ("holds", "since", "releases", "ends"),
    [
        ("torch 2.9 to 2.14 need macOS 14, torch 2.15 needs macOS 15", "messages", ("2.9", "2.14", "2.15"), True),
        ("12.3 held up to torch 2.4; 2.5 to 2.8 need 13", "wheels", ("2.4", "2.5", "2.8"), True),
        ("The limit is 1.7 times the set", "every release since 1.13", ("1.13",), False),
        ("took 1.5 µs", "[#1](https://x.org/2.14)", (), False),
        ("Intel wheels ended with torch 2.2.2", "PyPI", ("2.2",), False),
        ("macOS 14.4 brings kernels", "macOS 26", (), False),
    ],
)
def test_releases_of_a_myth(holds, since, releases, ends):
    """Releases of torch are found; releases of macOS, numbers with units and links are none."""
    myth = Myth("people read", holds, since)

    assert myth.releases == releases
    assert myth.ends is ends


def test_words_about_releases_to_come():
    """A claim about every release, or one that still holds, speaks of releases that nobody has seen."""
    assert Myth("a", "b", "every release").open_words == ("every release",)
    assert Myth("a", "b", "[#1](u), still so in 2026").open_words == ("still",)
    assert Myth("a", "b", "torch 2.5").open_words == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torch.linalg.svd", "linalg_svd"),
        ("aten::pdist", "pdist"),
        ("nn.functional.channel_shuffle(x, 2)", "channel_shuffle"),
        ("embedding_renorm_", "embedding_renorm_"),
    ],
)
def test_names_as_operators_are_named(text, name):
    """Functions, methods and operators come to the operator's own name."""
    assert operator_name(text) == name


def test_a_page_without_myths():
    """No table, no rows."""
    assert read_myths("# Title\n") == ()
