"""The walk over a built site finds what is broken, and only that."""

import pytest

from scripts.check_links import main, problems, read_page

GOOD = '<a href="other.html#there">x</a><img src="a.png" alt="A line that rises"><a href="https://pytorch.org">y</a>'


@pytest.fixture
def site(tmp_path):
    """Make a site of two pages without a fault."""
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text('<h1 id="there">There</h1><a href="#there">up</a><a href="index.html">x</a>')
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "style.css").write_text("p { background: url(a.png) }")
    return tmp_path


def test_a_site_without_faults(site, capsys):
    """Links to pages, anchors, files and other sites are fine."""
    assert problems(site) == ()
    assert main([str(site)]) == 0
    assert "no broken link" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ('<a href="gone.html">x</a>', "nothing at gone.html"),
        ('<a href="other.html#gone">x</a>', "no anchor at other.html#gone"),
        ('<a href="#gone">x</a>', "no anchor at #gone"),
        ('<a href="../outside.html">x</a>', "nothing at ../outside.html"),
        ('<a href="sub/">x</a>', "nothing at sub/"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "loads //fonts.example/x.css from elsewhere"),
        ('<link rel="preconnect" href="https://cdn.example">', "loads https://cdn.example from elsewhere"),
        ('<img src="a.png">', "the image a.png has no alt text"),
        ('<img src="a.png" alt="_images/a.png">', "the image a.png has no alt text"),
    ],
)
def test_each_fault_is_named(site, html, message):
    """A broken link or anchor, a script or font from elsewhere, an image without words: each gives its line."""
    (site / "index.html").write_text(html)

    assert problems(site) == (f"index.html: {message}",)


def test_style_sheets_are_read_too(site):
    """A font or another sheet that a style sheet would fetch is named."""
    (site / "style.css").write_text('@import "https://fonts.example/a.css"; p { src: url(//fonts.example/b.woff) }')

    assert [line.split(" loads ")[1] for line in problems(site)] == [
        "https://fonts.example/a.css from elsewhere",
        "//fonts.example/b.woff from elsewhere",
    ]


def test_names_count_as_anchors():
    """An anchor is an id or a name."""
    assert read_page('<a name="old"></a><p id="new"></p>').anchors == {"old", "new"}


def test_an_empty_folder_is_wrong_usage(tmp_path, capsys):
    """Without pages there is nothing to check, which is exit code 2 and says what to do."""
    assert main([str(tmp_path)]) == 2
    assert "make site" in capsys.readouterr().err
