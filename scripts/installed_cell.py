"""The second cell of every lesson: it says in one line what to install where the course is missing.

Somebody who opens a lesson alone (in Colab, in VS Code with another kernel, in a folder of their own) would meet "No
module named 'course_utils'" and nothing else. The cell stands in the lesson, not in a copy for Colab: a copy would be a
second file for each lesson, which those who open the lesson from the repository never see. `make format` writes it,
so that it is the same everywhere and its address comes from one place; JupyterLab and VS Code show it folded, the web
pages leave it out, and where the course is installed it does nothing.
"""

from __future__ import annotations

import json
from typing import Any

from course_utils.data.repository import Repository

NAME = "installed"
_BEGIN = """\
# Written by `make format`. Where the course is installed, this cell does nothing.
import importlib.util
"""
_COLAB = """\
import subprocess
import sys

course = {requirement}
missing = importlib.util.find_spec("course_utils") is None
if missing and "google.colab" in sys.modules:
    # --no-deps: Colab has torch and what else lessons need, and JupyterLab would disturb it
    options = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    pip = [sys.executable, "-m", "pip", "install", *options, course]
    missing = subprocess.run(pip, check=False).returncode != 0
"""
_WITHOUT = """\

course = "FOLDER-OF-THE-COURSE"
missing = importlib.util.find_spec("course_utils") is None
"""
_END = """\
if missing:
    raise ModuleNotFoundError(
        "the course is not installed here: run `make lab` in its folder, or in VS Code take "
        f"the kernel .venv of its folder, or install it by `pip install {course}`"
    )
"""


def installed_cell(number: str, repository: Repository) -> dict[str, Any]:
    """Return the cell.

    Args:
        number: the lesson's number, such as "04".
        repository: where the course can be installed from; only a known address makes the cell install it in Colab.
    """
    middle = _COLAB.format(requirement=json.dumps(repository.requirement)) if repository.known else _WITHOUT
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"l{number}-{NAME}",
        "metadata": {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]},
        "outputs": [],
        "source": (_BEGIN + middle + _END).rstrip("\n").splitlines(keepends=True),
    }
