"""The formatter of notebooks: one form, nothing of the student's or author's text lost."""

import copy
import importlib.util
import re
import subprocess
import sys

import pytest
from support.paths import ROOT

from course_utils.data.repository import Repository
from scripts.format_notebooks import as_text, canonical
from scripts.installed_cell import installed_cell

PUBLISHED = Repository("https://github.com/someone/pytorch-apple-silicon-course")
PLACEHOLDER = Repository("https://github.com/OWNER/course")

MESSY = {
    "nbformat": 4,
    "nbformat_minor": 4,
    "metadata": {"kernelspec": {"name": "conda-env-dl"}, "widgets": {}},
    "cells": [
        {"cell_type": "markdown", "metadata": {"collapsed": True}, "source": "# Title  \n\ntext\n"},
        {
            "cell_type": "code",
            "id": "ex09-run",
            "metadata": {"tags": [], "execution": {"iopub": 1}},
            "execution_count": 7,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
            "source": ["print(1)\n"],
        },
        {
            "cell_type": "code",
            "id": "ex09-strict",
            "metadata": {"tags": ["nbval-check-output"]},
            "execution_count": 8,
            "outputs": [{"output_type": "execute_result", "execution_count": 8, "data": {}, "metadata": {}}],
            "source": "2",
        },
    ],
}


def test_form_is_one():
    """Kernel, format, counts and editor metadata are set; outputs stay only where nbval compares them."""
    found = canonical(copy.deepcopy(MESSY), "09_memory")

    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert found["metadata"]["kernelspec"]["name"] == "python3"
    assert found["cells"][0] == {
        "cell_type": "markdown",
        "id": "09-cell-1",
        "metadata": {},
        "source": ["# Title\n", "\n", "text"],
    }
    assert found["cells"][1]["outputs"] == []
    assert found["cells"][1]["metadata"] == {}
    assert found["cells"][2]["outputs"][0]["execution_count"] == 1
    assert [cell.get("execution_count") for cell in found["cells"]] == [None, None, 1]


def test_formatting_twice_changes_nothing():
    """The canonical form of the canonical form is itself."""
    once = canonical(copy.deepcopy(MESSY), "09_memory")

    assert as_text(canonical(copy.deepcopy(once), "09_memory")) == as_text(once)


def test_grading_metadata_stays():
    """Nbgrader's metadata is kept as it is."""
    grading = {"grade": True, "grade_id": "t", "points": 2}
    cell = {"cell_type": "code", "id": "a", "metadata": {"nbgrader": grading}, "source": "1", "outputs": []}

    assert canonical({"cells": [cell]}, "09")["cells"][0]["metadata"] == {"nbgrader": grading}


def test_a_lesson_gets_its_second_cell_once():
    """The cell that says what to install comes after the card, replaces an older one, and exercises have none."""
    card = {"cell_type": "markdown", "id": "l09-title", "metadata": {}, "source": "# Title"}
    code = {"cell_type": "code", "id": "l09-setup", "metadata": {}, "source": "import torch", "outputs": []}
    old = code | {"id": "l09-installed", "source": "print('an earlier form')"}
    lesson = canonical(copy.deepcopy({"cells": [card, code, old]}), "09_memory")

    assert [cell["id"] for cell in lesson["cells"]] == ["l09-title", "l09-installed", "l09-setup"]
    assert "earlier" not in as_text(lesson)
    assert as_text(canonical(copy.deepcopy(lesson), "09_memory")) == as_text(lesson)
    assert "installed" not in as_text(canonical(copy.deepcopy(MESSY), "09_memory"))


@pytest.mark.parametrize("repository", [PUBLISHED, PLACEHOLDER], ids=["published", "placeholder"])
def test_the_second_cell_is_in_form(repository, tmp_path):
    """It is as ruff writes it in either case; only a known address is installed in Colab or named."""
    source = "".join(installed_cell("04", repository)["source"])
    check = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "notebooks/.ruff.toml"), "--diff", "-"]
    done = subprocess.run(check, input=source + "\n", capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert max(map(len, source.splitlines())) <= 95
    assert ("google.colab" in source) == (repository is PUBLISHED)
    assert "OWNER" not in source


def test_the_second_cell_installs_in_colab(monkeypatch):
    """In Colab, and only there, it asks pip for the course; what pip could not do ends in the sentence."""
    source = "".join(installed_cell("04", PUBLISHED)["source"])
    asked = []

    def run(words, check):
        asked.append(words)
        return subprocess.CompletedProcess(words, len(asked) - 1)

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(ModuleNotFoundError, match=re.escape(PUBLISHED.requirement)):
        exec(source, {})
    assert asked == []
    monkeypatch.setitem(sys.modules, "google.colab", object())
    exec(source, {})
    assert asked[0][-1] == PUBLISHED.requirement
    with pytest.raises(ModuleNotFoundError):
        exec(source, {})


def test_the_second_cell_does_nothing_where_the_course_is(monkeypatch):
    """With the package there, nothing is installed and nothing raised, in Colab too."""
    monkeypatch.setitem(sys.modules, "google.colab", object())
    monkeypatch.setattr(subprocess, "run", None)
    names = {}
    exec("".join(installed_cell("04", PUBLISHED)["source"]), names)

    assert names["missing"] is False
