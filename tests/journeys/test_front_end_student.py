"""A student's day in JupyterLab: a lesson with its figures, an exercise with its checks, nbgrader's Validate button.

It begins on the course's web page: with its commands the student clones the course, and `make lab` opens the lesson.
"""

import os
import re
import shlex
import subprocess
import sys
import time

import pytest
from support.built_package import copy_tracked
from support.first_page import PUBLISHED
from support.front_end import (
    code_cell,
    code_prompts,
    count_colours,
    errors_shown,
    open_first_notebook,
    open_page,
    pasted,
    run_all_cells,
    run_cell,
    save_screenshot,
    surroundings,
    wait_for_kernel,
    write_cell,
)

pytestmark = pytest.mark.slow

SOLUTION = """\
def summarise(times_s):
    if not times_s:
        raise ValueError("no readings")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
"""
CHECK = {"4.1": 'Task("4.1', "4.2": 'Task("4.2', "4.3": 'Task("4.3', "4.4": 'Task("4.4'}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Return the folder for screenshots."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return git's settings by which the page's address is that of a repository here, with the course as it is now."""
    folder = tmp_path_factory.mktemp("repository")
    copy_tracked(folder)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "--force", "."], [*author, "commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{folder.as_uri()}.insteadOf"}
    return settings | {"GIT_CONFIG_VALUE_0": PUBLISHED.address}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return an environment that `make lab` finds complete: this process's Python, and the program `course`."""
    folder = tmp_path_factory.mktemp("environment")
    (folder / "bin").mkdir()
    program = folder / "bin" / "course"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m course_utils.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    stamp = folder / ".course-lab"
    stamp.touch()
    # made after whatever the clone holds
    later_s = time.time() + 3600
    os.utime(stamp, (later_s, later_s))
    return folder


@pytest.fixture(scope="module")
def lesson(offered, repository, environment, browser, pictures, tmp_path_factory):
    """Clone the course and open lesson 04, by the page's commands; run all cells, and give the page."""
    folder, home = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("home")
    # as `make lab LESSON=04`; nothing may be installed, so that a set-up which begins ends in a sentence
    wanted = {"VENV": str(environment), "PYTHON": "no-python", "LESSON": "04"}
    variables = surroundings(folder / "course", home) | repository | wanted
    with (
        pasted(offered.beginning_with("git"), folder, variables, home) as (address, _),
        open_page(browser, address) as (page, _),
    ):
        open_first_notebook(page, address)
        save_screenshot(page, "student_1_lesson_opened", pictures)
        run_all_cells(page)
        yield page


@pytest.fixture(scope="module")
def exercise(lesson, pictures):
    """Open exercise 04 by the link at the end of the lesson, and run its first cell."""
    lesson.get_by_role("link", name="exercise 04").click()
    code_cell(lesson, CHECK["4.4"]).wait_for(state="attached")
    wait_for_kernel(lesson)
    save_screenshot(lesson, "student_3_exercise_opened", pictures)
    run_cell(lesson, "from course_utils import Task")
    return lesson


def test_lesson_runs_from_top_to_bottom(lesson):
    """The lesson that was asked for is open, each of its code cells has run, and none raised."""
    prompts = code_prompts(lesson)

    # the cell that says what to install is folded
    assert lesson.locator(".jp-CodeCell .jp-Placeholder-prompt").count() == 1
    assert lesson.get_by_role("heading", name="04 Measuring time").count() == 1
    assert len(prompts) > 10
    assert all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts)
    assert errors_shown(lesson) == []


def test_figures_are_drawn_and_said(lesson, pictures):
    """Each figure is really drawn, and under it stands the sentence that says what it shows."""
    cells = lesson.locator(".jp-CodeCell", has=lesson.locator(".jp-OutputArea img")).all()

    assert len(cells) == 3
    for cell in cells:
        assert count_colours(cell.locator("img")) > 50
        printed = " ".join(cell.locator("[data-mime-type='application/vnd.jupyter.stdout']").all_text_contents())
        assert len(printed) > 40
        assert printed.strip().endswith(".")
    cells[0].scroll_into_view_if_needed()
    assert "all done after" in cells[0].text_content()
    save_screenshot(lesson, "student_2_lesson_figure", pictures)


def test_right_solution_passes(exercise, pictures):
    """A right solution, written into its cell, passes its check, and the page says so once, in a table."""
    write_cell(exercise, "def summarise(", SOLUTION)
    run_cell(exercise, "def summarise(")
    run_cell(exercise, "def list_afterwards(")
    check = run_cell(exercise, CHECK["4.1"])

    said = check.locator(".jp-OutputArea").inner_text()
    save_screenshot(exercise, "student_4_check_passed", pictures)
    counted = re.search(r"Task 4\.1 Median and spread: (\d+) of \1 checks passed", said)
    assert counted
    assert said.count("✓ passed") == int(counted[1])
    assert "expected" not in said
    assert check.locator("[data-mime-type='application/vnd.jupyter.stdout']").count() == 0


def test_unsolved_task_shows_what_is_expected(exercise, pictures):
    """The check of a task that is not solved shows, beside yours, what was expected."""
    run_cell(exercise, "def find_flaw(")
    check = run_cell(exercise, CHECK["4.3"])

    said = check.locator(".jp-OutputArea").inner_text()
    save_screenshot(exercise, "student_5_check_not_yet", pictures)
    assert "not written yet (task 4.3: write find_flaw)" in said
    assert re.search(r"0 of [1-9]\d* checks passed", said)
    assert check.get_by_role("columnheader", name="expected").count() == 1
    assert check.get_by_role("cell", name="'implausible'").count() >= 1


def test_validate_names_what_is_not_solved(exercise, pictures):
    """The Validate button of nbgrader runs the notebook anew, and shows the checks of the tasks that are not solved."""
    write_cell(exercise, "def summarise(", SOLUTION)
    exercise.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").get_by_role("button", name="Validate").click()
    dialog = exercise.locator(".jp-Dialog", has_text="Validation Results")
    dialog.wait_for()
    said = dialog.inner_text()
    save_screenshot(exercise, "student_6_validate", pictures)
    dialog.get_by_role("button", name="Ok").click()

    assert {task for task, text in CHECK.items() if text in said} == {"4.2", "4.3", "4.4"}
    assert said.count("The following cell failed") == 3
