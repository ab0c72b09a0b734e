"""The book that comes with the course: the right text, nothing but the text, and its licence beside it."""

import hashlib
import re
from importlib import resources

from course_utils.data.alice import load_alice

DATA = resources.files("course_utils.data")


def test_the_text_is_the_one_that_was_taken_over():
    """No character has changed since."""
    digest = hashlib.sha256(load_alice().encode("ascii")).hexdigest()

    assert digest == "0c2fdd9b25eaeba65f5766b135e707a0dea275ad9fcc596e568519f36156d1cc"


def test_it_has_the_size_that_its_page_states():
    """142,550 characters of 65 kinds, twelve chapters, and words enough to learn from."""
    text = load_alice()

    assert (len(text), len(set(text))) == (142_550, 65)
    assert len(re.findall(r"^CHAPTER [IVX]+\.$", text, re.MULTILINE)) == 12
    assert len(set(re.findall(r"[a-z]+", text.lower()))) > 2000


def test_it_is_the_book_alone():
    """It begins and ends with the book: no page about it, no marks of illustrations, no rows of asterisks."""
    text = load_alice()

    assert text.startswith("CHAPTER I.\nDown the Rabbit-Hole\n\nAlice was beginning to get very tired")
    assert text.endswith("remembering her own child-life, and the happy summer days.\n")
    assert re.findall(r"gutenberg|illustration|[\[\]*_]", text.lower()) == []


def test_licence_and_source_are_beside_the_text():
    """The text beside the file names author, year, licence and source, and the file stays small."""
    text = (DATA / "alice_licence.txt").read_text(encoding="utf-8")

    for needed in ("Lewis Carroll", "1865", "Public domain", "https://github.com/gutenbergbooks/11"):
        assert needed in text
    assert len((DATA / "alice.txt.gz").read_bytes()) < 100_000
