"""A Sphinx extension: what the buttons at the top of a page offer, in words that say what happens.

The theme offers "Open in Colab" on every notebook, and the source of every page. A lesson gets what it needs by itself
(its first cell), so that it runs in Colab; an exercise belongs to the course's folder, where `course check` finds it.
The source of a lesson or an exercise is a notebook to run; of another page it would be a file of this build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LESSONS = "notebooks/"
NOTEBOOK = ".ipynb"
AFTER_THE_THEME = 900  # Sphinx calls handlers in this order; the theme's have 500 and 501
# what the theme writes on a button -> what stands there
WORDS = {"Colab": "Open in Colab", NOTEBOOK: f"Notebook ({NOTEBOOK})", ".pdf": "Print, or save as PDF"}


def keep_what_a_reader_uses(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take buttons off a page where they lead to nothing that a reader can use, and name the others."""
    left_out = set() if pagename.startswith(LESSONS) else {"launch-buttons"}
    if context.get("page_source_suffix") != NOTEBOOK:
        left_out.add("download-source-button")
    context["header_buttons"] = _named(context.get("header_buttons", []), left_out)


def _named(buttons: list[dict[str, Any]], left_out: set[str]) -> list[dict[str, Any]]:
    kept = [button for button in buttons if button.get("label") not in left_out]
    for button in kept:
        if button.get("text") in WORDS:
            button["text"] = WORDS[button["text"]]
        if "buttons" in button:
            button["buttons"] = _named(button["buttons"], left_out)
    return kept


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("html-page-context", keep_what_a_reader_uses, priority=AFTER_THE_THEME)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
