"""Print requirements of pyproject.toml by name, one a line as pip reads them: the bounds stand in one place only.

python scripts/list_requirements.py torch torchvision | python -m pip install -r /dev/stdin
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def requirements(text: str) -> dict[str, list[str]]:
    """Read all requirements of a pyproject.toml, those of the extras included.

    Returns:
        The requirements for each package name, such as {"torchvision": ["torchvision>=0.24,<0.30"]}; more than one
        where some hold on certain machines only, or where two extras list the same package.
    """
    project = tomllib.loads(text)["project"]
    listed = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        listed += extra
    found: dict[str, list[str]] = {}
    for line in dict.fromkeys(listed):
        found.setdefault(re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0], []).append(line)
    return found


def main(names: list[str]) -> int:
    """Print the requirements of the given packages; exit code 2 when one is not listed."""
    known = requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"pyproject.toml lists no {', '.join(unknown)}; it lists {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    for name in names:
        print(*known[name], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
