"""The Sphinx extension that turns the sentence about a figure into its alt text."""

import importlib.util
import json
import subprocess
import sys

import pytest
from support.paths import ROOT

from scripts.check_links import read_page

pytest.importorskip("sphinx", reason="Sphinx is not installed; the extra 'site' brings it")
pytest.importorskip("myst_nb", reason="MyST-NB is not installed; the extra 'site' brings it")

SPEC = importlib.util.spec_from_file_location("figure_text", ROOT / "docs" / "site" / "figure_text.py")
figure_text = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(figure_text)

# the smallest PNG: one pixel
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


@pytest.mark.parametrize(
    ("place", "texts", "found"),
    [
        (0, (None, "It rises."), 1),
        (1, ("It falls.", None), 0),
        (1, ("A list of numbers", None, "It rises."), 2),
        (0, (None, None, "Both rise."), None),
        (1, (None, None, "Both rise."), 2),
        (0, (None,), None),
        (0, (None, " \n"), None),
    ],
)
def test_which_sentence_belongs_to_a_figure(place, texts, found):
    """What is printed after a figure speaks of it, else what is printed before; another figure's text does not."""
    assert figure_text.place_of_sentence(place, texts) == found


def build(tmp_path, outputs):
    """Build a site of one notebook with one cell, and return its page and Sphinx's warnings."""
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "draw()", "execution_count": 1}
    title = {"cell_type": "markdown", "id": "t", "metadata": {}, "source": "# A page"}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": [title, cell | {"outputs": outputs}], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.ipynb").write_text(json.dumps(notebook))
    (source / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs/site')!r})\n"
        "extensions = ['myst_nb', 'figure_text']\nnb_execution_mode = 'off'\n"
    )
    command = [sys.executable, "-m", "sphinx", "-q", str(source), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return (tmp_path / "out" / "index.html").read_text(), done.stderr


FIGURE = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PIXEL, "text/plain": ["<Figure>"]}}
RETURNED = FIGURE | {"output_type": "execute_result", "execution_count": 1}
SENTENCE = {"output_type": "stream", "name": "stdout", "text": ['The "line"\n', "rises.\n"]}


@pytest.mark.parametrize("outputs", [[FIGURE, SENTENCE], [SENTENCE, RETURNED]], ids=["shown", "returned"])
def test_the_sentence_becomes_alt_text(tmp_path, outputs):
    """In the page, the figure's alt text is the printed sentence, and the sentence stands below the figure."""
    html, warnings = build(tmp_path, outputs)

    assert 'alt="The &quot;line&quot; rises."' in html
    assert html.index("<img") < html.index("figure-sentence") < html.index("rises.\n")
    assert read_page(html).images_without_text == ()
    assert warnings == ""


def test_a_figure_without_a_sentence_is_a_warning(tmp_path):
    """A figure of which nothing is said gives a warning, which fails the course's build."""
    html, warnings = build(tmp_path, [FIGURE])

    assert "a figure without its sentence" in warnings
    assert len(read_page(html).images_without_text) == 1
