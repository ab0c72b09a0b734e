"""The web page: all lessons and exercises are on it, its links hold, and two builds give the same bytes."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.browser import COLOURS, browser, violations  # noqa: F401
from support.described_documents import described
from support.first_page import PUBLISHED, require_sphinx
from support.found import found
from support.submissions import EXERCISES, ROOT

from course_utils.data.repository import Repository
from scripts import build_site, site_pages
from scripts.check_links import problems

pytestmark = pytest.mark.slow

SPEC = importlib.util.spec_from_file_location("light_pages", ROOT / "docs" / "site" / "light_pages.py")
light_pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(light_pages)

TITLE = "# Exercise 04: Measuring time\n\n| task | minutes |\n|---|---|\n| 4.1 Median | 5 |\n\nText | with a bar"
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
COLAB = "https://colab.research.google.com/"
SMALL_README = "# A course\n\n```sh\nmake lab\n```\n\nA pitch.\n\n## The lessons\n\n[00](notebooks/{0}.ipynb)\n"


def text_of(site, page):
    """Read a page."""
    return (site / page).read_text(encoding="utf-8")


def checksums(folder):
    """Return the checksum of each file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def environment(hash_seed):
    """Return this process's environment with a hash seed, another time zone and another language."""
    return os.environ | {"PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo", "LANG": "C"}


def test_title_and_table_are_read():
    """A notebook's title, and the rows of its table without the header."""
    assert site_pages.read_title(TITLE) == site_pages.Title("Exercise 04: Measuring time", (("4.1 Median", "5"),))


def test_a_notebook_without_title_is_refused():
    """A first cell that begins otherwise is named."""
    with pytest.raises(ValueError, match="not with 'Hello'"):
        site_pages.read_title("Hello")


def test_sections_leave_code_alone():
    """A comment in a code block is no heading."""
    assert site_pages.sections("a\n## B\n```sh\n## c\n```\n## D\nd\n") == {
        "": "a\n",
        "B": "```sh\n## c\n```\n",
        "D": "d\n",
    }


def test_linked_files_are_those_of_the_course(tmp_path):
    """Only files of the course count: no page of another site, no anchor, nothing that is missing."""
    (tmp_path / "a.png").write_bytes(b"")
    page = tmp_path / "page.md"
    text = "![A](a.png) [b](https://pytorch.org) [c](#c) [d](gone.md) [e](../../etc/hostname)"

    assert build_site.linked_files(page, text, tmp_path) == [tmp_path / "a.png"]


def test_no_link_is_broken(site):
    """Every internal link and anchor leads somewhere, images have words, and nothing loads from elsewhere."""
    assert problems(site) == ()


def test_every_lesson_and_exercise_has_its_page(site):
    """The first page leads to each lesson, the list of exercises to each exercise and its download."""
    index, exercises = text_of(site, "index.html"), text_of(site, "exercises.html")
    for name in found(LESSONS):
        assert f'href="notebooks/{name}.html"' in index
        assert (site / "_sources" / "notebooks" / f"{name}.ipynb").exists()
    for name in found(EXERCISES):
        assert f'href="exercises/{name}/{name}.html"' in exercises
        assert re.search(rf'href="_downloads/[0-9a-f]+/{name}\.ipynb"', exercises)


def test_downloads_are_the_released_notebooks(site):
    """What a student downloads is the file in exercises/, byte for byte."""
    downloads = {path.name: path for path in (site / "_downloads").rglob("*.ipynb")}

    assert sorted(path.removesuffix(".ipynb") for path in downloads) == EXERCISES
    for name in EXERCISES:
        released = ROOT / "exercises" / name / f"{name}.ipynb"
        assert downloads[f"{name}.ipynb"].read_bytes() == released.read_bytes()


