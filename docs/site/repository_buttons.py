"""A Sphinx extension: "Open in Colab" stands on lessons only.

The theme offers it on every notebook. A lesson gets what it needs by itself (its first cell); an exercise belongs to
the course's folder, where `course check` finds it.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LESSONS = "notebooks/"
AFTER_THE_THEME = 900  # Sphinx calls handlers in this order; the theme's have 500 and 501


def keep_colab_to_lessons(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take the launch button off a page that is no lesson."""
    if not pagename.startswith(LESSONS):
        buttons = context.get("header_buttons", [])
        context["header_buttons"] = [button for button in buttons if button.get("label") != "launch-buttons"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("html-page-context", keep_colab_to_lessons, priority=AFTER_THE_THEME)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
