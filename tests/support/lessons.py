"""The lessons, and which of them still have the form before predictions and turns."""

import json

from support.paths import ROOT

LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
# lessons that still have the old guess; a lesson leaves this set when it is converted, and none may come back
NOT_CONVERTED = {
    # Capstone
    "11",
}
CONVERTED = [path for path in LESSONS if path.name[:2] not in NOT_CONVERTED]


def texts(path):
    """Return id and text of a notebook's text cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
