"""The workflows: time limits, least rights, pinned actions, no secret in a log, and steps that call what exists."""

import re
import subprocess
import sys

import pytest
import yaml
from support.found import found
from support.paths import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
# a commit, which nobody can move
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
# what prints the environment, secrets included
PRINTS_ALL = re.compile(r"(^|[;&|]\s*)(printenv|env|set -x|export -p)\s*($|[;&|>])", re.MULTILINE)
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def read(path):
    """Parse a workflow; YAML 1.1 reads the key `on` as True."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found | {"on": found.pop(True)}


def steps(path):
    """Yield (job, step) for all steps."""
    for name, job in read(path)["jobs"].items():
        for step in job["steps"]:
            yield name, step


def commands(path):
    """Return what the steps of a workflow run, joined."""
    return "\n".join(step.get("run", "") for _, step in steps(path))


def test_workflows_are_there():
    """Linux, hosted Mac, own Mac, and the weekly look at a new torch."""
    assert [path.stem for path in WORKFLOWS] == ["linux", "macos", "new_torch", "self_hosted_mac"]


@each_workflow
def test_jobs_end(path):
    """Each job has a time limit of at most an hour."""
    for name, job in found(read(path)["jobs"].items()):
        assert 0 < job.get("timeout-minutes", 0) <= 60, f"{path.name}, {name}: set timeout-minutes"


@each_workflow
def test_rights_are_least(path):
    """A workflow may read the repository, and no job may do more."""
    workflow = read(path)

    assert workflow["permissions"] == {"contents": "read"}, path.name
    assert all("permissions" not in job for job in workflow["jobs"].values())


@each_workflow
def test_actions_are_pinned(path):
    """Each action is named with a commit, and a checkout leaves no token behind."""
    for name, step in found(steps(path)):
        if "uses" in step:
            assert PINNED.fullmatch(step["uses"]), f"{path.name}, {name}: {step['uses']} is not pinned"
            if step["uses"].startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(
    "name", ["actions/checkout@main", "actions/checkout@v7", "actions/checkout", "someone/thing@latest", "a/b@v4.x"]
)
def test_unpinned_actions_are_seen(name):
    """A branch, a tag that can be moved and no version at all are not pins."""
    assert not PINNED.fullmatch(name)


def test_workers_keep_notebooks_together():
    """Wherever pytest gets workers, one of them runs a whole notebook."""
    files = [*WORKFLOWS, ROOT / "Makefile", ROOT / ".ci" / "run", ROOT / "CONTRIBUTING.md"]
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    parallel = [line for line in lines if re.search(r"\bpytest\b.*\s-n[\s=]?(\d|auto)", line)]

    assert len(parallel) >= 2
    for line in parallel:
        assert "--dist loadscope" in line, line
        assert "--nbval-lax" in line, line
        assert "--nbval-current-env" in line, line


@each_workflow
def test_no_secret_reaches_a_log(path):
    """No step uses a secret or a token in its commands, prints its environment, or runs text from a pull request."""
    text = commands(path)

    assert "secrets." not in path.read_text(encoding="utf-8"), f"{path.name}: the course needs no secret"
    assert "token" not in text.lower()
    assert not PRINTS_ALL.search(text)
    assert not re.search(r"\$\{\{\s*github\.(event|head_ref)", text), (
        "an expression in a command can be written by others"
    )


@pytest.mark.parametrize("line", ["env", "printenv | sort", "set -x", "make test; env"])
def test_printing_the_environment_is_seen(line):
    """The pattern finds what it is for."""
    assert PRINTS_ALL.search(line)


@each_workflow
def test_steps_call_what_exists(path):
    """Scripts and make targets that steps call exist, and know the options that they are given."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in found(re.findall(r"\bmake ([\w./-]+)", commands(path))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for line in found(commands(path).replace("\\\n", " ").splitlines()):
        call = re.search(r"python -m (scripts\.\w+)(.*)", line)
        if call:
            known = subprocess.run(
                [sys.executable, "-m", call.group(1), "--help"], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout
            for option in re.findall(r"--[\w-]+", call.group(2)):
                assert option in known, f"{call.group(1)} has no option {option}"


@pytest.mark.parametrize("name", ["macos", "self_hosted_mac"])
def test_the_probe_comes_first_on_a_mac(name):
    """On a Mac the probe runs before the doctor, the tests, the grader, the benchmark and the known faults."""
    runs = [step.get("run", "") for _, step in steps(FOLDER / f"{name}.yml")]
    places = [
        next(index for index, run in enumerate(runs) if word in run)
        for word in (
            *("probe_first", "course doctor", "make test", "grade_solutions", "course bench"),
            *("course compare --known", "job_summary"),
        )
    ]

    assert places == sorted(places)


def test_pull_requests_stay_away_from_an_own_mac():
    """A self-hosted runner is started by hand and on main only; it has to have MPS."""
    for path in found(WORKFLOWS):
        workflow = read(path)
        if any("self-hosted" in job["runs-on"] for job in workflow["jobs"].values()):
            assert set(workflow["on"]) == {"workflow_dispatch"}
            assert all("refs/heads/main" in job["if"] for job in workflow["jobs"].values())
            assert "--require-mps" in commands(path)


def test_new_torch_is_looked_at_every_week():
    """The comparison runs on a schedule, and its report becomes the summary."""
    workflow = read(FOLDER / "new_torch.yml")

    assert len(workflow["on"]["schedule"][0]["cron"].split()) == 5
    assert "scripts.check_new_torch" in commands(FOLDER / "new_torch.yml")
    assert "GITHUB_STEP_SUMMARY" in commands(FOLDER / "new_torch.yml")
