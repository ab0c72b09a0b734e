"""A Sphinx extension: the sentence that a lesson prints about a figure becomes the figure's alt text.

Lessons print, with each figure, the sentence that says what it shows. Readers who see the figure find it below; for
those who do not see it, it takes the figure's place. A figure without one is a warning, which fails the build.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

OUTPUT = "cell_output"  # MyST-NB's class for what one cell showed
STREAM = "stream"  # and for what it printed
SENTENCE = "figure-sentence"  # the class that style.css shows as a caption

logger = logging.getLogger(__name__)


def place_of_sentence(place: int, texts: Sequence[str | None]) -> int | None:
    """Find the text that belongs to a figure.

    Args:
        place: the figure's place in `texts`.
        texts: what a cell showed, in order: a printed text, or None for a figure.

    Returns:
        The place of the text printed after the figure and before the next one; else of the text before it, since
        functions that draw print their sentence and then return the figure; None where nothing was printed there.
    """
    for near in (place + 1, place - 1):
        if 0 <= near < len(texts) and (texts[near] or "").strip():
            return near
    return None


def shown_by(cell: nodes.Element) -> list[nodes.Element]:
    """List what one cell showed, in order: printed texts, and figures.

    A figure in a MIME bundle stands there once for each of its formats; the first one counts.
    """
    shown: list[nodes.Element] = []
    for output in cell.children:
        if isinstance(output, nodes.Element):
            images = list(output.findall(nodes.image))
            shown += [output] if STREAM in output.get("classes", []) else images[:1]
    return shown


def child_of(cell: nodes.Element, inner: nodes.Element) -> nodes.Element:
    """Find the direct child of a node that holds another one."""
    while inner.parent is not cell:
        inner = inner.parent
    return inner


def name_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Give each figure of a page its alt text and, below it, its sentence; warn of figures that have none."""
    for cell in doctree.findall(nodes.container):
        if OUTPUT not in cell["classes"]:
            continue
        shown = shown_by(cell)
        texts = [None if isinstance(output, nodes.image) else output.astext() for output in shown]
        for place, output in enumerate(shown):
            if not isinstance(output, nodes.image):
                continue
            found = place_of_sentence(place, texts)
            if found is None:
                text = "a figure without its sentence: print what it shows, in the same cell"
                logger.warning(text, location=cell, type="figure_text")
                continue
            output["alt"] = " ".join((texts[found] or "").split())
            sentence = shown[found]
            if SENTENCE not in sentence["classes"]:
                sentence["classes"].append(SENTENCE)
            if found < place:
                cell.remove(sentence)
                cell.insert(cell.index(child_of(cell, output)) + 1, sentence)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", name_figures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
