"""Where the course's repository is: its one address stands in pyproject.toml, under [project.urls].

A clone and a students' archive hold pyproject.toml; an installed package has the same address in its metadata. As long
as nobody has published the course, the address names a placeholder, and whoever makes links leaves them out.
"""

from __future__ import annotations

import importlib.metadata
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from course_utils.data.package import DISTRIBUTION, FOLDER

URL_NAME = "Repository"
PLACEHOLDER_OWNER = "OWNER"
BRANCH = "main"
GITHUB = "https://github.com/"


@dataclass(frozen=True)
class Repository:
    """The address of the repository, and what follows from it.

    Args:
        address: such as "https://github.com/owner/course", without a slash at the end; empty where none is known.
    """

    address: str

    @property
    def known(self) -> bool:
        """Whether it is an address that a reader can follow, not a placeholder."""
        parts = urlsplit(self.address)
        return parts.scheme == "https" and bool(parts.hostname) and PLACEHOLDER_OWNER not in parts.path.split("/")

    @property
    def issues(self) -> str:
        """Where readers report what went wrong."""
        return f"{self.address}/issues"

    @property
    def requirement(self) -> str:
        """What `pip install` takes to install the course without a clone."""
        return f"git+{self.address}"

    def file(self, path: str) -> str:
        """Return the address of a file's page, by its path in the course."""
        return f"{self.address}/blob/{BRANCH}/{path}"

    def colab(self, path: str) -> str:
        """Return the address that opens a notebook in Colab; empty where Colab cannot read it, off GitHub."""
        if not self.address.startswith(GITHUB):
            return ""
        where = self.address.removeprefix(GITHUB)
        return f"https://colab.research.google.com/github/{where}/blob/{BRANCH}/{path}"


def address_in(pyproject: str) -> str | None:
    """Return the address in the text of a pyproject.toml; None where it is another project's.

    Args:
        pyproject: TOML.
    """
    project = tomllib.loads(pyproject).get("project", {})
    if project.get("name") != DISTRIBUTION:
        return None
    return str(project.get("urls", {}).get(URL_NAME, "")).rstrip("/")


def read_repository(folder: Path = FOLDER.parent) -> Repository:
    """Read the address: from the pyproject.toml beside the package, else from the installed package's metadata.

    Args:
        folder: where the package lies.
    """
    pyproject = folder / "pyproject.toml"
    found = address_in(pyproject.read_text(encoding="utf-8")) if pyproject.is_file() else None
    return Repository(_installed_address() if found is None else found)


def _installed_address() -> str:
    try:
        lines = importlib.metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:  # a copy of the package's folder, which nobody installed
        return ""
    urls: dict[str, str] = dict(line.split(", ", 1) for line in lines)
    return urls.get(URL_NAME, "").rstrip("/")
