"""Build an HTML page out of elements; text becomes HTML in one place only, where it is escaped.

There is no way to put HTML into a page as a string, so nothing that a student returned, printed or is called can be
more than text. The page runs no script and loads nothing: its policy allows one style sheet, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# join letters and emoji; harmless, and part of names
_JOINERS = "\u200c\u200d"
_NO_END_TAG = frozenset({"meta", "rect", "line", "col"})


@dataclass(frozen=True)
class Element:
    """An HTML or SVG element.

    Args:
        tag: its name, such as "td".
        attributes: pairs (name, value), names as in HTML.
        children: text, or further elements.
    """

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Element | str, ...]

    def __str__(self) -> str:
        start = "".join(f' {name}="{html.escape(visible(value))}"' for name, value in self.attributes)
        if self.tag in _NO_END_TAG:
            return f"<{self.tag}{start}>" if self.tag in ("meta", "col") else f"<{self.tag}{start}/>"
        inner = "".join(str(child) if isinstance(child, Element) else _escape(child) for child in self.children)
        return f"<{self.tag}{start}>{inner}</{self.tag}>"


def element(tag: str, *children: Element | str | None, **attributes: str | float) -> Element:
    """Make an element; `class_` stands for class, and an underscore in a name for a hyphen.

    Args:
        tag: its name.
        children: text or elements; None is left out.
        attributes: its attributes, such as `class_="total"` or `aria_label="points"`.
    """
    named = tuple((name.rstrip("_").replace("_", "-"), str(value)) for name, value in attributes.items())
    return Element(tag, named, tuple(child for child in children if child is not None))


def _escape(text: str) -> str:
    return html.escape(visible(text), quote=False)


def visible(text: str) -> str:
    """Make characters visible that a browser hides or obeys: control, direction, zero width, halves of pairs."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_show, text))


@lru_cache(maxsize=4096)
def _show(character: str) -> str:
    if character in "\n\t" or character in _JOINERS:
        return character
    # Cc has NUL, Cf the right-to-left override, Cs what cannot be written as UTF-8
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return f"<U+{ord(character):04X}>" if hidden else character


def clip(text: str, limit: int) -> str:
    """Keep the start of a text, as it will be shown, and say how long it was.

    Args:
        text: any text; only its start is looked at.
        limit: how many characters are kept.
    """
    shown = visible(text[: limit + 1])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return f"{shown[:limit]} … (cut; {len(text):,} characters in all)"


def clip_start(text: str, limit: int) -> str:
    """Keep the end of a text, as it will be shown, and say how long it was."""
    shown = visible(text[-limit - 1 :])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return f"(cut; {len(text):,} characters in all) … {shown[-limit:]}"


def table(caption: str, head: Sequence[str], rows: Iterable[Iterable[Element | str]], class_: str = "") -> Element:
    """Make a table with a caption; the first cell of each row is that row's heading, and there may be no head."""
    heading = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head))) if head else None
    body = []
    for row in rows:
        first, *others = row
        body.append(element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in others)))
    named = {"class_": class_} if class_ else {}
    return element("table", element("caption", caption), heading, element("tbody", *body), **named)


# WCAG 2.1 AA: every pair of text and background here has a contrast of at least 4.5, checked in a browser
_STYLE = """
:root { color-scheme: light dark; --text: #1c1c1e; --back: #ffffff; --soft: #5a5a60; --panel: #f2f2f5;
  --edge: #8e8e93; --good: #136c2e; --bad: #b3261e; --link: #0b57d0; --bar: #2f6fd0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f2f2f5; --back: #18181a; --soft: #b4b4bb; --panel: #27272a; --edge: #7c7c83; --good: #6fd08a;
    --bad: #ff9d94; --link: #9cc3ff; --bar: #74a7f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 58rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
/* what may have no blank to break at: names, and what code gave or printed */
bdi, pre, li { overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .4rem 0; }
a { color: var(--link); }
.total { font-size: 1.25rem; font-weight: 600; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.panel { background: var(--panel); border-left: .3rem solid var(--edge); padding: .5rem .9rem; margin: .8rem 0; }
.task { border-top: 1px solid var(--edge); margin-top: 2rem; padding-top: .25rem; }
.task h2 { margin-top: .75rem; }
pre { background: var(--panel); padding: .5rem .75rem; margin: .25rem 0 .75rem; max-height: 24rem; overflow: auto;
  font: .875rem/1.45 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; direction: ltr;
  unicode-bidi: isolate; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--edge); }
@media (max-width: 40rem) { table { font-size: .8125rem; } th, td { padding-right: .4rem; } }
tbody th { font-weight: 400; }
.pair th { white-space: nowrap; padding-top: .75rem; width: 6rem; }
.pair td { padding-right: 0; }
td pre { margin: 0; }
footer { border-top: 1px solid var(--edge); margin-top: 2rem; padding-top: .5rem; color: var(--soft); }
.number td { font-variant-numeric: tabular-nums; }
.bar { fill: var(--bar); }
.axis { stroke: var(--edge); }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg { display: block; max-width: 100%; height: auto; margin: .5rem 0; }
"""


def page(title: str, *content: Element) -> bytes:
    """Write a whole page, as UTF-8.

    Args:
        title: the page's title.
        content: what stands in its main part.
    """
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
    )
    lines = (
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        *map(str, head),
        f"<style>{_STYLE}</style>",
        "</head>",
        f"<body>{element('main', *content)}</body>",
        "</html>",
        "",
    )
    return "\n".join(lines).encode()
