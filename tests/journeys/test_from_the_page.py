"""From the course's web page to a lesson that runs, by the ways that the page offers a newcomer.

Each does what the page says, as it says it: commands come from its copy buttons, files from its links. The way by `git
clone` and `make lab` is that of `test_front_end_student.py`; that a lesson brings the course along in Colab is shown in
`test_lesson_alone.py`.
"""

import json
import os
import re
import shlex
import shutil
import sys
import urllib.request
import zipfile
from urllib.parse import parse_qs, urlsplit

import pytest
from support.first_page import LESSON, PUBLISHED
from support.front_end import (
    code_prompts,
    errors_shown,
    open_first_notebook,
    open_page,
    pasted,
    run_all_cells,
    save_screenshot,
    surroundings,
)
from support.paths import ROOT
from support.vs_code import errors_in, run_as_vs_code

pytestmark = pytest.mark.slow

# pip as it is in an environment that holds what the course depends on: nothing else is installed, and from nowhere
PIP = f"""#!/bin/sh
exec {shlex.quote(sys.executable)} -m pip "$@" --quiet --no-deps --no-index --no-build-isolation --target "$PYTHONPATH"
"""


def test_with_pip_a_lesson_runs_in_jupyterlab(offered, browser, tmp_path):
    """The page's four commands install the archive, lay the course out, and open JupyterLab on lesson 00, which runs.

    It is served on loopback only, with the course's files.
    """
    package, programs = tmp_path / "package", tmp_path / "programs"
    programs.mkdir()
    shutil.unpack_archive(offered.archive, tmp_path)
    (programs / "pip").write_text(PIP, encoding="utf-8")
    (programs / "pip").chmod(0o755)
    mine = surroundings(package, tmp_path)
    mine |= {"PATH": os.pathsep.join([str(programs), str(package / "bin"), mine["PATH"]])}
    with (
        pasted(offered.beginning_with("pip"), tmp_path, mine, tmp_path) as (address, log_path),
        open_page(browser, address) as (page, _),
    ):
        open_first_notebook(page, address)
        run_all_cells(page)
        save_screenshot(page, "newcomer_1_lesson_after_pip", tmp_path)
        prompts, errors = code_prompts(page), errors_shown(page)
        base, (token,) = f"http://{urlsplit(address).netloc}", parse_qs(urlsplit(address).query)["token"]
        with urllib.request.urlopen(f"{base}/api/contents/exercises?token={token}", timeout=60) as answer:
            names = [entry["name"] for entry in json.load(answer)["content"]]
        log = log_path.read_text(encoding="utf-8")

    assert f"/lab/tree/notebooks/{LESSON}.ipynb" in address
    assert len(prompts) > 10
    assert all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts)
    assert errors == []
    assert "04_measuring_time" in names
    assert "0.0.0.0" not in log


def test_the_archive_unpacks_to_the_folder_that_the_page_enters(offered):
    """The page's commands for the archive enter the one folder that it holds, and find a Makefile there."""
    with zipfile.ZipFile(offered.archive) as archive:
        names = archive.namelist()
    (folder,) = {name.partition("/")[0] for name in names}

    assert offered.commands[0] == [f"cd {folder}", "make lab"]
    assert f"{folder}/Makefile" in names


def test_a_lesson_that_was_saved_runs_in_vs_code(offered, tmp_path):
    """The notebook from a lesson's page runs alone in another folder, as VS Code starts it and without its metadata."""
    path = tmp_path / offered.notebook.name
    shutil.copy(offered.notebook, path)
    assert path.read_bytes() == (ROOT / "notebooks" / f"{LESSON}.ipynb").read_bytes()

    assert errors_in(run_as_vs_code(path)) == []


def test_both_ways_to_colab_open_the_lesson_in_the_repository(offered):
    """The first page and the lesson's own button lead to the notebook's place in the repository, where it is."""
    assert set(offered.colab) == {PUBLISHED.colab(f"notebooks/{LESSON}.ipynb")}
    assert (ROOT / "notebooks" / f"{LESSON}.ipynb").is_file()
