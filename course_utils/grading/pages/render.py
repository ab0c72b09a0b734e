"""Render pages with Jinja2: every value is escaped by autoescape, and hidden characters in it are shown.

No template marks a value as safe, so nothing that a student returned, printed or is called can be more than text. A
page runs no script and loads nothing: its policy allows one style sheet, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

import jinja2

from course_utils.grading.pages.reason_words import points_text
from course_utils.grading.pages.visible_text import clip, clip_start, visible


def _finalize(value: object) -> object:
    """Show hidden characters in a plain text; what a macro returned is escaped already."""
    return visible(value) if type(value) is str else value


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("course_utils.grading.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(clip=clip, clip_start=clip_start, points=points_text)
    return environment


@cache
def _policy() -> str:
    """Return the page's content security policy: nothing but the style sheet that stands in it."""
    style = _environment().get_template("style.css").render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def render(template: str, **values: Any) -> bytes:
    """Render a page, as UTF-8.

    Args:
        template: the name of a file in templates/.
        values: what stands in it; `title` is the page's title.
    """
    return _environment().get_template(template).render(policy=_policy(), **values).encode()
