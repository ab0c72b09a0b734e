"""Unknown names are answered with the nearest known ones."""

import pytest

from course_utils.reporting.near_names import near_names, suggest

NAMES = ["resnet18", "resnet50", "mobilenet_v3", "vit_tiny", "BERT_base"]


@pytest.mark.parametrize(
    ("wanted", "first"),
    [("resnet81", "resnet18"), ("RESNET50", "resnet50"), ("bert_base", "BERT_base"), ("vit-tiny", "vit_tiny")],
)
def test_the_nearest_comes_first_as_it_is_spelled(wanted, first):
    """A typing error finds its name, whatever the case of its letters."""
    assert near_names(wanted, NAMES)[0] == first
    assert suggest(wanted, iter(NAMES)).startswith(f"the nearest: {first}")


def test_names_that_differ_in_case_alone_are_all_found():
    """Two names that are equal in lower case both count."""
    assert set(near_names("Ada", ["ada", "ADA", "bob"])) == {"ada", "ADA"}


def test_nothing_similar_lists_what_there_is():
    """Without a similar name the known ones are listed, a long list is cut and counted."""
    assert suggest("qqqq", NAMES) == f"known: {', '.join(NAMES)}"
    text = suggest("qqqq", [f"{n:03d}" for n in range(100)])
    assert text.count(",") < 20
    assert "92 more" in text


def test_nothing_known():
    """An empty list does not end the sentence in the air."""
    assert suggest("x", []) == "there is none"