def test_no_solution_is_on_the_site(site):
    """No page, source or download of an exercise holds a solution or a hidden test."""
    files = [path for path in site.rglob("*") if path.is_file() and path.stem in EXERCISES]
    exercises = [path for path in files if "notebooks" not in path.parts]

    assert len(exercises) == 3 * len(EXERCISES)
    for path in exercises:
        text = path.read_text(encoding="utf-8")
        assert "raise" in text, f"{path.name}: the student's placeholders are not there"
        assert not any(mark in text for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS")), path.name


def test_search_knows_the_lessons(site):
    """The search index lists the titles of all lessons, and comes as a script, so that it works from a folder."""
    index = text_of(site, "searchindex.js")
    for name in found(LESSONS):
        title = site_pages.read_title(first_cell(name)).name
        assert json.dumps(title)[1:-1] in index


def first_cell(name):
    """Return the first cell of a lesson."""
    return "".join(json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"])


def test_titles_name_a_page_and_the_course(site):
    """The first page is the course, and says so once."""
    names = [re.search("<title>(.*)</title>", text_of(site, name))[1] for name in ("index.html", "guide.html")]

    assert names == [
        "PyTorch on Apple Silicon, a hands-on course",
        "Set up and use the course &#8212; " + names[0][:24],
    ]


def test_light_and_dark(site):
    """A reader can choose light or dark, and by default gets what the system says."""
    assert "theme-switch" in text_of(site, "index.html")


def test_two_builds_are_the_same(site, tmp_path):
    """Another build, in another folder and with another hash seed, gives the same bytes."""
    again = tmp_path / "site"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    code += "from pathlib import Path\nfrom scripts.build_site import ROOT, Repository, build\n"
    code += f"sys.exit(build(ROOT, Path({str(again)!r}), execute=False, repository={PUBLISHED!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(hash_seed="7"))

    assert checksums(again) == checksums(site)


def test_off_says_so(site):
    """Without a run the first page says that the lessons were not run."""
    assert "were not run for these pages" in text_of(site, "index.html")


def test_old_pages_go(tmp_path):
    """Pages of an earlier preparation do not stay."""
    stale = tmp_path / "source" / "old.md"
    stale.parent.mkdir()
    stale.write_text("# Old")
    build_site.stage(ROOT, tmp_path / "source", executed=False, repository=PUBLISHED)

    assert not stale.exists()
    assert Path(tmp_path / "source" / "index.md").exists()


def pages_of(site):
    """Return the site's pages that a reader reads, by path; the empty index of terms is none."""
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return found(name for name in names if name != "genindex.html")


def test_no_page_is_missing(site):
    """The tests below walk over every lesson, exercise and document, and over the pages that are made for the site."""
    documents = {f"docs/{path.stem}.html" for path in found((ROOT / "docs").glob("*.md"))}
    lessons = {f"notebooks/{name}.html" for name in found(LESSONS)}
    exercises = {f"exercises/{name}/{name}.html" for name in found(EXERCISES)}
    made = {"index.html", "guide.html", "exercises.html", "measured.html", "search.html"}

    assert {*pages_of(site)} == documents | lessons | exercises | made | {"CONTRIBUTING.html", "benchmarks/README.html"}


def test_text_is_shown_before_scripts_are_there(site):
    """Before its text a page needs style sheets and the site's settings; every other script waits."""
    trouble = {}
    for name in found(pages_of(site)):
        page = (site / name).read_text(encoding="utf-8")
        tags = re.findall(r'<script\b[^>]*\bsrc="(?:[^"?]*/)?([^"?/]+)[^>]*>', page)
        waiting = re.findall(r'<script\b(?=[^>]*\bdefer\b)[^>]*\bsrc="(?:[^"?]*/)?([^"?/]+)[^>]*>', page)
        early = re.findall(r"<link\b[^>]*\bpreload\b[^>]*>", page)
        assert "sphinx-book-theme.js" in tags
        seen = sorted({*tags} - {*waiting, "documentation_options.js"}) + early
        trouble |= {name: seen} if seen else {}

    assert trouble == {}


# the lines of code that a reader has to scroll to, by their beginning
SCROLLED = """[...document.querySelectorAll('.bd-content pre')]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.slice(0, 60))"""
LAPTOP_WIDTHS_PX = (1024, 1280)


def test_every_page_is_accessible_light_and_fits_a_phone(site, browser):  # noqa: F811
    """axe-core finds nothing against WCAG 2.1 AA, a visit loads at most 500 KB, no page scrolls sideways at 390 px.

    On a laptop's screen the code of lessons and exercises is shown whole. Colours are asked of each kind of page below:
    they come from one style.
    """
    context = browser.new_context(bypass_csp=True, viewport={"width": 390, "height": 800}, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(120_000)  # a busy machine is no fault of a page
    loaded = []
    page.on("requestfinished", lambda request: loaded.append(request.url))
    trouble = {}
    for name in pages_of(site):
        loaded.clear()
        page.goto((site / name).as_uri(), wait_until="load")
        files = {Path(url.removeprefix("file://").partition("?")[0]) for url in loaded if url.startswith("file:")}
        size = sum(path.stat().st_size for path in files)
        assert site / name in files
        wide = page.evaluate("document.documentElement.scrollWidth")
        seen = [f"{size} bytes"] if size > 500_000 else []
        seen += ([f"{wide} px wide"] if wide > 390 else []) + violations(page, without=COLOURS)
        for width in LAPTOP_WIDTHS_PX if name.startswith(("notebooks/", "exercises/")) else ():
            page.set_viewport_size({"width": width, "height": 800})
            seen += [f"at {width} px: {code}" for code in page.evaluate(SCROLLED)]
        page.set_viewport_size({"width": 390, "height": 800})
        trouble |= {name: seen} if seen else {}
    context.close()

    assert trouble == {}


# what stands before or after an element in the font of icons, which the pages do not have
EMPTY_BOXES = """[...document.querySelectorAll('*')].filter(one => ['::before', '::after'].some(place => {
    const style = getComputedStyle(one, place);
    return !['none', 'normal', '""'].includes(style.content) && style.fontFamily.includes('Awesome');
})).map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_kind_of_page_has_colours_to_read(site, browser, theme):  # noqa: F811
    """A first page, a list, a lesson, an exercise and a document, in both themes: contrast, links, no empty box."""
    context = browser.new_context(
        bypass_csp=True, viewport={"width": 1280, "height": 800}, color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(120_000)  # a busy machine is no fault of a page
    kinds = ("index.html", "exercises.html", "search.html", f"notebooks/{LESSONS[0]}.html", "docs/audit.html")
    trouble = {}
    for name in (*kinds, f"exercises/{EXERCISES[0]}/{EXERCISES[0]}.html"):
        page.goto((site / name).as_uri())
        seen = violations(page, only=COLOURS) + page.evaluate(EMPTY_BOXES)
        trouble |= {name: seen} if seen else {}
    context.close()

    assert trouble == {}


A4_PX = 718  # what margins of a centimetre leave of A4, at 96 pixels an inch
# code, tables and pictures that are wider than themselves or than the paper, by the beginning of their text
CUT = """width => [...document.querySelectorAll('.bd-content :is(pre, table, img, code)')]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
                   || one.getBoundingClientRect().right > width + 1)
    .map(one => one.textContent.slice(0, 60))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paper_shows_all(site, browser, theme):  # noqa: F811
    """Printed on A4, no code, table or picture is cut off, and text has contrast, in a dark theme too."""
    context = browser.new_context(
        bypass_csp=True, viewport={"width": A4_PX, "height": 1000}, color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(120_000)  # a busy machine is no fault of a page
    for name in ("docs/grading.html", f"notebooks/{LESSONS[4]}.html"):
        page.goto((site / name).as_uri())
        page.emulate_media(media="print", color_scheme=theme)
        assert page.evaluate(CUT, A4_PX) == [], name
        assert violations(page, only=("color-contrast",)) == [], name
    page.emulate_media(media="screen", color_scheme=theme)
    assert page.evaluate(CUT, A4_PX), "on the screen long lines scroll, so this test can find them"
    context.close()


def test_the_course_can_be_downloaded(site):
    """The first page offers an archive that holds lessons, exercises and set-up, and no solution."""
    (archive,) = (site / "_downloads").rglob("*.zip")
    with zipfile.ZipFile(archive) as opened:
        names = {name.partition("/")[2] for name in opened.namelist()}

    assert archive.name in text_of(site, "index.html")
    assert {f"exercises/{name}/{name}.ipynb" for name in EXERCISES} <= names
    assert {"Makefile", "pyproject.toml", "course_utils/__init__.py"} <= names
    assert not [name for name in names if name.startswith(("solutions", "tests"))]


def outside_links(page):
    """Return the links of a page that lead to the repository or to Colab."""
    return [link for link in re.findall(r'href="([^"]+)"', page) if link.startswith((PUBLISHED.address, COLAB))]


def test_a_published_site_leads_to_the_repository(site):
    """Every page has the repository and its issues; a lesson opens in Colab, an exercise and a document do not."""
    lesson, exercise = f"notebooks/{LESSONS[0]}", f"exercises/{EXERCISES[0]}/{EXERCISES[0]}"
    links = {name: outside_links(text_of(site, f"{name}.html")) for name in (lesson, exercise, "docs/audit", "index")}

    for found_links in links.values():
        assert PUBLISHED.address in found_links
        assert any(link.startswith(PUBLISHED.issues) for link in found_links)
    colab = [link for link in links[lesson] if link.startswith(COLAB)]
    assert colab == [f"{COLAB}github/someone/course/blob/main/{lesson}.ipynb"]
    assert not [link for name in (exercise, "docs/audit") for link in links[name] if link.startswith(COLAB)]
    shown = re.sub(r"<[^>]+>", "", text_of(site, "index.html"))
    assert f"git clone {PUBLISHED.address} course" in shown


def write_notebook(path, text, code=None):
    """Write a notebook of one text cell, and one code cell where there is code."""
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": text}]
    if code:
        run = {"execution_count": None, "outputs": [], "metadata": {}}
        cells.append(run | {"cell_type": "code", "id": "b", "source": code})
    frame = {"metadata": {"kernelspec": {"name": "python3", "display_name": "a"}}, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(frame | {"cells": cells}), encoding="utf-8")


def small_course(root, name, code):
    """Write a course of one lesson and one exercise."""
    write_notebook(root / "notebooks" / f"{name}.ipynb", "# 01 A lesson", code)
    task = "| task | level | minutes | points |\n|---|---|---|---|\n| 1.1 One | easy | 5 | 2 |"
    write_notebook(root / "exercises" / name / f"{name}.ipynb", f"# Exercise 01: Small\n\n{task}")
    texts = {
        "benchmarks/README.md": "# Benchmarks\n",
        "docs/send_measurements.md": "# Send what your Mac measured\n",
        "measured/apple_m4_16gb_torch_2.14.1.json": described().to_json(),
        "README.md": SMALL_README.format(name),
    }
    for page, text in texts.items():
        (root / page).parent.mkdir(exist_ok=True)
        (root / page).write_text(text, encoding="utf-8")


def test_a_site_that_runs_and_has_no_address(tmp_path, capfd):
    """Outputs are on the page, not in the download; with the placeholder nothing leads to a repository, as it says."""
    require_sphinx()
    root, name = tmp_path / "course", "01_small"
    small_course(root, name, "print('made', 'here', __import__('pathlib').Path.cwd().name)")
    address = "https://github.com/OWNER/course"
    built = build_site.build(root, tmp_path / "site", execute=True, repository=Repository(address))

    said = capfd.readouterr().err
    pages = found((tmp_path / "site").rglob("*.html"))
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert built == 0, said
    assert f"{name}: ran" in said
    assert "made here notebooks" in text
    assert "Apple M4" in (tmp_path / "site" / "measured.html").read_text(encoding="utf-8")
    downloaded = tmp_path / "site" / "_sources" / "notebooks" / f"{name}.ipynb"
    assert downloaded.read_bytes() == (root / "notebooks" / f"{name}.ipynb").read_bytes()
    assert "no address of the repository" in said
    assert "OWNER" not in text
    assert COLAB not in text
    assert "source-repository-button" not in text


def test_a_lesson_that_fails_stops_the_build(tmp_path, capfd):
    """The lesson and its error are named, and no page is made."""
    require_sphinx()
    small_course(tmp_path / "course", "01_small", "1 / 0")

    assert build_site.build(tmp_path / "course", tmp_path / "site", execute=True) == 1
    said = capfd.readouterr().err
    assert "01_small: failed, ZeroDivisionError: division by zero" in said
    assert "no site was built" in said
    assert not (tmp_path / "site").exists()


def test_pictures_load_late_and_on_paper():
    """A picture loads when it is seen, or before a page is printed; a page without pictures gets no script for it."""
    page = light_pages.lighten('<body><img src="a.png"><img loading="eager" src="b.png"></body>', searches=False)

    assert page.count('loading="lazy"') == 1
    assert page.index("beforeprint") < page.index("</body>")
    assert light_pages.lighten("<body>text</body>", searches=False) == "<body>text</body>"


def test_unused_rules_go_and_used_ones_stay():
    """A rule goes only when each of its selectors names a class that is nowhere; what stands in :not does not count.

    A rule that writes a sign of the font of icons goes too: the font is not there.
    """
    css = ".used{a:b}.gone{c:d}.used,.gone{e:f}@media print{.gone{g:h}.used{i:j}}p:not(.gone){k:l}a:is(.x,.y) b{m:n}"

    kept = light_pages.without_unused(css, {"used"})

    assert light_pages.without_unused(".used:after{content:var(--i);font:var(--fa-font-solid)}", {"used"}) == ""
    assert kept == ".used{a:b}.used{e:f}@media print{.used{i:j}}p:not(.gone){k:l}a:is(.x,.y) b{m:n}"
