"""What of an instructor's notebook no student may read, and where it could be read all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from course_utils.exercises.markers import Marker, Region, all_regions, replace_regions
from course_utils.exercises.notebook import is_explanation, source_of

Notebook = Mapping[str, Any]

_TITLE = re.compile(r"\.check\(\s*f?(\"[^\"]+\"|'[^']+')")
# a shorter line, such as `return x`, says nothing and stands in many places
SHORTEST_TELLING_LINE = 20
# nor do truth values without the check that expects them
_TRUTH_VALUES = re.compile(r"expected=[\[(]?(?:True|False|None|,\s*)*[\])]?,?")


def shown_text(notebook: Notebook) -> str:
    """Return the text of all cells that is meant to be read."""
    shown = [source_of(cell) for cell in notebook["cells"] if not is_explanation(cell)]
    return "\n".join(replace_regions(source, dict.fromkeys(Marker, "")) for source in shown)


def telling_lines(text: str) -> tuple[str, ...]:
    """Return the lines and titles of a hidden text that would give it away."""
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if len(line) >= SHORTEST_TELLING_LINE and not _TRUTH_VALUES.fullmatch(line)]
    return tuple(dict.fromkeys(telling + _TITLE.findall(text)))


def hidden_lines(notebook: Notebook) -> tuple[str, ...]:
    """Return the telling lines of all hidden tests and mark schemes that the notebook does not show elsewhere."""
    return _secret_lines(notebook, Marker.HIDDEN_TESTS, Marker.MARK_SCHEME)


def solution_lines(notebook: Notebook) -> tuple[str, ...]:
    """Return the telling lines of all solutions that the notebook does not show elsewhere."""
    return _secret_lines(notebook, Marker.SOLUTION)


def explanation_lines(notebook: Notebook) -> tuple[str, ...]:
    """Return the telling lines of all explanations of solutions that the notebook does not show elsewhere."""
    shown = shown_text(notebook)
    lines = [line for cell in notebook["cells"] if is_explanation(cell) for line in telling_lines(source_of(cell))]
    return tuple(line for line in dict.fromkeys(lines) if line not in shown)


def solution_texts(notebook: Notebook) -> tuple[str, ...]:
    """Return each solution as a whole, its lines without their indentation."""
    texts = [region.text for region in _all_regions(notebook) if region.marker is Marker.SOLUTION]
    return tuple("\n".join(line.strip() for line in text.strip().splitlines()) for text in texts)


def _secret_lines(notebook: Notebook, *wanted: Marker) -> tuple[str, ...]:
    shown = shown_text(notebook)
    texts = [region.text for region in _all_regions(notebook) if region.marker in wanted]
    lines = [line for text in texts for line in telling_lines(text)]
    return tuple(line for line in dict.fromkeys(lines) if line not in shown)


def _all_regions(notebook: Notebook) -> list[Region]:
    return [region for cell in notebook["cells"] for region in all_regions(source_of(cell))]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a notebook: sources, outputs, metadata; lists of lines as one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from texts_in(item)


def find_secrets(files: Mapping[str, bytes], sources: Mapping[str, Notebook]) -> tuple[str, ...]:
    """Look for hidden tests, solutions and what explains them in files that students would get.

    In an exercise's own release no telling line of any may stand. Elsewhere no line of a hidden test or of an
    explanation, and no solution as a whole; a line of a solution, such as a loop over layers, stands in lessons and in
    other exercises too.

    Args:
        files: contents by path below the course's root.
        sources: the instructor's notebooks by the exercise's name.

    Returns:
        One sentence for each secret and file.
    """
    texts = {name: _readable(name, data) for name, data in files.items()}
    found = []
    for exercise, source in sources.items():
        everywhere = [*hidden_lines(source), *solution_texts(source), *explanation_lines(source)]
        everywhere = [secret for secret in everywhere if len(secret) >= SHORTEST_TELLING_LINE]
        in_its_release = [*hidden_lines(source), *solution_lines(source), *explanation_lines(source)]
        for name, text in texts.items():
            for secret in in_its_release if name.startswith(f"exercises/{exercise}/") else everywhere:
                if secret in text:
                    found.append(f"{name} would give away {secret.splitlines()[0]!r}")
    return tuple(dict.fromkeys(found))


def _readable(name: str, data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    if name.endswith(".ipynb"):
        text = "\n".join(texts_in(json.loads(text)))
    # a solution copied elsewhere may stand at another indentation
    return "\n".join(line.strip() for line in text.splitlines())
