"""What lessons claim can be dated, and what of it can be run is run: names of torch, wheels, versions, commands."""

import json
import re
import subprocess
import sys
import tomllib

import pytest
from packaging.utils import parse_wheel_filename
from packaging.version import Version
from support.found import found
from support.lessons import LESSONS, texts
from support.paths import ROOT

from course_utils.cli.main import COMMANDS
from course_utils.doctor.requirements import torch_lines
from course_utils.operators import operator_table

EXERCISES = sorted((ROOT / "solutions").glob("*/*.ipynb"))
PAGES = [(path.stem, *row) for path in (*LESSONS, *EXERCISES) for row in texts(path)]
LINK = re.compile(r"\]\((https?://[^)\s]+)\)")
# a year, or a release of torch or macOS: "2026", "torch 2.9", "2.12 and newer", "macOS 15"
DATE = re.compile(r"\b20[12]\d\b|\b2\.\d{1,2}(\.\d)?\b|macOS \d\d")
# what torch reads: its page "MPS environment variables" (2.14), and one of Attention.mm (2.13 to 2.15)
VARIABLES = {
    "PYTORCH_DEBUG_MPS_ALLOCATOR",
    "PYTORCH_ENABLE_MPS_FALLBACK",
    "PYTORCH_MPS_DISABLE_PREFILL_ATTENTION",
    "PYTORCH_MPS_FAST_MATH",
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO",
    "PYTORCH_MPS_LOG_PROFILE_INFO",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO",
    "PYTORCH_MPS_PREFER_METAL",
    "PYTORCH_MPS_TRACE_SIGNPOSTS",
}
# names that lessons speak of because torch does not have them
MISSING_ON_PURPOSE: set[str] = set()


def paragraphs(text):
    """Split a text cell into what a date may stand in: paragraphs, items of lists, rows of tables."""
    return re.split(r"\n\s*\n|\n(?=\s*(?:\||[-*] |\d+\. ))", text)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_link_has_a_date(path):
    """Whoever reads a claim with a source sees of which year or release it was true."""
    linked = [(cell, part) for cell, text in texts(path) for part in paragraphs(text) if LINK.search(part)]
    undated = [(cell, LINK.findall(part)) for cell, part in found(linked) if not DATE.search(LINK.sub("]", part))]

    assert undated == [], "say beside the link of which year or torch release the claim is"


# in a process of its own: torch.utils.benchmark imports setuptools, which refuses where other tests imported distutils
LOOK = """
import importlib, json, sys

def is_there(parts):
    place = importlib.import_module(parts[0])
    for number, part in enumerate(parts[1:], start=2):
        if not hasattr(place, part):
            try:
                importlib.import_module(".".join(parts[:number]))
            except ImportError:
                return False
        place = getattr(place, part)
    return True

print(json.dumps([name for name in json.load(sys.stdin) if not is_there(name.split("."))]))
"""


def test_torch_has_what_is_named():
    """Every `torch.…` in a text exists in the torch that runs here."""
    named = {name: cell for _, cell, text in PAGES for name in re.findall(r"`(torch(?:\.\w+)+)\b(?<!\.py)", text)}
    command, asked = [sys.executable, "-c", LOOK], json.dumps(found(list(named)))
    looked = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    missing = json.loads(looked.stdout)

    assert set(missing) == MISSING_ON_PURPOSE, {name: named[name] for name in missing}


def test_wheels_have_the_names_that_pip_sees():
    """A wheel of torch for an Apple chip has the tags of its release.

    The ABI tag was `none` up to torch 2.10 and has been the Python's since 2.11 (wheels on PyPI, read 2026-12-01).
    """
    macos = {Version(one): line.wheel_macos for line in torch_lines() for one in line.releases}
    names = re.findall(r"\btorch-\d[\w.-]*macosx[\w.-]*arm64\.whl", "\n".join(text for *_, text in PAGES))
    for name in found(names):
        _, version, _, tags = parse_wheel_filename(name)
        (tag,) = tags
        assert tag.abi == ("none" if version < Version("2.11") else tag.interpreter), name
        assert tag.platform == f"macosx_{str(macos[version]).replace('.', '_')}_arm64", name


def test_the_torch_to_install_is_the_course_s():
    """Wherever a text tells to install torch within bounds, they are those of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bounds,) = (line for line in project["dependencies"] if line.startswith("torch>"))
    told = [one for *_, text in PAGES for one in re.findall(r'pip install "(torch[<>=][^"]+)"', text)]

    assert set(found(told)) == {bounds}


def test_shares_of_missing_operators_are_those_of_the_wheels():
    """Each row "| release | share % |" of a lesson is the share that the operator table of that release gives."""
    counted = ("native", "composite", "cpu_always", "missing")
    rows = [row for *_, text in PAGES for row in re.findall(r"\| (\d\.\d+\.\d) \| ([\d.]+) % \|", text)]
    for release, share in found(rows):
        counts = operator_table(release).counts()
        assert float(share) == round(100 * counts["missing"] / sum(counts[kind] for kind in counted), 1), release


def test_commands_exist():
    """Every `course …` in a text is a command."""
    told = {word for *_, text in PAGES for word in re.findall(r"`course (\w+)", text)}

    assert set(found(told)) <= set(COMMANDS)


def test_variables_are_known():
    """Every environment variable of MPS that a text names is one that torch reads."""
    told = {word for *_, text in PAGES for word in re.findall(r"\bPYTORCH_\w*MPS\w*[A-Z]", text)}

    assert set(found(told)) <= VARIABLES
