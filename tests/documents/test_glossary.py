"""The glossary: each word in one sentence, in order, with the lesson that shows it."""

import re

from support.found import found
from support.paths import ROOT

PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
ROWS = [row.strip("|").split("|") for row in PAGE.splitlines() if row.startswith("| ")][1:]
WORDS = [row[0].strip() for row in ROWS]


def test_words_in_order():
    """The words are in alphabetical order, each once."""
    assert sorted(WORDS, key=str.casefold) == WORDS
    assert len(set(WORDS)) == len(WORDS)


def test_one_sentence_and_a_lesson():
    """Each row is one sentence and one link, whose number is its lesson's."""
    for word, meaning, lesson in found(ROWS):
        text = meaning.strip()
        assert text[0].isupper(), word
        assert text.endswith("."), word
        assert ". " not in text, f"{word}: one sentence"
        number, target = re.fullmatch(r" \[(\d\d)\]\(\.\./notebooks/((?:\d\d)_\w+\.ipynb)\) ", lesson).groups()
        assert target.startswith(number), word
        assert (ROOT / "notebooks" / target).is_file(), word


def test_other_links_resolve():
    """Links to other pages find them."""
    for target in found(re.findall(r"\]\(([^)#]+)\)", PAGE)):
        assert (ROOT / "docs" / target).exists(), target
