"""The lessons and their text cells."""

import json

from course_utils.exercises.course import lesson_paths
from support.paths import ROOT

LESSONS = lesson_paths(ROOT)


def texts(path):
    """Return id and text of a notebook's text cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
