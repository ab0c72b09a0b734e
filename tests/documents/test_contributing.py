"""CONTRIBUTING.md speaks of what exists: files, make targets, options."""

import re
import shlex
import tomllib

from support.paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
# what stands for a name of the contributor's own
PLACEHOLDERS = ("NN_name", "exNN", "lNN", "-k NN")


def commands():
    """Return the command lines of the code blocks, without comments."""
    split = (shlex.split(line, comments=True) for block in BLOCKS for line in block.splitlines())
    return [words for words in split if words]


def test_files_exist():
    """Every file that the text names is there."""
    words = [word for span in SPANS for word in span.split() if not any(each in span for each in PLACEHOLDERS)]
    paths = [word for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)*\.(py|md|toml|json)|[a-z]+/", word)]

    assert len(paths) > 10
    for path in paths:
        assert (ROOT / path).exists(), path


def test_make_targets_exist():
    """Every `make` that the text names is a target."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {span.split()[1] for span in SPANS if span.startswith("make ")}
    named |= {command[1] for command in commands() if command[0] == "make"}

    assert {"test", "lint", "format", "release", "site"} <= named <= targets


def test_pytest_calls_select_what_exists():
    """Files that the shown calls of pytest select are there, and so are markers."""
    calls = [command for command in commands() if command[0] == "pytest"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    markers = {line.split(":")[0] for line in settings["markers"]}

    assert len(calls) > 4
    for call in calls:
        for place, word in enumerate(call[1:], start=1):
            if word.split("/")[0] in ("tests", "notebooks", "solutions"):
                assert list(ROOT.glob(word)), word
            if call[place - 1] == "-m":
                assert set(re.findall(r"\w+", word)) - {"not", "and", "or"} <= markers, word
