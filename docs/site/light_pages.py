"""A Sphinx extension: what a first visit loads is small, and every button has a name.

The theme brings a style sheet for every part that it could show, and a megabyte and a half of icons as a script; the
pages show a few of either. When the build is finished, style rules whose classes occur on no page go; the dozen icons
that the pages use come from style.css, and rules that draw others go; the index of all words loads on the page of
results only, figures when they are seen, and scripts after the text. The arrows of the table of contents get a name
(WCAG 2.1, rule "summary-name" of axe-core). A notebook's button saves it, also where the server calls it JSON, which a
browser would show.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx

ICON_SCRIPT = "fontawesome"
# what a style sheet of the theme may hold that depends on the page
CONDITIONAL = ("media", "supports", "layer")
_WORD = re.compile(r"[\w-]+")
_CLASS = re.compile(r"\.((?:\\.|[\w-])+)")
_ICON_TAG = re.compile(r"<(script|link)\b[^>]*fontawesome[^>]*>(</script>)?", re.DOTALL)
# what only the page of results needs
_SEARCH_TAG = re.compile(r'<script src="[^"]*/?(searchtools|language_data|searchindex)\.js[^>]*></script>')
RESULTS_PAGE = "search.html"
# scripts do nothing before the page is read, so nobody has to wait for them; the settings are read by the page itself
_WAITS = re.compile(r'<script src="(?![^"]*documentation_options)')
_EARLY_TAG = re.compile(r'<link rel="preload" as="script"[^>]*>\n?')
_SOURCE_LINK = re.compile(r'(<a href="[^"]*_sources/[^"]*") target="_blank"')
# a picture that nobody has scrolled to is wanted on paper all the same
LOADED_FOR_PAPER = """<script>
addEventListener("beforeprint", () => document.querySelectorAll("img").forEach((image) => (image.loading = "eager")));
</script>
"""
_FONT = re.compile(r"@font-face\s*\{[^}]*Font ?\\? ?Awesome[^}]*\}")
# by these names the theme's rules ask for that font
_ICON_FONT = re.compile(r"--fa-font-|Font ?\\? ?Awesome")


def words_of(text: str) -> set[str]:
    """Return every word of a page or a script: a class that is among no page's words is not used."""
    return set(_WORD.findall(text))


def without_unused(css: str, words: set[str]) -> str:
    """Return a style sheet without the selectors that name a class which is not among the words."""
    return "".join(_kept(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), words))


def _kept(rules: list[Any], words: set[str]) -> list[str]:
    found = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [each for each in _selectors(rule.prelude) if _may_match(each, words)]
            declared = tinycss2.serialize(rule.content)
            # a sign in a font that is not loaded would be an empty box
            draws = "content:" in declared and _ICON_FONT.search(declared)
            found += [f"{','.join(selectors)}{{{declared}}}"] if selectors and not draws else []
        elif rule.type == "at-rule" and rule.lower_at_keyword in CONDITIONAL and rule.content is not None:
            inner = _kept(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), words)
            found += [f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{''.join(inner)}}}"] if inner else []
        else:
            found.append(tinycss2.serialize([rule]))
    return found


def _selectors(prelude: list[Any]) -> list[str]:
    """Split a list of selectors at its own commas, not at those within :is(...)."""
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in parts]


def _may_match(selector: str, words: set[str]) -> bool:
    # classes within :is() and :not() are alternatives, not conditions
    plain = re.sub(r":(is|not|where|has)\((?:[^()]|\([^()]*\))*\)", "", selector)
    return all(name.replace("\\", "") in words for name in _CLASS.findall(plain))


def lighten(page: str, *, searches: bool) -> str:
    """Return a page without scripts it has no use for, with named arrows, links that save, and figures that load late.

    Args:
        page: its HTML.
        searches: whether it shows results of a search.
    """
    page = _ICON_TAG.sub("", page)
    page = page if searches else _SEARCH_TAG.sub("", page)
    page = _WAITS.sub(lambda tag: tag.group().replace("<script", "<script defer"), _EARLY_TAG.sub("", page))
    page = re.sub(r"<summary(?![^>]*aria-label)", '<summary aria-label="Show the pages of this part"', page)
    page = _SOURCE_LINK.sub(r"\1 download", page)
    page, pictures = re.subn(r"<img (?![^>]*loading=)", '<img loading="lazy" ', page)
    return page.replace("</body>", f"{LOADED_FOR_PAPER}</body>") if pictures else page


def finish(app: Sphinx, error: Exception | None) -> None:
    """Lighten every page and style sheet of a build that went well."""
    if error is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    words: set[str] = set()
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.parts:  # a template of the theme, which no reader asks for
            path.unlink()
            continue
        page = lighten(path.read_text(encoding="utf-8"), searches=path.name == RESULTS_PAGE)
        path.write_text(page, encoding="utf-8")
        words |= words_of(page)
    for path in folder.rglob("*.js"):
        words |= set() if ICON_SCRIPT in path.name else words_of(path.read_text(encoding="utf-8"))
    for path in sorted((folder / "_static").rglob("*.css")):
        css = path.read_text(encoding="utf-8")
        path.write_text(_FONT.sub("", without_unused(css, words)), encoding="utf-8")
    for path in sorted((folder / "_static").rglob("*")):
        if path.is_file() and (ICON_SCRIPT in path.as_posix() or path.suffix == ".map"):
            path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
