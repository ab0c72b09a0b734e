"""The first step on a Mac: what the probe says decides, and the fallback variable has to be unset."""

import os
import subprocess
import sys

import pytest
from support.paths import ROOT

from course_utils.devices.probe import Probe
from scripts.probe_first import decide

USABLE = Probe("mps", "usable", "it computes")
UNUSABLE = Probe("mps", "present but unusable", "it failed")
ABSENT = Probe("mps", "absent", "this is Linux")


@pytest.mark.parametrize(
    ("probe", "required", "exit_code", "line"),
    [
        (USABLE, False, 0, "mps=usable"),
        (USABLE, True, 0, "mps=usable"),
        (UNUSABLE, False, 0, "mps=unusable"),
        (UNUSABLE, True, 1, "mps=unusable"),
        (ABSENT, False, 0, "mps=absent"),
        (ABSENT, True, 1, "mps=absent"),
    ],
)
def test_what_the_job_does(probe, required, exit_code, line):
    """A hosted Mac may lack MPS, one of your own may not; later steps get one word."""
    found = decide(probe, {}, required=required)

    assert (found.exit_code, found.line) == (exit_code, line)
    assert probe.reason in found.sentence


@pytest.mark.parametrize("value", ["1", "0", ""])
def test_the_fallback_variable_stops_the_job(value):
    """Set to whatever, it stops the job with its name and value."""
    found = decide(USABLE, {"PYTORCH_ENABLE_MPS_FALLBACK": value}, required=False)

    assert found.exit_code == 2
    assert "PYTORCH_ENABLE_MPS_FALLBACK" in found.sentence
    assert repr(value) in found.sentence


def test_the_step_adds_its_line(tmp_path):
    """As CI calls it, the script keeps earlier lines of the file and adds its own."""
    output = tmp_path / "output"
    output.write_text("earlier=1\n")
    variables = {key: value for key, value in os.environ.items() if key != "PYTORCH_ENABLE_MPS_FALLBACK"}
    command = [sys.executable, "-m", "scripts.probe_first", "--output", str(output)]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert output.read_text().splitlines()[0] == "earlier=1"
    assert output.read_text().splitlines()[1] in ("mps=usable", "mps=unusable", "mps=absent")
