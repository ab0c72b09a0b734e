"""The README keeps its promises: commands, links, lessons, and what has not run."""

import re
import tomllib

import yaml
from support.found import found
from support.paths import ROOT

from course_utils.cli import main as cli

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_two_commands_come_first():
    """The first code block holds `make lab` and `make test`."""
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL).group(1)

    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make lab", "make test"]


def test_ci_calls_the_readme_test_command():
    """.ci/run and the workflows call the README's test command."""
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    for workflow in ("linux.yml", "macos.yml"):
        assert "make test" in (ROOT / ".github/workflows" / workflow).read_text(encoding="utf-8")


def test_links_and_images_resolve():
    """Every relative link finds a file, and the picture has an alt text."""
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
    assert all(len(alt) > 30 for alt in re.findall(r"!\[([^\]]*)\]", README))


def test_every_lesson_and_command_is_listed():
    """Each lesson, exercise and command has its place in the README."""
    for path in found((ROOT / "notebooks").glob("*.ipynb")):
        assert f"notebooks/{path.name}" in README
    for path in found((ROOT / "exercises").glob("*/*.ipynb")):
        assert str(path.relative_to(ROOT)) in README
    for command in found(cli.COMMANDS):
        assert f"`course {command}" in README


def test_fallback_is_unset_on_the_mac():
    """No workflow sets the fallback variable: a missing operator has to raise."""
    for path in found((ROOT / ".github/workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        jobs = yaml.safe_load(text)["jobs"]
        code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))
        assert "PYTORCH_ENABLE_MPS_FALLBACK" not in code
        assert all(job["timeout-minutes"] <= 60 for job in jobs.values())


def test_mac_runner_is_pinned():
    """The Mac job runs on macos-15, on arm64, and asks the doctor first."""
    job = yaml.safe_load((ROOT / ".github/workflows/macos.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    steps = [step.get("run", "") for step in job["steps"]]

    assert job["runs-on"] == "macos-15"
    assert next(i for i, s in enumerate(steps) if "doctor" in s) < next(
        i for i, s in enumerate(steps) if "make test" in s
    )


def test_python_range_is_stated():
    """The README's Python range is pyproject.toml's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["requires-python"] == ">=3.11,<3.15"
    assert "Python 3.11 to 3.14" in README
