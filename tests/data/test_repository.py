"""The address of the repository: one place, no link from a placeholder, and a release that refuses it."""

import importlib.metadata
import re
import subprocess

import pytest
from support.found import found
from support.paths import ROOT

from course_utils.data import repository
from course_utils.data.repository import Repository, address_in, read_repository
from scripts import check_release
from scripts.repository_links import BEGIN, END, UNKNOWN, with_links

REAL = Repository("https://github.com/someone/course")
README = f"# Title\n\n{BEGIN}\nold text\n{END}\n\nA pitch.\n"


@pytest.mark.parametrize(
    "address", ["", "https://github.com/OWNER/course", "http://github.com/a/b", "github.com/a/b", "https:///a"]
)
def test_no_placeholder_is_an_address(address):
    """What a reader cannot follow is not known, and is refused at a release with the value."""
    (reason,) = check_release.objections(Repository(address))

    assert not Repository(address).known
    assert address in reason


def test_a_real_address_passes_the_release():
    """An owner whose name only begins like the placeholder is a real one."""
    assert check_release.objections(REAL) == ()
    assert Repository("https://github.com/OWNERS-CLUB/course").known


def test_links_follow_from_the_address():
    """Colab's link names owner, repository, branch and path; elsewhere than on GitHub there is none."""
    assert (
        REAL.colab("notebooks/a.ipynb")
        == "https://colab.research.google.com/github/someone/course/blob/main/notebooks/a.ipynb"
    )
    assert Repository("https://codeberg.org/someone/course").colab("a.ipynb") == ""
    assert REAL.requirement == "git+https://github.com/someone/course"


def test_the_clone_reads_its_own_file(tmp_path):
    """The file beside the package counts; a file of another project, such as one around site-packages, does not."""
    ours = f'[project]\nname = "pytorch-apple-silicon-course"\n[project.urls]\nRepository = "{REAL.address}/"\n'
    (tmp_path / "pyproject.toml").write_text(ours, encoding="utf-8")

    assert read_repository(tmp_path) == REAL
    assert address_in(ours.replace("pytorch-apple", "another")) is None
    assert address_in('[project]\nname = "pytorch-apple-silicon-course"\n') == ""


def test_an_installed_package_reads_its_metadata(tmp_path, monkeypatch):
    """Without the file the installed package's own metadata tells; without metadata nothing is known."""

    class Metadata:
        def get_all(self, name):
            return ["Documentation, https://a.example, b", f"Repository, {REAL.address}"]

    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: Metadata())
    assert read_repository(tmp_path) == REAL

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "metadata", missing)
    assert not read_repository(tmp_path).known


def test_documents_take_the_address():
    """The README's block holds links to a real address and nothing for a placeholder; a line that clones names it."""
    page = f"{README}```sh\ngit clone {UNKNOWN} course\n```\n"
    written = with_links(page, REAL)

    assert f"[Repository]({REAL.address})" in written
    assert f"\ngit clone {REAL.address} course\n" in written
    assert "old text" not in written
    assert with_links(written, REAL) == written
    emptied = with_links(written, Repository("https://github.com/OWNER/course"))
    assert "OWNER" not in emptied
    assert f"{BEGIN}\n{END}" in emptied
    assert f"git clone {UNKNOWN} course" in emptied


def test_the_address_stands_in_one_place():
    """Beside pyproject.toml, only what `make format` writes may name the repository."""
    address = repository.read_repository(ROOT).address
    listed = subprocess.run(["git", "grep", "-lF", address], cwd=ROOT, capture_output=True, text=True, check=False)
    names = found(listed.stdout.split()) if listed.returncode == 0 else ["pyproject.toml"]
    written = re.compile(r"pyproject\.toml|README\.md|docs/.+\.md|notebooks/.+\.ipynb")

    assert [name for name in names if not written.fullmatch(name)] == []
