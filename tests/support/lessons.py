"""The lessons and their text cells."""

import json

from support.paths import ROOT

LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def texts(path):
    """Return id and text of a notebook's text cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
