"""Results show themselves: text in a terminal, an escaped table in a notebook."""

import re
from dataclasses import dataclass

from course_utils.reporting.results import TableResult, TextResult
from course_utils.reporting.tables import LONGEST_UNBROKEN, html_breakable, html_table


@dataclass(frozen=True, repr=False)
class Sizes(TableResult):
    """A result with everything."""

    name: str
    sizes: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    def title(self):  # noqa: D102
        return self.name

    def rows(self):  # noqa: D102
        return [["size"], *([str(size)] for size in self.sizes)]

    def notes(self):  # noqa: D102
        return ["in <bytes>"]


@dataclass(frozen=True, repr=False)
class Sentence(TextResult):
    """A result that is one sentence."""

    text: str

    def __str__(self):
        return self.text


def test_table_notes_and_warnings():
    """A table is titled, its notes and warnings stand below it, and repr is the same text."""
    result = Sizes("a & b", (1, 22), ("too <few>",))

    assert str(result).splitlines() == ["a & b", "  size", "  1", "  22", "  in <bytes>", "  warning: too <few>"]
    assert repr(result) == str(result)


def test_html_is_escaped():
    """Nothing of a name, a note or a warning is markup."""
    html = Sizes("a & b", (1,), ("too <few>",))._repr_html_()

    assert "a &amp; b" in html
    assert "<li>in &lt;bytes&gt;</li><li>warning: too &lt;few&gt;</li>" in html
    assert "<few>" not in html


def test_no_rows_no_table():
    """A heading alone is not drawn in a terminal."""
    assert "size" not in str(Sizes("nothing"))


def test_fields_are_plain_data():
    """`to_dict` gives the fields."""
    assert Sizes("a", (1,)).to_dict() == {"name": "a", "sizes": (1,), "warnings": ()}


def test_text_result():
    """A sentence is its own repr, escaped in a notebook."""
    assert repr(Sentence("a < b")) == "a < b"
    assert Sentence("a < b")._repr_html_() == "<pre>a &lt; b</pre>"


def test_a_long_word_may_be_broken_and_is_copied_whole():
    """A path or a qualified name does not make a table wider than the page: it can be broken after a sign."""
    path, name = "/home/ada/course/lib/torch.py", "a" * 50

    cells = html_table("t", [["where", "what"], [path, name]]).split("<tbody>")[1]

    pieces = re.split(r"<wbr/>|</?\w+[^>]*>", cells)
    assert max(map(len, pieces)) <= LONGEST_UNBROKEN + 2
    assert [path, name] == re.findall(r"<td[^>]*>(.*?)</td>", cells.replace("<wbr/>", ""))


def test_breaking_escapes_each_character_whole():
    """A character that HTML escapes is never split, and short words hold no mark."""
    assert html_breakable("a < b & c") == "a &lt; b &amp; c"
    assert html_breakable("<" * 40).replace("<wbr/>", "") == "&lt;" * 40
