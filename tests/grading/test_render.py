"""Pages are templates with autoescape: text stays text, and hidden characters are shown."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.graded_results import HOSTILE_TEXTS, solved

from course_utils.grading.pages import render as pages
from course_utils.grading.pages.feedback import feedback_page
from course_utils.grading.pages.visible_text import clip, clip_start, visible

TEMPLATES = Path(pages.__file__).parent / "templates"


class Reader(HTMLParser):
    """Collect the elements and the text of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.attributes, self.title = [], "", [], ""

    def handle_starttag(self, tag, attrs):  # noqa: D102
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):  # noqa: D102
        self.text += data
        if self.tags[-1:] == ["title"] and not self.title:
            self.title = data


def read(text):
    """Read a page as a browser does."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_text_stays_text(text):
    """A browser reads back what was put in, as text and as an attribute, and no element more."""
    template = pages._environment().from_string('<p title="{{ text }}">{{ text }}</p>')
    reader = read(template.render(text=text))

    assert reader.tags == ["p"]
    assert reader.text == visible(text)
    assert reader.attributes == [("title", visible(text))]


def test_no_template_switches_escaping_off():
    """No template has a filter or a block that would let text through as HTML."""
    templates = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}

    assert {"page.html", "feedback.html", "overview.html", "style.css"} <= set(templates)
    for name, text in templates.items():
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), name


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\x00", "<U+0000>"),
        ("\x1b", "<U+001B>"),
        ("\u202e", "<U+202E>"),
        ("\u200b", "<U+200B>"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_hidden_characters_are_shown(character, shown):
    """What a browser hides or obeys is written by its number."""
    assert visible(f"a{character}b") == f"a{shown}b"


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "größe дом 学生", "e\u0301", "👩\u200d🚀"])
def test_ordinary_text_is_left_alone(text):
    """Languages, accents, line ends and emoji are not disturbed."""
    assert visible(text) == text


def test_page_runs_nothing_and_loads_nothing():
    """The page's policy allows its own style sheet, by the hash of what it has, and nothing else."""
    text = feedback_page(solved()).decode()
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    policy = dict(policy_attributes(text))["content"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert digest in policy
    assert not re.search(r"<script|<link|<img|<iframe|url\(|@import|http", text.replace("http-equiv", ""))


def policy_attributes(text):
    """Return the attributes of the element that has the policy."""
    return read(re.search(r"<meta http-equiv=[^>]*>", text).group()).attributes


def test_page_has_a_language_and_a_title():
    """A screen reader knows how to read the page, and what it is."""
    text = feedback_page(solved("Ada & co")).decode()

    assert '<html lang="en">' in text
    assert read(text).title == "04_measuring_time: feedback for Ada & co"


def test_clip_keeps_an_end_and_says_so():
    """A cut text has at most the asked length and a word about its own."""
    assert clip("abcdef", 3) == "abc … (cut; 6 characters in all)"
    assert clip_start("abcdef", 3) == "(cut; 6 characters in all) … def"
    assert clip("abc", 3) == clip_start("abc", 3) == "abc"


def test_clip_counts_what_is_shown():
    """A text of hidden characters does not grow eightfold past its limit."""
    assert len(clip("\x00" * 100, 50)) < 100
    assert len(clip_start("\x00" * 100, 50)) < 100
