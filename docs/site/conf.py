"""Sphinx's settings for the course's web page; scripts/build_site.py prepares the pages and calls Sphinx.

Nothing is fetched, neither when the site is built nor when it is read: no CDN, no web fonts, no MathJax.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from course_utils.data.repository import BRANCH, Repository

sys.path.insert(0, str(Path(__file__).parent))

project = "PyTorch on Apple Silicon"
html_title = project
language = "en"

extensions = ["myst_nb", "sphinx_copybutton", "figure_text", "light_pages", "page_buttons"]
# what lessons read is copied for them, and is no page
exclude_patterns = ["**/.ipynb_checkpoints", "notebooks/*/**"]
myst_heading_anchors = 3
myst_html_meta = {
    "description": "A hands-on course: lessons that measure your own Mac, graded exercises, and tools that say which "
    "operators of PyTorch MPS lacks, where its results differ, and what fits into memory."
}
# prompts are not part of what a reader wants to paste
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# an anchor that MyST does not find is an error, as every other warning (build_site.py passes -W)
nitpicky = False

# scripts/build_site.py has run the lessons, side by side; exercises are the student's and wait for the student
nb_execution_mode = "off"
nb_merge_streams = True
# would load a script from a CDN on pages with widgets
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

# empty where the address is a placeholder: then no page links to it
repository = Repository(os.environ.get("SITE_REPOSITORY", ""))

html_theme = "sphinx_book_theme"
html_theme_options = {
    "use_download_button": True,
    "use_fullscreen_button": False,
    # no author, no date: the course names neither
    "footer_content_items": "",
    "home_page_in_toc": False,
    "show_toc_level": 2,
    # at the side of the first page too, whose title is left empty below
    "logo": {"text": project},
    # the search field stands at the side; a second one above would say the same
    "navbar_persistent": [],
    # a tint that reads on white and on black, and colours that do not rely on red against green
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "use_repository_button": repository.known,
    "use_issues_button": repository.known,
    "repository_branch": BRANCH,
    "repository_url": repository.address if repository.known else "",
    "launch_buttons": {"colab_url": "https://colab.research.google.com" if repository.known else ""},
}
html_static_path = [str(Path(__file__).with_name("style.css"))]
html_css_files = ["style.css"]
html_favicon = str(Path(__file__).with_name("favicon.svg"))
html_show_copyright = False
html_show_sphinx = False
# a date would make two builds differ
html_last_updated_fmt = None


def name_the_course_once(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave the course's name off the first page's title, which is that name."""
    if pagename == app.config.root_doc:
        context["docstitle"] = ""


def setup(app: Sphinx) -> None:
    """Register what these settings do to pages."""
    app.connect("html-page-context", name_the_course_once)
