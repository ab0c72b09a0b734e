"""Tests that need the sandbox: skipped with a reason where there is none (tests/conftest.py), run anyway in CI."""

import os
import subprocess
import tempfile

import pytest

from course_utils.sandbox.sandbox import SandboxError, choose_sandbox

MUST_RUN = os.environ.get("COURSE_CI") == "1"


def missing():
    """Return why no sandbox can be started here; empty when one can."""
    try:
        prefix = choose_sandbox(tempfile.gettempdir(), unsafe=False).prefix
    except SandboxError as error:
        return str(error)
    done = subprocess.run([*prefix, "/bin/sh", "-c", ":"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"the sandbox does not start here: {done.stderr.strip()[:200]}"


needs_sandbox = pytest.mark.needs_sandbox
