"""The web page as a newcomer meets it: built once, served on loopback, and what its buttons give who clicks them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from course_utils.data.repository import Repository
from support.front_end import open_page
from support.once import made_once
from support.paths import ROOT

PUBLISHED = Repository("https://github.com/someone/course")
LESSON = "00_start_here"
COPY = ["clipboard-read", "clipboard-write"]


def require_sphinx():
    """Skip where the site's tools are not installed."""
    for module in ("sphinx", "myst_nb", "sphinx_book_theme"):
        pytest.importorskip(module, reason=f"{module} is not installed; the extra 'site' brings it")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site once in a run, as one that is published, without running lessons."""
    require_sphinx()
    from scripts import build_site

    def make(folder):
        built = build_site.build(ROOT, folder / "site", execute=False, repository=PUBLISHED)
        assert built == 0, "Sphinx warned; its messages are above"

    return made_once(tmp_path_factory, "published_site", make) / "site"


class Handler(SimpleHTTPRequestHandler):
    """A web server that knows what a notebook is, as some do: JSON, which a browser shows and does not save."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".ipynb": "application/json"}

    def log_message(self, *_):
        """Write no line for each request."""


@contextmanager
def served(folder):
    """Serve a folder on loopback; yield its address."""
    # it listens from here on
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True)
class Offered:
    """What a newcomer took from the page.

    Args:
        commands: what each copy button of the first page put into the clipboard, as lines.
        archive: the course as it was saved.
        notebook: lesson 00 as it was saved from its page.
        colab: where the first page, and the button of lesson 00's page, lead for Colab.
    """

    commands: tuple[list[str], ...]
    archive: Path
    notebook: Path
    colab: tuple[str, str]

    def beginning_with(self, word):
        """Return the commands of the block whose first line begins with a word."""
        (block,) = (lines for lines in self.commands if lines[0].startswith(f"{word} "))
        return block


@pytest.fixture(scope="module")
def offered(site, browser, tmp_path_factory):
    """Click whatever the first page and a lesson's page offer, and keep it."""
    folder = tmp_path_factory.mktemp("Downloads")
    with served(site) as address, open_page(browser, address, permissions=COPY) as (page, refused):
        page.goto(f"{address}/index.html")
        copied = []
        for block in page.locator(".bd-content .highlight").all():
            block.hover()
            block.get_by_role("button").click()
            copied.append(page.evaluate("navigator.clipboard.readText()").splitlines())
        archive = saved(page, page.get_by_role("link", name="the course as one archive"), folder)
        in_colab = page.get_by_role("link", name="The first lesson opens there").get_attribute("href")
        page.get_by_role("link", name="Start here", exact=True).click()
        page.get_by_role("heading", name="00 Start here").wait_for()
        page.get_by_role("button", name="Download this page").click()
        notebook = saved(page, page.get_by_role("link", name="Notebook (.ipynb)"), folder)
        page.get_by_role("button", name="Launch interactive content").click()
        button = page.get_by_role("link", name="Open in Colab").get_attribute("href")
    assert refused == []
    return Offered(tuple(copied), archive, notebook, (in_colab, button))


def saved(page, link, folder):
    """Click a link that saves a file; return where it lies, under the name that the page gives it."""
    with page.expect_download() as download:
        link.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path
