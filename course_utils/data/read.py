"""Read the data files that come with the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def read_json(name: str) -> dict[str, Any]:
    """Return the content of a JSON file of this folder, such as "chips.json".

    Raises:
        FileNotFoundError: when the package has no such file.
    """
    data: dict[str, Any] = json.loads((resources.files(__package__) / name).read_text(encoding="utf-8"))
    return data
