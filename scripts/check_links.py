"""Walk a built site: every internal link and anchor has to lead somewhere, and nothing may load from elsewhere.

    python scripts/check_links.py build/site

Links to other sites are not followed: a check that needs the network fails for reasons of its own.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# what a browser loads by itself while it shows a page; a link with one of these relations too
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "embed": "src", "object": "data"}
LOADING_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
LOADED_BY_CSS = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)")


@dataclass(frozen=True)
class Page:
    """What the check needs of one page.

    Args:
        anchors: the ids and names that a link can lead to.
        links: the targets of its links and of what it loads, as written.
        loads: those that a browser loads by itself.
        images_without_text: sources of images that have no alt text, or a file's name as such.
    """

    anchors: frozenset[str]
    links: tuple[str, ...]
    loads: tuple[str, ...]
    images_without_text: tuple[str, ...]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.images_without_text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        target = found.get(LOADING.get(tag, ""))
        if target:
            self.loads.append(target)
        if tag == "link" and LOADING_RELATIONS & set(found.get("rel", "").split()):
            self.loads.append(found.get("href", ""))
        elif tag in ("a", "area", "link") and found.get("href"):
            self.links.append(found["href"])
        if tag == "img" and (found.get("alt", "").strip() in ("", found.get("src", "")) or _is_path(found["alt"])):
            self.images_without_text.append(found.get("src", ""))


def _is_path(text: str) -> bool:
    """Return whether an alt text is only the name of a file, which is what Sphinx writes where it was given none."""
    return re.fullmatch(r"\S+\.(png|svg|jpe?g|gif|webp)", text.strip()) is not None


def read_page(text: str) -> Page:
    """Read one page's HTML."""
    reader = _Reader()
    reader.feed(text)
    return Page(
        anchors=frozenset(reader.anchors),
        links=(*reader.links, *reader.loads),
        loads=tuple(reader.loads),
        images_without_text=tuple(reader.images_without_text),
    )


def is_external(target: str) -> bool:
    """Return whether a target is on another site; data in the page itself is not."""
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def problems(site: Path) -> tuple[str, ...]:
    """List what is wrong with a site's pages, each in one line that names the page.

    Raises:
        FileNotFoundError: when the folder holds no page.
    """
    # themes leave their templates in _static/
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    if not files:
        raise FileNotFoundError(f"{site} holds no HTML page; build the site first: make site")

    @cache
    def page_of(path: Path) -> Page:
        return read_page(path.read_text(encoding="utf-8"))

    found: list[str] = []
    for path in files:
        page, name = page_of(path), path.relative_to(site)
        found += [f"{name}: loads {target} from elsewhere" for target in page.loads if is_external(target)]
        found += [f"{name}: the image {source} has no alt text" for source in page.images_without_text]
        for target in dict.fromkeys(page.links):
            if is_external(target) or target.startswith("data:"):
                continue
            parts = urlsplit(target)
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.is_relative_to(site.resolve()) or not goal.is_file():
                found.append(f"{name}: nothing at {target}")
            elif parts.fragment and goal.suffix == ".html" and unquote(parts.fragment) not in page_of(goal).anchors:
                found.append(f"{name}: no anchor at {target}")
    for path in sorted(site.rglob("*.css")):
        loaded = LOADED_BY_CSS.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads {target} from elsewhere" for target in loaded]
    return tuple(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a site and print what is wrong.

    Returns:
        0 when nothing is, 1 when something is, 2 when there is no site.
    """
    parser = argparse.ArgumentParser(description="Check the links of a built site.")
    parser.add_argument("site", type=Path, help="the folder with index.html")
    site = parser.parse_args(arguments).site.resolve()
    try:
        found = problems(site)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(found) or "no broken link, and nothing loads from elsewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
