"""Printed sentences are broken between words, and nothing of them is lost."""

from course_utils.reporting.wrapped import SENTENCE_WIDTH, wrapped


def test_no_line_is_too_long_and_no_word_is_lost():
    """Lines end between words; what was a line of its own stays one."""
    text = "first: " + "a few short words and " * 12 + "the end\nsecond"
    lines = wrapped(text).splitlines()

    assert max(map(len, lines)) <= SENTENCE_WIDTH
    assert lines[-1] == "second"
    assert wrapped(text).split() == text.split()


def test_a_long_word_stays_whole():
    """A link longer than a line, and a word with hyphens, are not broken."""
    link = "github.com/" + "very-long-name/" * 8

    assert wrapped(f"see {link} there").split() == ["see", link, "there"]
    assert wrapped("x " * 34 + "torch-mps-benchmark").splitlines()[-1].strip() == "torch-mps-benchmark"
